"""Counting line by line, where a tokenizer allows it, gives what counting the whole gives."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from inference.core.tokens import counter_for, reads_by_line

CORPUS = ["Answer in one sentence.\nUse get_price first; never guess.\n\n## Rules\n- Be kind.\n- 价格 129 元 🧶\n"] * 20
PIECES = [
    "\n",
    "\n\n",
    " ",
    "\t",
    "'s",
    "a",
    "b ",
    "7",
    "42",
    "!",
    "价",
    "é",
    "\u0301",
    "🧶",
    "\u3000",
    "\r\n",
    "word",
    "#",
    "- ",
]
TEXTS = st.lists(st.one_of(st.sampled_from(PIECES), st.characters(exclude_categories=["Cs"])), max_size=25).map("".join)


def _tokenizer(pre_tokenizer):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizer
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


@pytest.fixture(scope="module")
def by_bytes():
    return _tokenizer(pre_tokenizers.ByteLevel(add_prefix_space=False))


def _whole(tokenizer):
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def test_a_tokenizer_that_cuts_at_white_space_reads_by_line(by_bytes):
    assert reads_by_line(_whole(by_bytes))


@pytest.mark.parametrize(
    "pre_tokenizer",
    [pre_tokenizers.Metaspace(), pre_tokenizers.ByteLevel(add_prefix_space=True)],
    ids=["marks", "spaces"],
)
def test_a_tokenizer_that_marks_the_first_word_does_not(pre_tokenizer):
    tokenizer = _tokenizer(pre_tokenizer)
    assert not reads_by_line(_whole(tokenizer))


def test_a_counter_that_joins_lines_does_not():
    assert not reads_by_line(lambda text: len(text.replace(".\n#", "")))


def test_by_line_and_whole_are_the_same_count(by_bytes, tmp_path):
    by_bytes.save(str(tmp_path / "tokenizer.json"))
    count, whole = counter_for(tmp_path), _whole(by_bytes)

    @settings(max_examples=300, deadline=None)
    @given(TEXTS)
    def same(text):
        assert count(text) == whole(text)

    same()
    assert count(CORPUS[0] * 3) == whole(CORPUS[0] * 3)
