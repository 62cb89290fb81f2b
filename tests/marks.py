"""Marks of tests that cannot run everywhere.

They are not in `__init__.py`: `make docs` imports `tests.figures`, and has no pytest.
"""

import os

import pytest

on_posix = pytest.mark.skipif(os.name != "posix", reason="permissions and signals of POSIX")
