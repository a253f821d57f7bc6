"""Result fields that a binding keeps from the model."""

import pytest

from harnesses.core.bindings import BindingError, to_operation_result, to_surface_result
from harnesses.core.spec import BindingCase, ResultField, ResultMap

CASE = BindingCase(
    operation="get_stock",
    result=ResultMap(
        fields=(
            ResultField(path="item", is_hidden=True),
            ResultField(path=("variants", "options"), is_hidden=True),
            ResultField(path=("variants", "stock"), name="item"),
        )
    ),
)
VALUE = {"item": "T1", "name": "Tee", "variants": [{"options": {"size": "M"}, "stock": 3}]}


def test_hidden_fields_are_left_out_at_every_depth():
    assert to_surface_result(CASE, VALUE) == {"name": "Tee", "variants": [{"item": 3}]}


def test_the_way_back_gives_everything_but_the_hidden_fields():
    assert to_operation_result(CASE, {"name": "Tee", "variants": [{"item": 3}]}) == {
        "name": "Tee",
        "variants": [{"stock": 3}],
    }


def test_a_result_that_shows_a_hidden_field_is_refused():
    with pytest.raises(BindingError, match="item"):
        to_operation_result(CASE, {"item": "T1"})
