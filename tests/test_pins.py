"""Small models compute and print what they did before; `tests.pins` says how to accept changes."""

import json

import pytest

from tests import pins


@pytest.mark.parametrize("name", pins.make_models())
def test_model_is_as_pinned(name):
    expected = json.loads(pins.PINS.read_text())[name]
    assert pins.differences(expected, pins.compute(name)) == []
