"""Benchmarks: times are measured here, together with other packages, and never in the tests."""
