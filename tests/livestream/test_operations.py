"""The ten operations of the demo shop: what they give, how they refuse, and that they never change the room they were given."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from harnesses.core.operations import OperationCall
from livestream.demo import demo_shop
from livestream.execution import execute
from livestream.operations import CATALOGUE, SPECS
from livestream.room import RoomState, open_room
from livestream.world import demo_world
from tests.livestream.checking import any_arguments, done, refused, value

WORLD = demo_world()
NOW = datetime(2026, 5, 1, 9, 30, tzinfo=UTC)


@pytest.fixture
def room() -> RoomState:
    """Linen shirt on show, four more on the shelf; Kim has just written."""
    opened = open_room(demo_shop(), shelf=["T1", "T6", "S1", "E2", "B5"], on_show="T1", clock=NOW)
    return opened.heard(viewer_id="v1", viewer_name="Kim", text="hello")


# --- schemas ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_schemas_are_valid_closed_and_flat(spec) -> None:
    for schema in (spec.input_schema, spec.output_schema):
        Draft202012Validator.check_schema(schema)
        assert schema["additionalProperties"] is False
    for schema in spec.input_schema["properties"].values():
        assert schema["type"] in ("string", "integer", "boolean", "array")
        assert schema["description"]
    assert set(spec.output_schema["required"]) == set(spec.output_schema["properties"])
    assert spec.description.endswith(".")


def test_there_are_ten_operations_of_which_four_write() -> None:
    assert len(CATALOGUE) == 10
    assert {spec.name for spec in SPECS if spec.effect == "write"} == {
        "push_item_card",
        "start_explaining",
        "send_coupon",
        "hand_over",
    }


# --- search_items ----------------------------------------------------------------------------------------------------


def test_search_finds_by_words_in_names_attributes_and_prose(room: RoomState) -> None:
    assert value(WORLD, room, "search_items", query="Linen shirt")["items"][0]["id"] == "T1"
    assert "T6" in [hit["id"] for hit in value(WORLD, room, "search_items", query="taped seams")["items"]]
    assert value(WORLD, room, "search_items", query="rain jackets")["items"][0]["id"] == "T6"


def test_search_filters_by_category_price_and_stock(room: RoomState) -> None:
    found = value(WORLD, room, "search_items", category="shoes", max_price_minor=16_000, in_stock=True, limit=10)
    assert {hit["id"] for hit in found["items"]} == {"S3", "S8"}
    assert all(hit["category"] == "shoes" and hit["price_from_minor"] <= 16_000 for hit in found["items"])


def test_search_counts_what_it_does_not_show_and_puts_the_shelf_first(room: RoomState) -> None:
    found = value(WORLD, room, "search_items", limit=5)
    assert found["found"] == len(demo_shop().items)
    assert {hit["id"] for hit in found["items"]} == set(room.shelf)


def test_search_without_a_match_gives_an_empty_list_not_an_error(room: RoomState) -> None:
    assert value(WORLD, room, "search_items", query="submarine") == {"items": [], "found": 0}


# --- get_item --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wanted", ["T1", "t1", " Linen camp shirt ", "LINEN CAMP SHIRT", "Ｔ１"])
def test_an_item_is_found_by_id_or_exact_name_in_any_case(room: RoomState, wanted: str) -> None:
    assert value(WORLD, room, "get_item", item=wanted)["id"] == "T1"


def test_item_details_hold_attributes_variants_and_size_chart(room: RoomState) -> None:
    item = value(WORLD, room, "get_item", item="T1")
    assert item["attributes"]["material"] == "55% linen, 45% cotton"
    assert {"size": "M", "measures": {"height_cm": "163-172", "weight_kg": "54-64", "chest_cm": "88-96"}} in item[
        "size_chart"
    ]
    sold_out = [variant["id"] for variant in item["variants"] if not variant["in_stock"]]
    assert sold_out == ["T1-sage-l"]
    assert item["on_shelf"] is True
    assert value(WORLD, room, "get_item", item="T2")["on_shelf"] is False


def test_every_item_of_the_shop_fits_the_result_schema(room: RoomState) -> None:
    for item in demo_shop().items:
        for name in ("get_item", "get_stock", "get_price", "list_coupons"):
            assert value(WORLD, room, name, item=item.id)


def test_an_unknown_item_is_refused_with_close_matches(room: RoomState) -> None:
    error = refused(WORLD, room, "get_item", item="T99")
    assert (error.code, error.argument) == ("not_found", "item")
    assert error.message == "There is no item T99. Close matches: T9 Fleece zip hoodie."
    assert "T1 Linen camp shirt" in refused(WORLD, room, "get_item", item="linen shirt").message
    assert refused(WORLD, room, "get_item", item="submarine").message == "There is no item submarine."


# --- get_price -------------------------------------------------------------------------------------------------------


def test_the_price_uses_the_best_coupons_unless_told_otherwise(room: RoomState) -> None:
    best = value(WORLD, room, "get_price", item="T1", variant="white, M", quantity=3)
    assert best["subtotal_minor"] == 38_700
    assert [(use["id"], use["discount_minor"]) for use in best["coupons"]] == [("C3", 5_805), ("C7", 2_631)]
    assert best["total_minor"] == 38_700 - 5_805 - 2_631
    assert best["gifts"] == ["Cotton tote bag"]
    plain = value(WORLD, room, "get_price", item="T1", variant="white, M", quantity=3, coupons=[])
    assert (plain["discount_minor"], plain["coupons"]) == (0, [])


def test_named_coupons_are_used_and_naming_one_twice_changes_nothing(room: RoomState) -> None:
    named = value(WORLD, room, "get_price", item="T1", coupons=["welcome 10", "C1"])
    assert [use["id"] for use in named["coupons"]] == ["C1"]
    assert named["total_minor"] == 11_900


def test_without_a_variant_the_lowest_price_holds_and_says_so(room: RoomState) -> None:
    price = value(WORLD, room, "get_price", item="T1", coupons=[])
    assert (price["variant"], price["unit_price_minor"]) == (None, 12_900)
    assert value(WORLD, room, "get_price", item="T1", variant="T1-NAVY-XL", coupons=[])["unit_price_minor"] == 13_900


@pytest.mark.parametrize(
    ("arguments", "code", "argument", "message"),
    [
        ({"coupons": ["C2"]}, "not_applicable", "coupons", "needs 300.00 CNY; this purchase comes to 129.00 CNY"),
        ({"coupons": ["C10"]}, "not_applicable", "coupons", "not valid for Linen camp shirt"),
        ({"coupons": ["C1", "C3"]}, "not_applicable", "coupons", "Only one shop coupon"),
        ({"coupons": ["C77"]}, "not_found", "coupons", "There is no coupon C77. Close matches: C7"),
        ({"variant": "purple"}, "not_found", "variant", "It has: T1-white-s (white, S)"),
        ({"variant": "navy"}, "ambiguous", "variant", "T1-navy-l (navy, L); T1-navy-xl (navy, XL)"),
        ({"quantity": 0}, "invalid_argument", "quantity", "0 is too small; the least is 1"),
        ({"quantity": 100}, "invalid_argument", "quantity", "the most is 99"),
        ({"quantity": "two"}, "invalid_argument", "quantity", 'Expected a whole number, found "two"'),
        ({"coupons": "C1"}, "invalid_argument", "coupons", "Expected a list"),
        ({"coupons": ["C1"] * 5}, "invalid_argument", "coupons", "has 5 entries; at most 4"),
        ({"item": ""}, "invalid_argument", "item", "empty"),
        ({"item": "x" * 121}, "invalid_argument", "item", "121 characters"),
        ({"item": "a\x00b"}, "invalid_argument", "item", "U+0000"),
        ({"item": None}, "invalid_argument", "item", "Expected a text"),
        ({"colour": "red"}, "invalid_argument", "colour", "leave it out"),
    ],
)
def test_a_price_that_cannot_be_given_says_why(room: RoomState, arguments, code, argument, message) -> None:
    error = refused(WORLD, room, "get_price", **{"item": "T1", **arguments})
    assert (error.code, error.argument) == (code, argument)
    assert message in error.message


# --- list_coupons ----------------------------------------------------------------------------------------------------


def test_coupons_are_listed_for_the_shop_or_for_one_item(room: RoomState) -> None:
    everything = value(WORLD, room, "list_coupons")["coupons"]
    assert [coupon["id"] for coupon in everything] == [coupon.id for coupon in demo_shop().coupons]
    for_shoes = [coupon["id"] for coupon in value(WORLD, room, "list_coupons", item="S1")["coupons"]]
    assert "C10" in for_shoes
    assert "C9" in for_shoes
    assert "C3" not in for_shoes


def test_a_null_for_an_optional_argument_counts_as_left_out(room: RoomState) -> None:
    assert value(WORLD, room, "list_coupons", item=None) == value(WORLD, room, "list_coupons")


# --- get_stock -------------------------------------------------------------------------------------------------------


def test_stock_of_all_variants_or_of_one_by_options_in_any_order(room: RoomState) -> None:
    stock = value(WORLD, room, "get_stock", item="T1")
    assert len(stock["variants"]) == 6
    assert stock["in_stock"] is True
    for wanted in ("sage, L", "L sage", "T1-sage-l", "size L, colour sage"):
        one = value(WORLD, room, "get_stock", item="T1", variant=wanted)
        assert [(variant["id"], variant["stock"]) for variant in one["variants"]] == [("T1-sage-l", 0)]
        assert one["in_stock"] is False


# --- get_policy ------------------------------------------------------------------------------------------------------


def test_every_topic_has_a_policy_and_others_are_refused_with_the_choices(room: RoomState) -> None:
    for topic in CATALOGUE["get_policy"].input_schema["properties"]["topic"]["enum"]:
        assert value(WORLD, room, "get_policy", topic=topic)["topic"] == topic
    error = refused(WORLD, room, "get_policy", topic="refund")
    assert error.message.startswith('"refund" is not a choice. Choose one of: shipping, returns')


# --- writes ----------------------------------------------------------------------------------------------------------


def test_pushing_a_card_adds_it_to_the_new_room_only(room: RoomState) -> None:
    changed, result = done(WORLD, room, "push_item_card", item="easy mile runner")
    assert result == {"card": "P1", "item": "S1", "name": "Easy mile runner", "pushed_at": "2026-05-01T09:30:00Z"}
    assert [card.item_id for card in changed.pushed_cards] == ["S1"]
    assert done(WORLD, changed, "push_item_card", item="S1")[1]["card"] == "P2"


def test_starting_to_explain_ends_the_segment_before(room: RoomState) -> None:
    changed, result = done(WORLD, room, "start_explaining", item="S1")
    assert (result["segment"], changed.on_show) == ("S2", "S1")
    assert [(segment.item_id, segment.ended_at) for segment in changed.segments] == [("T1", NOW), ("S1", None)]


def test_only_items_on_the_shelf_and_in_stock_can_be_shown() -> None:
    shop = demo_shop()
    sold_out = shop.item("B5").model_copy(  # type: ignore[union-attr]
        update={"variants": tuple(v.model_copy(update={"stock": 0}) for v in shop.item("B5").variants)}  # type: ignore[union-attr]
    )
    bare = shop.model_copy(update={"items": tuple(sold_out if item.id == "B5" else item for item in shop.items)})
    room = open_room(bare, shelf=["T1", "B5"], on_show="T1")
    for name in ("push_item_card", "start_explaining"):
        for wanted, code in (("B5", "out_of_stock"), ("T2", "not_on_shelf"), ("T99", "not_found")):
            changed, result = execute(bare, room, OperationCall(name, {"item": wanted}))
            assert changed is room
            assert result.error is not None
            assert (result.error.code, result.error.argument) == (code, "item")
    assert execute(bare, room, OperationCall("start_explaining", {"item": "T1"}))[1].error.code == "conflict"  # type: ignore[union-attr]


def test_a_coupon_goes_to_the_viewer_who_asked_or_to_the_room(room: RoomState) -> None:
    changed, result = done(WORLD, room, "send_coupon", coupon="welcome 10")
    assert (result["coupon"], result["audience"]) == ("C1", "viewer")
    assert [(sent.coupon_id, sent.viewer_id) for sent in changed.sent_coupons] == [("C1", "v1")]
    for_all = done(WORLD, changed, "send_coupon", coupon="C1", audience="room")[0]
    assert for_all.sent_coupons[-1].viewer_id is None


def test_a_coupon_is_given_once_to_a_viewer_and_not_after_the_room_got_it(room: RoomState) -> None:
    once = done(WORLD, room, "send_coupon", coupon="C1")[0]
    assert refused(WORLD, once, "send_coupon", coupon="C1").code == "conflict"
    for_all = done(WORLD, room, "send_coupon", coupon="C1", audience="room")[0]
    assert refused(WORLD, for_all, "send_coupon", coupon="C1").code == "conflict"


def test_a_coupon_runs_out_and_only_its_holders_can_still_use_it(room: RoomState) -> None:
    for viewer in ("a", "b", "c"):
        room = room.heard(viewer_id=viewer, viewer_name=viewer, text="a coupon please")
        room = done(WORLD, room, "send_coupon", coupon="C11")[0]
    assert value(WORLD, room, "get_price", item="T1", coupons=["C11"])["discount_minor"] == 500
    late = room.heard(viewer_id="d", viewer_name="d", text="me too")
    assert refused(WORLD, late, "send_coupon", coupon="C11").code == "exhausted"
    assert refused(WORLD, late, "get_price", item="T1", coupons=["C11"]).code == "exhausted"
    assert "C11" not in [coupon["id"] for coupon in value(WORLD, late, "list_coupons")["coupons"]]


def test_a_coupon_for_a_viewer_needs_a_viewer() -> None:
    silent = open_room(demo_shop(), 0)
    error = refused(WORLD, silent, "send_coupon", coupon="C1")
    assert (error.code, error.argument) == ("conflict", "audience")


def test_a_hand_over_makes_a_ticket_for_the_viewer(room: RoomState) -> None:
    changed, result = done(WORLD, room, "hand_over", reason="complaint", summary="The zip broke after a day.")
    assert result["ticket"] == "H1"
    assert [(ticket.viewer_id, ticket.reason) for ticket in changed.handovers] == [("v1", "complaint")]
    error = refused(WORLD, room, "hand_over", reason="complaint")
    assert (error.code, error.argument, error.message) == (
        "invalid_argument",
        "summary",
        "A value is missing; give one.",
    )


# --- whatever a model writes -------------------------------------------------------------------------------------------


def test_an_unknown_operation_is_an_error_with_close_matches(room: RoomState) -> None:
    result = execute(demo_shop(), room, OperationCall("get_prices", {}))[1]
    assert result.error is not None
    assert result.error.code == "unknown_operation"


@given(st.sampled_from(SPECS), st.data())
@settings(max_examples=150, deadline=None)
def test_no_arguments_whatever_raise_and_every_result_fits_its_schema(spec, data) -> None:
    arguments = data.draw(any_arguments(spec, "T1", "C1", "white"))
    room = open_room(demo_shop(), 0)
    changed, result = execute(demo_shop(), room, OperationCall(spec.name, arguments))
    if result.error is None:
        Draft202012Validator(spec.output_schema).validate(result.value)
    else:
        assert changed is room
        assert (
            result.error.argument is None
            or result.error.argument in arguments
            or result.error.argument in spec.argument_names
        )
