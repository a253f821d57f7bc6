"""Engine configs and launches, and what is read out of an engine's end."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from inference.engine import config as module
from inference.engine.config import EngineConfigError, detect_profile, load_config, resolve_config, save_config
from inference.engine.diagnosis import explain_exit
from inference.engine.launcher import build_launch


def test_a_cpu_launch_is_the_known_good_command(tmp_path: Path):
    config = resolve_config(profile="cpu", model_dir=tmp_path, port=8123, run_dir=tmp_path / "run", threads=2)
    launch = build_launch(config, base_env={"PATH": "/bin"})
    command = " ".join(launch.command[1:])
    assert command.startswith("-m vllm.entrypoints.openai.api_server --model ")
    for part in (
        "--served-model-name base",
        "--port 8123",
        "--dtype float32",
        "--max-model-len 4096",
        "--enable-prefix-caching",
        "--enable-prompt-tokens-details",
        "--enforce-eager",
        "--host 127.0.0.1",
    ):
        assert part in command
    assert launch.env["HF_HUB_OFFLINE"] == "1"
    assert launch.env["VLLM_NO_USAGE_STATS"] == "1"
    assert launch.env["VLLM_CPU_KVCACHE_SPACE"] == "1"
    assert launch.env["OMP_NUM_THREADS"] == "2"
    assert launch.env["PATH"] == "/bin"


def test_a_cuda_launch_takes_gpu_settings_and_extra_options(tmp_path: Path):
    config = resolve_config(
        profile="cuda",
        model_dir=tmp_path,
        run_dir=tmp_path,
        tensor_parallel_size=2,
        kv_cache_gib=4,
        extra=("--seed", "1"),
    )
    launch = build_launch(config, base_env={})
    command = " ".join(launch.command)
    assert "--dtype bfloat16" in command
    assert "--tensor-parallel-size 2" in command
    assert "--gpu-memory-utilization 0.85" in command
    assert "--kv-cache-memory-bytes 4294967296" in command
    assert command.endswith("--seed 1")
    assert "--enforce-eager" not in command
    assert "OMP_NUM_THREADS" not in launch.env


def test_configs_survive_the_way_through_a_file(tmp_path: Path):
    config = resolve_config(profile="cpu", model_dir=tmp_path, run_dir=tmp_path / "run")
    assert load_config(save_config(config)) == config


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"port": 0}, "port"),
        ({"port": 70_000}, "port"),
        ({"dtype": "int3"}, "dtype"),
        ({"max_model_len": 1}, "max_model_len"),
        ({"colour": "red"}, "colour"),
        ({"model_dir": None}, "model_dir"),
    ],
)
def test_wrong_choices_are_named(tmp_path: Path, choices, words):
    with pytest.raises(EngineConfigError, match=words):
        resolve_config(**{"profile": "cpu", "run_dir": tmp_path, "model_dir": tmp_path, **choices})


@pytest.mark.parametrize("content", ["{", "[]", '{"profile": "tpu"}', "null"])
def test_broken_files_are_clear_errors(tmp_path: Path, content):
    path = tmp_path / "config.json"
    path.write_text(content)
    with pytest.raises(EngineConfigError):
        load_config(path)
    with pytest.raises(EngineConfigError, match="cannot be read"):
        load_config(tmp_path / "none.json")


def test_the_profile_follows_gpu_and_build(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(EngineConfigError, match="vLLM is not installed"):
        detect_profile()
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(module, "has_gpu", lambda: True)
    monkeypatch.setattr(module, "_is_installed", lambda name: True)
    assert detect_profile() == "cuda"
    monkeypatch.setattr(module, "_is_installed", lambda name: False)
    assert detect_profile() == "cpu"


@pytest.mark.parametrize(
    ("code", "log", "words", "is_final"),
    [
        (1, "torch.OutOfMemoryError: CUDA out of memory.", "out of memory", False),
        (1, "ValueError: No available memory for the cache blocks.", "out of memory", False),
        (-signal.SIGKILL, "", "SIGKILL", False),
        (1, "OSError: [Errno 98] Address already in use", "port is taken", True),
        (1, "ModuleNotFoundError: No module named 'vllm'", "No module named 'vllm'", True),
        (2, "api_server.py: error: unrecognized arguments: --nope", "--nope", True),
        (-signal.SIGSEGV, "", "SIGSEGV", False),
        (1, "RuntimeError: Engine core initialization failed.", "Engine core initialization failed", False),
        (0, "", "exit status 0", False),
    ],
)
def test_the_reason_of_an_end_is_told(code, log, words, is_final):
    fault = explain_exit(code, log)
    assert words in fault.message
    assert fault.is_final is is_final


def test_saved_configs_are_plain_json(tmp_path: Path):
    path = save_config(resolve_config(profile="cpu", model_dir=tmp_path, run_dir=tmp_path))
    assert json.loads(path.read_text())["profile"] == "cpu"
