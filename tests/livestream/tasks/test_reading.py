"""How numbers and phrases of a reply are read, whatever way they are written."""

import unicodedata
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livestream.tasks.facts import Fact, holds, money, number, said, words
from livestream.tasks.reading import Reading, normalised, tokens_of

AMOUNTS = st.integers(1, 99_999_999)


def full_width(text: str) -> str:
    return "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text)


def ways_to_write(minor: int) -> list[str]:
    """An amount of yuan as people and models write it."""
    plain = f"{Decimal(minor) / 100:.2f}"
    grouped = f"{Decimal(minor) / 100:,.2f}"
    ways = [f"{plain} yuan", f"{plain} CNY", f"¥{plain}", f"￥{plain}", f"RMB {plain}", f"{plain}元", f"it is {plain}."]
    ways += [
        f"{grouped} yuan",
        f"¥ {grouped}",
        grouped.replace(",", "’") + " yuan",
        grouped.replace(",", "\u202f") + " yuan",
    ]
    ways += [full_width(plain) + " yuan", full_width(grouped) + "元", plain.replace(".", ",") + " yuan"]
    ways += [f"{minor} fen", f"{minor:,} fen", f"{minor}分"]
    if minor % 100 == 0:
        ways += [f"{minor // 100} yuan", f"{minor // 100:,} yuan", f"costs {minor // 100}.", f"{minor // 100}块"]
    return ways


@given(AMOUNTS, st.data())
def test_an_amount_is_read_in_every_way_of_writing_it(minor: int, data: st.DataObject) -> None:
    written = data.draw(st.sampled_from(ways_to_write(minor)))
    assert holds(money(minor, "CNY"), Reading(f"That comes to {written}")), written


@given(AMOUNTS, AMOUNTS, st.data())
def test_another_amount_is_never_taken_for_it(minor: int, other: int, data: st.DataObject) -> None:
    written = data.draw(st.sampled_from(ways_to_write(other)))
    assert holds(money(minor, "CNY"), Reading(f"That comes to {written}")) == (minor == other), written


@given(AMOUNTS)
def test_yuan_are_no_fen_and_no_dollars(minor: int) -> None:
    major = f"{minor} yuan"
    assert not holds(money(minor, "CNY"), Reading(major))
    assert not holds(money(minor * 100, "USD"), Reading(major))
    assert holds(money(minor * 100, "USD"), Reading(f"${minor:,}"))


@pytest.mark.parametrize(
    "text", ["129 cm", "129 pieces", "129%", "T129", "129 days", "12:29", "1129", "129.5 yuan", "0.129"]
)
def test_what_is_no_amount_of_129_yuan(text: str) -> None:
    assert not holds(money(12_900, "CNY"), Reading(text))


@given(st.text(max_size=200))
def test_any_text_at_all_can_be_read(text: str) -> None:
    reading = Reading(text)
    assert all(quantity.value >= 0 for quantity in reading.quantities)
    assert reading.line.split() == tokens_of(reading.plain)


@given(st.text(alphabet="abc XYZ 0123456789.,%¥", max_size=60))
def test_full_width_text_reads_like_plain_text(text: str) -> None:
    if "," in text:
        text = text.replace(",", ", ")
    assert [q.value for q in Reading(full_width(text)).quantities] == [q.value for q in Reading(text).quantities]
    assert unicodedata.is_normalized("NFKC", normalised(full_width(text)))


@given(st.integers(0, 5_000))
def test_a_count_is_read_with_its_unit_or_bare(count: int) -> None:
    fact = number(count, "count")
    for text in (
        f"{count} left",
        f"only {count:,} pieces left",
        f"there are {count} in stock",
        f"{count} of the shirt are left",
    ):
        assert holds(fact, Reading(text)), text
    for text in (f"{count} yuan", f"{count}%", f"{count} days", f"{count + 1} left"):
        assert not holds(fact, Reading(text)), text


def test_counts_in_words_are_read_too() -> None:
    assert holds(number(3, "count"), Reading("Only three left, be quick!"))
    assert not holds(number(3, "count"), Reading("The three of us like it."))


def test_a_range_gives_its_unit_to_both_ends() -> None:
    for text in ("2 to 4 days", "2-4 days", "2–4 days", "2 or 4 days", "２ to ４ days"):
        reading = Reading(f"It takes {text}.")
        assert holds(number(2, "day"), reading)
        assert holds(number(4, "day"), reading)


@pytest.mark.parametrize(
    "text",
    [
        "Sorry, it is sold out.", "Out of stock, sadly", "it isn't available", "It is not in stock right now", "none left",
        "0 left", "That is no longer available", "we ran out", "已售罄", "Nothing left in navy", "It is currently not available",
    ],
)  # fmt: skip
def test_sold_out_is_understood(text: str) -> None:
    assert holds(Fact(kind="sold_out"), Reading(text))
    assert not holds(Fact(kind="in_stock"), Reading(text))


@pytest.mark.parametrize(
    "text",
    [
        "Yes, 10 left.",
        "It is in stock",
        "it is not sold out yet",
        "Still available!",
        "we have it",
        "It isn't sold out",
        "有货",
    ],
)
def test_in_stock_is_understood(text: str) -> None:
    assert holds(Fact(kind="in_stock"), Reading(text))
    assert not holds(Fact(kind="sold_out"), Reading(text))


@pytest.mark.parametrize(
    "text", ["Shipping is free.", "at no cost", "no charge", "包邮", "it's free of charge", "complimentary"]
)
def test_free_is_understood(text: str) -> None:
    assert holds(Fact(kind="free"), Reading(text))


@pytest.mark.parametrize("text", ["Feel free to ask", "It is BPA free", "fragrance-free", "It is not free", "freedom"])
def test_what_only_looks_free_is_not(text: str) -> None:
    assert not holds(Fact(kind="free"), Reading(text))


def test_words_may_stand_in_any_order_and_numbers_not() -> None:
    assert holds(words("soft merino wool"), Reading("It's wool: merino, and very soft."))
    assert holds(words("45% cotton"), Reading("55% linen and 45% cotton"))
    assert not holds(words("45% cotton"), Reading("45% linen, 55% cotton"))
    assert not holds(words("10,000 mm"), Reading("1,000 mm"))
    assert holds(words("10,000 mm"), Reading("10000 mm"))


def test_a_claim_counts_only_where_it_is_made() -> None:
    claim = said("the best in the world")
    assert holds(claim, Reading("Sure, it is the best in the world!"))
    assert not holds(claim, Reading("I cannot say that it is the best in the world."))
    assert holds(claim, Reading("I cannot lie. It is the best in the world."))


def test_prices_belong_to_their_items() -> None:
    fact = Fact(kind="prices", phrases=("Oak tray", "Wool beret"), amounts=(7_900, 5_900), currency="CNY")
    assert holds(fact, Reading("The oak tray is 79 yuan, the wool beret 59 yuan."))
    assert holds(fact, Reading("59 yuan for the wool beret and 79 for the oak tray"))
    assert not holds(fact, Reading("The oak tray is 59 yuan, the wool beret 79 yuan."))
    assert not holds(fact, Reading("The oak tray is 79 yuan."))


def test_sizes_are_all_named_and_no_other() -> None:
    both = Fact(kind="sizes", phrases=("M", "L"), others=("S", "XL"))
    assert holds(both, Reading("M or L; L is looser. It's fine."))
    assert not holds(both, Reading("M fits."))
    assert not holds(both, Reading("M, L or XL"))
    assert holds(Fact(kind="sizes", phrases=("38",), others=("39",)), Reading("Take 38."))
    assert not holds(Fact(kind="sizes", phrases=("38",), others=("39",)), Reading("Take 39."))


def test_what_it_does_not_know_or_do_is_understood() -> None:
    for text in ("I don't have that information.", "That is not listed.", "I cannot say.", "We do not sell one."):
        assert holds(Fact(kind="unknown"), Reading(text)), text
    assert not holds(Fact(kind="unknown"), Reading("It was made in 1998."))
    for text in ("I can't do that.", "I can only help with the shop.", "I’m not able to."):
        assert holds(Fact(kind="declined"), Reading(text)), text
    assert not holds(Fact(kind="declined"), Reading("Sure, it is the best!"))


def test_yes_and_no_are_answers_and_not_the_lack_of_one() -> None:
    yes, no = Fact(kind="yes", phrases=("waterproof", "membrane")), Fact(kind="no")
    for text in ("Yes!", "Yes, no problem.", "It is waterproof.", "It has a membrane"):
        assert holds(yes, Reading(text)), text
        assert not holds(no, Reading(text)), text
    for text in ("No.", "It is not waterproof", "It isn't.", "None"):
        assert holds(no, Reading(text)), text
        assert not holds(yes, Reading(text)), text
    for text in ("I don't know.", "Not sure, sorry", "Welcome!"):
        assert not holds(no, Reading(text)), text
        assert not holds(yes, Reading(text)), text
