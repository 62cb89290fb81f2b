"""Compiled kernels: plain arrays in, plain arrays out; no scikit-learn, no Python objects.

`geometry` holds the formulas of single boxes, the other modules one algorithm each.
"""
