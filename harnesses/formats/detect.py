"""Which of the known forms an uploaded file is, and reading it as that."""

from __future__ import annotations

from collections.abc import Mapping

from harnesses.core.jsonvalues import JsonInputError, JsonValue, parse_json
from harnesses.core.operations import OperationCatalogue
from harnesses.core.spec import HarnessSpec
from harnesses.formats.agent_skills import import_skills
from harnesses.formats.archive import read_zip
from harnesses.formats.assembly import build_spec
from harnesses.formats.folder import MANIFEST, import_folder
from harnesses.formats.mcp import import_mcp_document, is_tools_list
from harnesses.formats.openai_tools import import_openai_document, is_tool_array
from harnesses.formats.outcome import FormatError, ImportResult

EXPECTED = (
    "Expected one of: a zip of a harness folder (with harness.yaml), a zip of skill folders (with SKILL.md files), one SKILL.md, "
    "a harness as JSON (with schema_version), an MCP tools/list result, or an OpenAI tool array."
)


def import_upload(filename: str, data: bytes, base: HarnessSpec | None, catalogue: OperationCatalogue) -> ImportResult:
    """Read an uploaded file by what it holds (its name matters for a lone SKILL.md only).

    Skills and tool lists are taken into `base`; whole harnesses replace it. Raises FormatError.
    """
    if not data.strip():
        raise FormatError([(filename, f"The file is empty. {EXPECTED}")])
    if data[:2] == b"PK" or filename.lower().endswith(".zip"):
        return import_files(read_zip(data), base)
    if filename.replace("\\", "/").rpartition("/")[2].lower().endswith(".md"):
        return import_skills({"SKILL.md": data}, base)
    try:
        document = parse_json(data)
    except JsonInputError as error:
        message = f"{error} {EXPECTED}" if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"[") else str(error)
        raise FormatError([(filename, message)]) from error
    return _import_json(document, filename, base, catalogue)


def import_files(files: Mapping[str, bytes], base: HarnessSpec | None) -> ImportResult:
    """Read a folder: a harness if it has a harness.yaml, else skills."""
    if MANIFEST in files:
        return ImportResult(import_folder(files))
    if any(path.rpartition("/")[2] == "SKILL.md" for path in files):
        return import_skills(files, base)
    found = ", ".join(sorted(files)[:5]) or "no files"
    raise FormatError([("", f"The zip holds neither harness.yaml nor any SKILL.md (found: {found}). {EXPECTED}")])


def _import_json(
    document: JsonValue, filename: str, base: HarnessSpec | None, catalogue: OperationCatalogue
) -> ImportResult:
    if isinstance(document, dict) and "schema_version" in document:
        return ImportResult(build_spec(document))
    if is_tools_list(document):
        return import_mcp_document(document, base, catalogue)
    if is_tool_array(document):
        return import_openai_document(document, base, catalogue)
    raise FormatError([(filename, f"The JSON is none of the known forms. {EXPECTED}")])
