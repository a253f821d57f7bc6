"""Zip archives: a deterministic one of a harness folder, and reading one that nobody vouches for.

Reading never writes to disk and never trusts what an archive says of itself: names are checked before anything is unpacked, and
bytes are counted while they are unpacked.
"""

from __future__ import annotations

import io
import re
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Mapping

from harnesses.core.spec import HarnessSpec
from harnesses.formats.folder import export_folder
from harnesses.formats.outcome import FormatError

MAX_FILES = 2_000
MAX_FILE_BYTES = 5_000_000
MAX_TOTAL_BYTES = 20_000_000
MAX_RATIO = 200
_RATIO_MATTERS_BYTES = 2_000_000
_CHUNK_BYTES = 65_536
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)
_IS_ENCRYPTED, _IS_UTF8 = 0x1, 0x800
_ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OSError,
)
_LITTER = re.compile(r"(?:^|/)(?:__MACOSX/|\.DS_Store$|Thumbs\.db$|\._[^/]*$)")


def export_zip(spec: HarnessSpec, name: str = "") -> bytes:
    """The folder layout of a harness as a zip; the same harness gives the same bytes on any machine."""
    return write_zip(export_folder(spec, name))


def write_zip(files: Mapping[str, bytes]) -> bytes:
    """A zip with sorted names and fixed times, stored and not deflated, since compressors differ between versions."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(files):
            info = zipfile.ZipInfo(path, _FIXED_TIME)
            info.create_system = 3
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(info, files[path])
    return buffer.getvalue()


def read_zip(data: bytes) -> dict[str, bytes]:
    """Files of an untrusted zip by path, without a single folder around them all and without litter of operating systems.

    Raises FormatError for names that lead outside, links, encrypted entries, names used twice, bombs and broken archives.
    """
    if len(data) > MAX_TOTAL_BYTES:
        raise _refusal(
            "", f"The zip is {len(data):,} bytes; the limit is {MAX_TOTAL_BYTES:,}. Take out what is not needed."
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = _checked_entries(archive.infolist())
            return _without_top_folder(_unpack(archive, entries))
    except UnicodeDecodeError as error:
        raise _refusal("", "A file name in the zip is not UTF-8. Pack the folder again with UTF-8 names.") from error
    except _ZIP_ERRORS as error:
        if isinstance(error, FormatError):
            raise
        raise _refusal("", f"The zip is damaged or of an unknown kind ({error}). Pack the folder again.") from error


def _refusal(where: str, message: str) -> FormatError:
    return FormatError([(where, message)])


def _checked_entries(infos: list[zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
    """Files worth reading, by path, after everything that can be refused without unpacking was looked at."""
    if len(infos) > MAX_FILES:
        raise _refusal(
            "", f"The zip holds {len(infos):,} entries; the limit is {MAX_FILES:,}. Take out what is not needed."
        )
    problems: list[tuple[str, str]] = []
    entries: dict[str, zipfile.ZipInfo] = {}
    seen: dict[str, str] = {}
    for info in infos:
        path = _decoded_name(info)
        if path is None:
            problems.append((ascii(info.filename), "The name is not UTF-8. Pack the folder again with UTF-8 names."))
            continue
        if message := _name_problem(path) or _kind_problem(info):
            problems.append((path, message))
            continue
        if info.is_dir() or _LITTER.search(path):
            continue
        twin = seen.setdefault(unicodedata.normalize("NFC", path).casefold(), path)
        if path in entries or twin != path:
            problems.append((path, f"The name is the same as {twin} on many systems. Rename one of them."))
        entries[path] = info
    total = sum(info.file_size for info in entries.values())
    if total > MAX_TOTAL_BYTES:
        problems.append(("", f"The files are {total:,} bytes together; the limit is {MAX_TOTAL_BYTES:,}."))
    if problems:
        raise FormatError(problems)
    return entries


def _decoded_name(info: zipfile.ZipInfo) -> str | None:
    """The name as UTF-8, whether or not the entry says that it is; None if it is something else."""
    if info.flag_bits & _IS_UTF8:
        return info.orig_filename
    try:
        return info.orig_filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return None


def _name_problem(path: str) -> str:
    parts = path.removesuffix("/").split("/")
    if path.startswith("/") or re.match(r"^[A-Za-z]:", path):
        return "The path is absolute. Use paths relative to the harness folder."
    if "\\" in path:
        return "The path holds a backslash. Use / between folders."
    if any(part in ("", ".", "..") for part in parts):
        return "The path leads out of the folder or has an empty part. Use plain relative paths."
    if any(unicodedata.category(char) in ("Cc", "Cs") for char in path):
        return "The path holds a control character. Rename the file."
    return ""


def _kind_problem(info: zipfile.ZipInfo) -> str:
    mode = info.external_attr >> 16
    if info.flag_bits & _IS_ENCRYPTED:
        return "The file is encrypted. Pack the folder without a password."
    if stat.S_ISLNK(mode):
        return "The file is a symbolic link. Put the file itself in its place."
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "This is a device or another special file. Leave it out."
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "The compression is not supported. Pack the folder with ordinary zip (deflate)."
    if info.file_size > MAX_FILE_BYTES:
        return f"The file is {info.file_size:,} bytes; the limit is {MAX_FILE_BYTES:,}."
    if info.file_size > _RATIO_MATTERS_BYTES and info.file_size > MAX_RATIO * max(info.compress_size, 1):
        return f"The file unpacks to over {MAX_RATIO} times its size, as a zip bomb does. Leave it out."
    return ""


def _unpack(archive: zipfile.ZipFile, entries: Mapping[str, zipfile.ZipInfo]) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    left_bytes = MAX_TOTAL_BYTES
    for path, info in entries.items():
        limit = min(left_bytes, MAX_FILE_BYTES)
        chunks: list[bytes] = []
        with archive.open(info) as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                chunks.append(chunk)
                limit -= len(chunk)
                if limit < 0:
                    raise _refusal(path, "The file unpacks to more bytes than is allowed. Leave it out.")
        files[path] = b"".join(chunks)
        left_bytes -= len(files[path])
    return files


def _without_top_folder(files: dict[str, bytes]) -> dict[str, bytes]:
    """While everything lies in one single folder, take that folder away."""
    while files:
        tops = {path.partition("/")[0] for path in files}
        if len(tops) != 1 or not all("/" in path for path in files):
            break
        files = {path.partition("/")[2]: data for path, data in files.items()}
    return files
