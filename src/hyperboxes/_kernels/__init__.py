"""Compiled kernels: plain arrays in, plain arrays out; no scikit-learn, no Python objects.

`geometry` holds the formulas of single boxes, `index` and `search` find boxes, `selection` chooses
among them; above these there is one module per algorithm.
"""
