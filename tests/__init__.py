"""Tests: one module per part of the package, and the slow reference they compare it with."""

import os

import pytest

on_posix = pytest.mark.skipif(os.name != "posix", reason="permissions and signals of POSIX")
