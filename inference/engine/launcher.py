"""The command and environment that start an engine from its config."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from inference.engine.config import EngineConfig


@dataclass(frozen=True)
class Launch:
    """What to run: the argument vector and the whole environment of the child."""

    command: tuple[str, ...]
    env: Mapping[str, str]


def build_launch(config: EngineConfig, *, base_env: Mapping[str, str] | None = None) -> Launch:
    """The launch of `config`; `base_env` is what the environment starts from (default: this process's)."""
    env = dict(os.environ if base_env is None else base_env)
    env["PYTHONUNBUFFERED"] = "1"
    if config.engine == "null":
        return Launch(_null_command(config), env)
    env |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
    if config.profile == "cpu":
        if config.kv_cache_gib is not None:
            env["VLLM_CPU_KVCACHE_SPACE"] = str(max(1, round(config.kv_cache_gib)))
        if config.threads is not None:
            env["OMP_NUM_THREADS"] = str(config.threads)
    return Launch(_vllm_command(config), env)


def _null_command(config: EngineConfig) -> tuple[str, ...]:
    return (
        sys.executable, "-m", "inference.engine.null_engine", "--host", config.host, "--port", str(config.port),
        *config.extra,
    )  # fmt: skip


def _vllm_command(config: EngineConfig) -> tuple[str, ...]:
    # The `vllm` command wants a distribution of that name, which the CPU build lacks; the module works with both builds.
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server"]
    command += ["--model", str(config.model_dir), "--served-model-name", config.served_name]
    command += ["--host", config.host, "--port", str(config.port), "--dtype", config.dtype]
    command += ["--max-model-len", str(config.max_model_len), "--max-num-seqs", str(config.max_num_seqs)]
    command += ["--enable-prefix-caching", "--enable-prompt-tokens-details"]
    if config.enforce_eager:
        command.append("--enforce-eager")
    if config.tensor_parallel_size > 1:
        command += ["--tensor-parallel-size", str(config.tensor_parallel_size)]
    if config.profile == "cuda":
        if config.gpu_memory_utilization is not None:
            command += ["--gpu-memory-utilization", str(config.gpu_memory_utilization)]
        if config.kv_cache_gib is not None:
            command += ["--kv-cache-memory-bytes", str(int(config.kv_cache_gib * 2**30))]
    return (*command, *config.extra)
