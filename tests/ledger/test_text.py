"""Which characters a stored text may hold."""

import sys
import unicodedata

import pytest

from ledger.core.text import clean_text


def test_exactly_the_control_characters_and_surrogates_are_refused():
    refused = set()
    for code in range(sys.maxunicode + 1):
        category = unicodedata.category(chr(code))
        if category in ("Cc", "Cs"):
            try:
                clean_text(chr(code))
            except ValueError:
                refused.add(code)
    controls = {code for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) in ("Cc", "Cs")}
    assert refused == controls - {ord("\n"), ord("\t"), ord("\r")}


@pytest.mark.parametrize("text", ["مرحبا", "直播间", "🧥 jacket", "e\u0301", "a\u200fb"])
def test_every_script_passes_in_its_composed_form(text):
    assert clean_text(text) == unicodedata.normalize("NFC", text)


def test_line_ends_become_line_feeds():
    assert clean_text("a\r\nb\rc\n") == "a\nb\nc\n"


def test_the_message_says_which_character_and_where():
    with pytest.raises(ValueError, match=r"U\+0000 at position 2"):
        clean_text("ab\x00")
