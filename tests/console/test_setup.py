"""Set-up: settings files, pid files, ports, supervision, embedded servers, demo data, doctor. Real processes, no mocks."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from dataclasses import replace
from io import StringIO
from pathlib import Path

import psycopg
import pytest
from django.core.management import CommandError, call_command

from console import demo, doctor, embedded, environment, processes, startup, up
from console.supervision import Program, State, Supervisor, child
from harnesses.models import HarnessVersion
from harnesses.selectors import harness_get, label_get, review_list
from inference.models import Checkpoint, Deployment
from ledger.models import AuditEntry, User

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


def until(condition, timeout_s: float = 15) -> bool:
    """Whether the condition comes true in time."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


# --- environment -----------------------------------------------------------------------------------------------------


def test_env_file_takes_comments_quotes_export_and_equals_signs(tmp_path):
    path = tmp_path / ".env"
    path.write_text("# a comment\nexport A=1\nB = \"two words\"\nC='x=y'\nURL=redis://h/0?a=b\nnonsense\n\nEMPTY=\n")
    assert environment.read_env_file(path) == {
        "A": "1",
        "B": "two words",
        "C": "x=y",
        "URL": "redis://h/0?a=b",
        "EMPTY": "",
    }


def test_env_file_that_is_missing_is_empty(tmp_path):
    assert environment.read_env_file(tmp_path / "none") == {}


def test_runtime_env_is_for_its_owner_alone_and_reads_back(tmp_path):
    path = tmp_path / "state" / "runtime.env"
    path.parent.mkdir()
    path.write_text("old")
    path.chmod(0o644)
    environment.write_env_file(path, {"DATABASE_URL": "postgresql://x", "WEB_PORT": "8000"})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert environment.read_env_file(path) == {"DATABASE_URL": "postgresql://x", "WEB_PORT": "8000"}


def test_process_environment_wins_over_env_file_and_that_over_runtime_env(monkeypatch):
    monkeypatch.setattr(environment, "_dot_env", {"A": "file", "B": "file"})
    monkeypatch.setattr(environment, "_runtime", {"A": "run", "B": "run", "C": "run"})
    monkeypatch.setenv("A", "process")
    assert [environment.read(name, "none") for name in "ABCD"] == ["process", "file", "run", "none"]
    assert [environment.configured(name, "none") for name in "ABC"] == ["process", "file", "none"]


def test_database_url_keeps_its_further_parameters():
    from console.settings import _database

    made = _database("postgresql://me:p%40ss@db.example:5433/shop?sslmode=require")
    assert (made["USER"], made["PASSWORD"], made["HOST"], made["PORT"], made["NAME"]) == (
        "me", "p@ss", "db.example", "5433", "shop",
    )  # fmt: skip
    assert made["OPTIONS"]["sslmode"] == "require"


def test_broken_database_url_is_a_message_not_a_traceback():
    result = subprocess.run(
        [sys.executable, "manage.py", "doctor"],
        env={**os.environ, "DATABASE_URL": "nonsense"},
        cwd=environment.BASE_DIR,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    assert "DATABASE_URL is no PostgreSQL address" in result.stderr
    assert "Traceback" not in result.stderr


# --- pid files -------------------------------------------------------------------------------------------------------


@pytest.fixture
def sleeper():
    process = subprocess.Popen(SLEEP, start_new_session=True)
    yield process
    process.kill()
    process.wait()


def test_pid_file_of_a_running_process_is_recognised(tmp_path, sleeper):
    record = processes.record_process(tmp_path, "web", sleeper.pid, stop_signal=signal.SIGTERM, stop_rank=1)
    assert record is not None
    assert processes.read_records(tmp_path) == [record]
    assert processes.is_running(record)


def test_pid_file_whose_pid_belongs_to_another_process_now_is_stale(tmp_path, sleeper):
    record = processes.record_process(tmp_path, "web", sleeper.pid, stop_signal=signal.SIGTERM, stop_rank=1)
    assert record is not None
    stale = replace(record, start_ticks=record.start_ticks - 1)
    assert not processes.is_running(stale)
    assert processes.live_members(stale) == []
    assert processes.stop_processes([stale], timeout_s=1) == []
    assert sleeper.poll() is None, "somebody else's process was ended"


def test_pid_file_of_another_boot_is_stale(tmp_path, sleeper):
    record = processes.record_process(tmp_path, "web", sleeper.pid, stop_signal=signal.SIGTERM, stop_rank=1)
    assert record is not None
    assert processes.live_members(replace(record, boot_id="another")) == []


def test_broken_pid_files_are_passed_over(tmp_path):
    (tmp_path / "a.json").write_text("{")
    (tmp_path / "b.json").write_text('{"name": "x"}')
    (tmp_path / "c.json").write_text("[1]")
    assert processes.read_records(tmp_path) == []


def test_sweep_ends_what_a_dead_leader_left_in_its_session(tmp_path):
    script = "import subprocess, sys; print(subprocess.Popen(['sleep', '600']).pid, flush=True); sys.stdin.read()"
    leader = subprocess.Popen(
        [sys.executable, "-c", script], start_new_session=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert leader.stdout is not None
    orphan = int(leader.stdout.readline())
    processes.record_process(tmp_path, "worker", leader.pid, stop_signal=signal.SIGTERM, stop_rank=1)
    leader.kill()
    leader.wait()
    assert processes.start_ticks(orphan) is not None
    assert up.sweep(tmp_path) == ["worker"]
    assert processes.start_ticks(orphan) is None
    assert list(tmp_path.glob("*.json")) == []


def test_process_that_ignores_its_signal_is_killed_in_the_end(tmp_path):
    script = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('x', flush=True); time.sleep(60)"
    )
    stubborn = subprocess.Popen([sys.executable, "-c", script], start_new_session=True, stdout=subprocess.PIPE)
    assert stubborn.stdout is not None
    stubborn.stdout.readline()
    record = processes.record_process(tmp_path, "web", stubborn.pid, stop_signal=signal.SIGTERM, stop_rank=1)
    assert record is not None

    def reap() -> None:
        stubborn.poll()

    killed = processes.stop_processes([record], timeout_s=0.2, reap=reap)
    stubborn.communicate()
    assert killed == [record]
    assert stubborn.returncode == -signal.SIGKILL


# --- what keeps `make up` from starting --------------------------------------------------------------------------------


@pytest.fixture
def plan(tmp_path):
    return startup.Plan(
        state_dir=tmp_path / "state", web_port=embedded.free_port(), engine="none", engine_port=embedded.free_port()
    )


def test_taken_port_says_who_holds_it_and_what_to_do(plan):
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        taken = holder.getsockname()[1]
        with pytest.raises(startup.StartupError) as caught:
            startup.check_ports(replace(plan, web_port=taken))
    message = str(caught.value)
    assert f"Port {taken}" in message
    assert f"process {os.getpid()}" in message
    assert "make up WEB_PORT=" in message
    assert f"WEB_PORT={taken}" not in message


def test_free_ports_are_fine(plan):
    startup.check_ports(plan)


def test_port_that_is_no_number_names_the_variable(monkeypatch):
    monkeypatch.setenv("WEB_PORT", "eighty")
    with pytest.raises(startup.StartupError, match='WEB_PORT must be a port from 1 to 65535; found "eighty"'):
        startup.make_plan()


def test_unknown_engine_choice_lists_the_choices(monkeypatch):
    monkeypatch.setenv("ENGINE", "llama")
    with pytest.raises(startup.StartupError, match="one of vllm, null, none"):
        startup.make_plan()


def test_state_folder_that_is_a_file_says_what_to_do(plan):
    plan.state_dir.write_text("")
    with pytest.raises(startup.StartupError, match="TACKROOM_STATE_DIR"):
        startup.check_state_dir(plan)


def test_full_disk_says_how_much_is_missing(plan, monkeypatch):
    monkeypatch.setattr(startup, "NEEDED_FREE_BYTES", 10**18)
    with pytest.raises(startup.StartupError, match="MB are needed"):
        startup.check_state_dir(plan)


def test_given_redis_that_does_not_answer_is_named(plan):
    url = f"redis://127.0.0.1:{embedded.free_port()}/0"
    with pytest.raises(startup.StartupError, match="REDIS_URL names"):
        startup.check_given_services(replace(plan, redis_url=url))


def test_second_start_says_that_it_runs_already(plan):
    startup.check_state_dir(plan)
    environment.write_env_file(plan.state_dir / "runtime.env", {"WEB_PORT": "8123"})
    with (
        up._only_one(plan),
        pytest.raises(startup.StartupError, match=r"already running here: http://127\.0\.0\.1:8123/"),
        up._only_one(plan),
    ):
        pass


# --- supervision -----------------------------------------------------------------------------------------------------


@pytest.fixture
def supervisor(tmp_path):
    said: list[tuple[str, str]] = []
    made = Supervisor(tmp_path / "pids", lambda name, words: said.append((name, words)))
    made.said = said  # type: ignore[attr-defined]
    yield made
    made.stop_all(is_hurried=lambda: True)


def program(tmp_path: Path, name: str, code: str, **choices) -> Program:
    log = tmp_path / f"{name}.log"
    return Program(name, child([sys.executable, "-c", code], log=log, cwd=tmp_path), log, **choices)


def test_step_that_succeeds_is_done_and_one_that_fails_gives_its_last_words(tmp_path, supervisor):
    supervisor.launch(program(tmp_path, "good", "print('fine')", is_lasting=False))
    supervisor.launch(program(tmp_path, "bad", "import sys; sys.exit('the disk is full')", is_lasting=False))
    assert supervisor.wait_for("good", is_stopping=lambda: False, timeout_s=15) is State.FINISHED
    assert supervisor.wait_for("bad", is_stopping=lambda: False, timeout_s=15) is State.FAILED
    assert any(name == "bad" and "exit 1" in words and "the disk is full" in words for name, words in supervisor.said)


def test_program_that_crashes_is_told_and_started_again_with_growing_pauses(tmp_path, supervisor):
    clock = [0.0]
    supervisor.now = lambda: clock[0]
    supervisor.launch(program(tmp_path, "web", "raise SystemExit(3)"))
    for pause in (1, 2, 4):
        assert until(lambda: supervisor.tick() or supervisor.state("web") is State.WAITING)
        assert supervisor.said[-1][1].startswith(f"ended unasked (exit 3), restart {pause.bit_length()} in {pause} s")
        clock[0] += pause - 0.1
        supervisor.tick()
        assert supervisor.state("web") is State.WAITING
        clock[0] += 0.2
        supervisor.tick()


def test_program_that_may_not_restart_fails(tmp_path, supervisor):
    supervisor.launch(program(tmp_path, "engine", "raise SystemExit(1)", max_restarts=0, why=lambda: "no memory"))
    assert until(lambda: supervisor.tick() or supervisor.state("engine") is State.FAILED)
    assert "failed (exit 1): no memory" in supervisor.said[-1][1]


def test_stop_ends_every_rank_in_order_and_leaves_no_pid_file(tmp_path, supervisor):
    for rank, name in enumerate(("worker", "redis", "postgres")):
        supervisor.launch(program(tmp_path, name, "import time; time.sleep(60)", stop_rank=rank))
    pids = [record.pid for record in processes.read_records(tmp_path / "pids")]
    assert len(pids) == 3
    assert supervisor.stop_all() == []
    assert [words for name, words in supervisor.said if name == "stopping"] == ["worker", "redis", "postgres"]
    assert all(processes.start_ticks(pid) is None for pid in pids)
    assert list((tmp_path / "pids").glob("*.json")) == []


# --- embedded servers ------------------------------------------------------------------------------------------------


@pytest.fixture
def server_folder(tmp_path_factory):
    """A folder that the database's own user may pass through, unlike pytest's."""
    folder = Path("/tmp") / f"tackroom-server-test-{os.getpid()}"  # noqa: S108
    folder.mkdir(mode=0o755)
    yield folder
    subprocess.run(["rm", "-rf", str(folder)], check=True)


def test_killed_postgres_starts_again_with_its_data(server_folder):
    server = embedded.start_postgres(server_folder / "pg")
    try:
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("CREATE TABLE kept (x int)")
        with pytest.raises(embedded.EmbeddedServiceError, match=r"already running .* Run `make down`"):
            embedded.start_postgres(server_folder / "pg")
        server.process.kill()
        server.process.wait()
        server = embedded.start_postgres(server_folder / "pg")
        with psycopg.connect(server.url) as connection:
            assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)
    finally:
        server.stop()


def test_cluster_that_was_cut_off_half_way_is_made_again(server_folder):
    (server_folder / "pg.unfinished").mkdir()
    (server_folder / "pg.unfinished" / "PG_VERSION").write_text("18")
    server = embedded.start_postgres(server_folder / "pg")
    server.stop()
    assert (server_folder / "pg" / "PG_VERSION").exists()
    assert not (server_folder / "pg.unfinished").exists()


def test_stale_postmaster_pid_of_another_program_is_removed(server_folder):
    server = embedded.start_postgres(server_folder / "pg")
    server.stop()
    (server_folder / "pg" / "postmaster.pid").write_text(f"{os.getpid()}\n{server_folder / 'pg'}\n")
    server = embedded.start_postgres(server_folder / "pg")
    server.stop()


def test_cluster_of_another_version_is_refused_with_the_way_out(server_folder):
    server = embedded.start_postgres(server_folder / "pg")
    server.stop()
    (server_folder / "pg" / "PG_VERSION").write_text("12\n")
    with pytest.raises(embedded.EmbeddedServiceError, match="made by PostgreSQL 12"):
        embedded.start_postgres(server_folder / "pg")


@pytest.mark.skipif(os.geteuid() != 0, reason="concerns root, whose closed home another user cannot pass")
def test_root_behind_a_closed_folder_gets_a_cluster_elsewhere_and_the_folder_stays_closed(server_folder, monkeypatch):
    monkeypatch.setattr(embedded, "ROOT_DATA_HOME", server_folder / "var-lib")
    closed = server_folder / "home"
    closed.mkdir(mode=0o700)
    server = embedded.start_postgres(closed / "state" / "postgres")
    server.stop()
    assert server.data_dir.is_relative_to(server_folder / "var-lib")
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700


def test_long_path_gets_a_short_private_socket_folder(server_folder):
    folder = server_folder / ("x" * 100)
    folder.mkdir()
    server = embedded.start_postgres(folder / "pg")
    server.stop()
    assert server_folder.name not in server.url


# --- demo data -------------------------------------------------------------------------------------------------------


@pytest.fixture
def logins_file(tmp_path, settings):
    settings.STATE_DIR = tmp_path
    return tmp_path / "demo-logins.json"


@pytest.mark.django_db
def test_seeding_twice_changes_nothing_and_keeps_the_password(logins_file):
    call_command("seed_demo", stdout=StringIO())
    first = (logins_file.read_text(), list(User.objects.values()), list(HarnessVersion.objects.values()))
    entries = AuditEntry.objects.count()
    call_command("seed_demo", stdout=StringIO())
    assert (logins_file.read_text(), list(User.objects.values()), list(HarnessVersion.objects.values())) == first
    assert AuditEntry.objects.count() == entries


@pytest.mark.django_db
def test_demo_shop_is_released_as_a_release_must_be(logins_file):
    call_command("seed_demo", stdout=StringIO())
    label = label_get(harness_get("demo-shop"), "production")
    assert (label.version.number, label.is_protected) == (1, True)
    decided = [decision.reviewer_name for decision in review_list(None).get().decisions.all()]
    assert decided == ["Rui Reviewer (reviewer)", "Rosa Review (reviewer2)"]


@pytest.mark.django_db
def test_demo_has_a_login_for_every_role_that_works(logins_file, client):
    demo.people_ensure()
    assert stat.S_IMODE(logins_file.stat().st_mode) == 0o600
    logins = demo.read_logins()
    assert [login.username for login in logins] == [name for name, _, _ in demo.DEMO_PEOPLE]
    for login in logins:
        assert client.login(username=login.username, password=login.password)


@pytest.mark.django_db
def test_password_of_an_account_that_was_there_before_is_left_alone_and_not_told(logins_file, operator):
    User.objects.filter(pk=operator.pk).update(username="operator")
    before = User.objects.get(pk=operator.pk).password
    demo.people_ensure()
    assert User.objects.get(pk=operator.pk).password == before
    assert "operator" not in [login.username for login in demo.read_logins()]


@pytest.mark.django_db
def test_deployment_of_the_null_engine_is_registered_once(settings):
    settings.ENGINE, settings.ENGINE_URL = "null", f"http://127.0.0.1:{embedded.free_port()}/v1"
    for _ in range(2):
        call_command("register_deployment", stdout=StringIO())
    deployment = Deployment.objects.get()
    assert (deployment.engine_kind, deployment.checkpoint.served_name, deployment.is_default) == ("null", "null", True)


@pytest.mark.django_db
def test_given_engine_is_asked_for_its_model(settings, engine):
    settings.ENGINE, settings.ENGINE_URL = "", engine.base_url
    call_command("register_deployment", stdout=StringIO())
    deployment = Deployment.objects.get()
    assert deployment.checkpoint.served_name == engine.model
    assert deployment.state == "healthy"


@pytest.mark.django_db
def test_given_engine_that_is_down_needs_the_name_of_its_model(settings):
    settings.ENGINE, settings.ENGINE_URL = "", f"http://127.0.0.1:{embedded.free_port()}/v1"
    with pytest.raises(CommandError, match="ENGINE_MODEL"):
        call_command("register_deployment", stdout=StringIO())
    settings.ENGINE_MODEL = "org/big-model"
    call_command("register_deployment", stdout=StringIO())
    assert Checkpoint.objects.get().served_name == "org/big-model"


# --- doctor ----------------------------------------------------------------------------------------------------------


def test_doctor_on_an_installation_with_everything_down_reports_and_exits_with_1(tmp_path):
    nowhere = embedded.free_port()
    environment_without_services = {
        **os.environ,
        "TACKROOM_STATE_DIR": str(tmp_path),
        "DATABASE_URL": f"postgresql://nobody@127.0.0.1:{nowhere}/none",
        "REDIS_URL": f"redis://127.0.0.1:{nowhere}/0",
        "ENGINE_URL": f"http://127.0.0.1:{nowhere}/v1",
    }
    result = subprocess.run(
        [sys.executable, "manage.py", "doctor", "--json"],
        env=environment_without_services,
        cwd=environment.BASE_DIR,
        capture_output=True,
        text=True,
    )
    findings = {finding["name"]: finding for finding in json.loads(result.stdout)}
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    for name in ("database", "migrations", "redis", "workers"):
        assert findings[name]["status"] == "fail"
        assert "make up" in findings[name]["mend"]
    assert findings["engine"]["status"] == "warn"
    assert findings["worlds"]["status"] == "ok"


@pytest.mark.django_db
def test_doctor_finds_what_is_up_and_what_is_not(tmp_path, settings, engine):
    settings.ENGINE, settings.ENGINE_URL, settings.MODELS_DIR = "vllm", engine.base_url, tmp_path
    findings = {finding.name: finding for finding in doctor.examine()}
    assert findings["database"].status == findings["migrations"].status == findings["redis"].status == "ok"
    assert findings["engine"].found.startswith(f"serves {engine.model}")
    assert findings["model"].status == "warn"
    assert "make data" in findings["model"].mend


def test_doctor_warns_of_an_open_installation(settings):
    settings.DEBUG, settings.ALLOWED_HOSTS, settings.SESSION_COOKIE_SECURE = True, ["*"], False
    finding = doctor.check_security()
    assert finding.status == "warn"
    assert all(word in finding.mend for word in ("DEBUG=0", "ALLOWED_HOSTS", "SECURE_COOKIES=1"))


def test_doctor_notices_packages_that_are_not_as_locked(tmp_path):
    lock = tmp_path / "x.lock"
    lock.write_text("# header\ndjango==1.0\nno-such-package==2.0\n")
    deviations = doctor._lock_deviations(lock)
    assert deviations[0].startswith("django 5.")
    assert deviations[1] == "no-such-package missing instead of 2.0"


def test_check_that_breaks_is_a_finding(monkeypatch):
    def check_moon() -> doctor.Finding:
        raise OSError("too far")

    monkeypatch.setattr(doctor, "CHECKS", (check_moon,))
    assert doctor.examine() == [
        doctor.Finding("moon", "fail", "the check broke: OSError: too far", "Please report this.")
    ]
