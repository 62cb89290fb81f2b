"""Tests: one module per part of the package, and the slow reference they compare it with."""
