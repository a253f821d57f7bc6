"""A zip that nobody vouches for is read safely or refused with a reason; it never harms and never crashes."""

from __future__ import annotations

import contextlib
import io
import random
import stat
import struct
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harnesses.formats import archive
from harnesses.formats.archive import export_zip, read_zip, write_zip
from harnesses.formats.outcome import FormatError
from tests.harnesses.small_specs import shop


def zipped(*entries: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as target:
        for name, data in entries:
            target.writestr(name, data, compress_type=method)
    return buffer.getvalue()


def refusal(data: bytes) -> str:
    with pytest.raises(FormatError) as caught:
        read_zip(data)
    assert caught.value.problems
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../evil", "leads out"),
        ("a/../../evil", "leads out"),
        ("./a", "leads out"),
        ("a//b", "leads out"),
        ("/etc/passwd", "absolute"),
        ("C:/windows", "absolute"),
        ("c:evil", "absolute"),
        ("a\\..\\b", "backslash"),
        ("a\x07b", "control character"),
    ],
)
def test_names_that_lead_elsewhere_are_refused(name: str, words: str) -> None:
    assert words in refusal(zipped((name, b"x"), ("fine", b"y")))


@pytest.mark.parametrize(
    ("mode", "words"), [(stat.S_IFLNK | 0o777, "symbolic link"), (stat.S_IFCHR | 0o600, "special file")]
)
def test_links_and_devices_are_refused(mode: int, words: str) -> None:
    info = zipfile.ZipInfo("link")
    info.create_system = 3
    info.external_attr = mode << 16
    assert words in refusal(zipped((info, b"/etc/passwd")))


def test_encrypted_files_are_refused() -> None:
    data = bytearray(zipped(("a", b"secret")))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        position = data.index(signature) + offset
        data[position] |= 1
    assert "encrypted" in refusal(bytes(data))


@pytest.mark.parametrize("names", [("a.md", "A.md"), ("é", "e\u0301"), ("straße", "STRASSE")])
def test_names_that_are_the_same_on_some_systems_are_refused(names: tuple[str, str]) -> None:
    assert "same as" in refusal(zipped(*((name, b"x") for name in names)))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_used_twice_is_refused() -> None:
    assert "same as" in refusal(zipped(("a", b"1"), ("a", b"2")))


def test_bombs_are_refused_by_ratio_by_size_by_sum_and_by_number() -> None:
    assert "zip bomb" in refusal(zipped(("a", b"\0" * 4_000_000)))
    assert "the limit is 5,000,000" in refusal(zipped(("a", b"\0" * 5_000_001), method=zipfile.ZIP_STORED))
    padded = random.Random(1).randbytes(100_000) + b"\0" * 4_000_000
    assert "together" in refusal(zipped(*((str(i), padded) for i in range(5))))
    assert "the limit is 2,000" in refusal(write_zip({str(i): b"" for i in range(2_001)}))


def test_a_bomb_that_lies_about_its_size_is_caught_by_counting(monkeypatch: pytest.MonkeyPatch) -> None:
    data = bytearray(zipped(("a", b"x" * 300_000)))
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<L", data, data.index(signature) + offset, 10)
    assert refusal(bytes(data))
    monkeypatch.setattr(archive, "MAX_FILE_BYTES", 5)
    monkeypatch.setattr(archive, "_kind_problem", lambda info: "")
    assert "more bytes than is allowed" in refusal(zipped(("a", b"x" * 10)))


def test_names_in_another_encoding_are_refused_and_unmarked_utf8_is_taken() -> None:
    data = zipped(("NAME", b"x"))
    assert "not UTF-8" in refusal(data.replace(b"NAME", "尺码".encode("gbk")))
    assert read_zip(data.replace(b"NAME", "éé".encode())) == {"éé": b"x"}
    marked = bytearray(data.replace(b"NAME", b"\xff\xfe\xff\xfe"))
    for signature, offset in ((b"PK\x03\x04", 7), (b"PK\x01\x02", 9)):
        marked[marked.index(signature) + offset] |= 8
    assert "not UTF-8" in refusal(bytes(marked))


def test_other_compressions_broken_and_cut_off_archives_are_refused() -> None:
    assert "not supported" in refusal(zipped(("a", b"x"), method=zipfile.ZIP_BZIP2))
    assert "damaged" in refusal(b"PK\x03\x04 and no more")
    assert "damaged" in refusal(zipped(("a", b"x" * 1000))[:-10])
    damaged = bytearray(zipped(("a", b"hello"), method=zipfile.ZIP_STORED))
    damaged[damaged.index(b"hello")] ^= 1
    assert "damaged" in refusal(bytes(damaged))
    assert "limit is 20,000,000" in refusal(b"PK" + b"\0" * 20_000_000)


def test_the_folders_around_and_the_litter_of_systems_are_left_away() -> None:
    data = zipped(
        ("shop/", b""),
        ("shop/v2/a.md", b"1"),
        ("shop/v2/b/c.md", b"2"),
        ("__MACOSX/shop/._a.md", b"3"),
        ("shop/.DS_Store", b"4"),
    )
    assert read_zip(data) == {"a.md": b"1", "b/c.md": b"2"}


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_damage_of_any_kind_is_an_error_or_harmless_never_a_crash(data: st.DataObject) -> None:
    raw = bytearray(export_zip(shop()))
    for _ in range(data.draw(st.integers(1, 4))):
        tail = data.draw(st.booleans())
        position = data.draw(st.integers(max(0, len(raw) - 400) if tail else 0, len(raw) - 1))
        raw[position] = data.draw(st.integers(0, 255))
    cut = bytes(raw[: data.draw(st.integers(len(raw) - 30, len(raw)))])
    with contextlib.suppress(FormatError):
        read_zip(cut)
