"""Benchmarks: what is timed is measured here, beside other packages, and never in the tests."""
