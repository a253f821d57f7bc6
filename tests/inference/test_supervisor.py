"""The supervisor against a real child process: the null engine, killed, sick or unable to start."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from console.embedded import free_port
from inference.engine import supervisor as supervisor_module
from inference.engine.config import EngineConfig, resolve_config
from inference.engine.null_engine import NullEngine
from inference.engine.status import EngineStatus, is_alive, read_status, utc_now, write_status
from inference.engine.supervisor import Pace, Supervisor, SupervisorError, running_engine

QUICK = Pace(poll_s=0.05, probe_timeout_s=1.0, failures_until_degraded=1, failures_until_restart=3, longest_delay_s=0.1)


def null_config(run_dir: Path, **choices: object) -> EngineConfig:
    values = {"engine": "null", "port": free_port(), "restart_delay_s": 0.01, "stop_timeout_s": 5.0, **choices}
    return resolve_config(profile="cpu", run_dir=run_dir, **values)


def wait_for(condition: Callable[[], bool], timeout_s: float = 20) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "the awaited state did not come"
        time.sleep(0.02)


def test_a_healthy_engine_is_announced_and_stops_without_leftovers(tmp_path: Path):
    with running_engine(null_config(tmp_path), pace=QUICK) as supervisor:
        status = read_status(tmp_path)
        assert status
        assert status.state == "healthy"
        assert httpx.get(f"{status.base_url}/models", trust_env=False).json()["data"][0]["id"] == status.served_name
        engine_pid = supervisor.status.engine_pid
        assert is_alive(engine_pid)
    assert not is_alive(engine_pid)
    stopped = read_status(tmp_path)
    assert stopped
    assert (stopped.state, stopped.engine_pid) == ("stopped", None)
    assert json.loads((tmp_path / "config.json").read_text())["engine"] == "null"


def test_a_killed_engine_is_restarted_and_the_reason_told(tmp_path: Path):
    heard: list[EngineStatus] = []
    supervisor = Supervisor(null_config(tmp_path), pace=QUICK, on_progress=heard.append)
    thread = threading.Thread(target=supervisor.run)
    thread.start()
    try:
        wait_for(lambda: supervisor.status.state == "healthy")
        first_pid = supervisor.status.engine_pid or 0
        os.killpg(first_pid, signal.SIGKILL)
        wait_for(lambda: supervisor.status.state == "healthy" and supervisor.status.engine_pid != first_pid)
        assert supervisor.status.restarts == 1
        degraded = [status for status in heard if status.state == "degraded"]
        assert "SIGKILL" in degraded[0].message
    finally:
        supervisor.stop()
        thread.join(10)


def test_restarts_are_bounded(tmp_path: Path):
    config = null_config(tmp_path, extra=("--no-such-option",), max_restarts=2)
    status = Supervisor(config, pace=QUICK).run()
    assert status.state == "failed"
    assert "refused its options" in status.message
    config = null_config(tmp_path, extra=("--rule", "[", "broken pattern"), max_restarts=2)
    status = Supervisor(config, pace=QUICK).run()
    assert (status.state, status.restarts) == ("failed", 2)
    assert "Tried 3 times" in status.message


def test_an_engine_that_stops_answering_is_replaced(tmp_path: Path):
    with running_engine(null_config(tmp_path, stop_timeout_s=0.3), pace=QUICK) as supervisor:
        first_pid = supervisor.status.engine_pid or 0
        os.killpg(first_pid, signal.SIGSTOP)
        wait_for(lambda: supervisor.status.state == "healthy" and supervisor.status.engine_pid != first_pid)
        assert not is_alive(first_pid)


def test_a_taken_port_is_a_clear_failure(tmp_path: Path):
    with NullEngine() as occupant:
        port = int(occupant.root_url.rsplit(":", 1)[1])
        status = Supervisor(null_config(tmp_path, port=port), pace=QUICK).run()
    assert status.state == "failed"
    assert f"Port {port}" in status.message


def test_a_half_converted_model_is_a_clear_failure(tmp_path: Path):
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text("{}")
    config = resolve_config(profile="cpu", run_dir=tmp_path / "run", model_dir=model, port=free_port())
    status = Supervisor(config, pace=QUICK).run()
    assert status.state == "failed"
    assert "tokenizer.json" in status.message
    assert "prepare_model" in status.message


def test_two_supervisors_of_one_folder_are_refused(tmp_path: Path):
    config = null_config(tmp_path)
    with running_engine(config, pace=QUICK), pytest.raises(SupervisorError, match="already runs"):
        Supervisor(config, pace=QUICK).run()


def test_an_engine_that_never_gets_ready_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    sleeper = supervisor_module.build_launch(null_config(tmp_path))
    lazy = type(sleeper)((sys.executable, "-c", "import time; time.sleep(60)"), sleeper.env)
    monkeypatch.setattr(supervisor_module, "build_launch", lambda config: lazy)
    config = null_config(tmp_path, start_timeout_s=0.2, max_restarts=0)
    with pytest.raises(SupervisorError, match="did not get ready"), running_engine(config, pace=QUICK):
        pass


def test_the_command_runs_in_the_foreground_and_stops_on_sigterm(tmp_path: Path):
    port = free_port()
    command = [sys.executable, "-m", "inference.engine", "--engine", "null", "--profile", "cpu"]
    command += ["--port", str(port), "--run-dir", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        wait_for(lambda: getattr(read_status(tmp_path), "state", "") == "healthy")
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 0
    assert "engine healthy" in output
    assert "engine stopped" in output
    again = subprocess.run([*command[:3], "--config", str(tmp_path / "nothing.json")], capture_output=True, text=True)
    assert again.returncode == 2
    assert "cannot be read" in again.stderr


def test_a_leftover_of_a_killed_supervisor_is_ended_by_the_next(tmp_path: Path):
    config = null_config(tmp_path)
    command = [sys.executable, "-m", "inference.engine.null_engine", "--port", str(config.port)]
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    with subprocess.Popen(command, start_new_session=True) as orphan:
        try:
            wait_for(lambda: _answers(config))
            write_status(tmp_path, _claimed_healthy(config, supervisor_pid=gone.pid, engine_pid=orphan.pid))
            assert getattr(read_status(tmp_path), "state", "") == "stopped"
            threading.Thread(target=orphan.wait, daemon=True).start()
            with running_engine(config, pace=QUICK) as supervisor:
                assert supervisor.status.engine_pid != orphan.pid
                assert not is_alive(orphan.pid)
        finally:
            orphan.kill()


def _claimed_healthy(config: EngineConfig, *, supervisor_pid: int, engine_pid: int) -> EngineStatus:
    return EngineStatus(
        state="healthy",
        since=utc_now(),
        message="Answering.",
        base_url=config.base_url,
        served_name="null",
        supervisor_pid=supervisor_pid,
        engine_pid=engine_pid,
    )


def _answers(config: EngineConfig) -> bool:
    try:
        return httpx.get(f"{config.root_url}/health", trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


def test_a_broken_state_file_reads_as_no_state(tmp_path: Path):
    (tmp_path / "state.json").write_text("{")
    assert read_status(tmp_path) is None
    assert read_status(tmp_path / "nowhere") is None
