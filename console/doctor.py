"""The checks behind `manage.py doctor`: what is configured, reachable and migrated, and what to do about what is not.

A check never raises: what it cannot find out is itself a finding. Nothing is changed.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import httpx
import redis
from django.conf import settings
from django.contrib.staticfiles import finders
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from console import environment as env
from console.browser import find_browser
from console.startup import DEMO_MODEL, NEEDED_FREE_BYTES, WORKER_QUEUES
from harnesses import ports
from inference.engine.diagnosis import model_dir_problem

Status = Literal["ok", "warn", "fail"]
TIMEOUT_S = 3.0
START = "Start everything with `make up`."


@dataclass(frozen=True)
class Finding:
    """What one check found, and what to do about it (empty where all is well)."""

    name: str
    status: Status
    found: str
    mend: str = ""


def _ok(name: str, found: str) -> Finding:
    return Finding(name, "ok", found)


def check_python() -> Finding:
    found = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] == (3, 11):
        return _ok("python", found)
    return Finding(
        "python", "fail", f"{found}; expected 3.11", "Run `make install`, which makes .venv with Python 3.11."
    )


def _lock_deviations(lock: Path) -> list[str]:
    """What differs from a lock file, each as `name 1.0 instead of 1.1`."""
    installed = {
        re.sub(r"[-_.]+", "-", (each.metadata["Name"] or "").lower()): each.version.split("+")[0]
        for each in importlib.metadata.distributions()
    }
    deviations = []
    for line in lock.read_text().splitlines():
        name, separator, version = line.partition("==")
        if separator and installed.get(name) != version:
            deviations.append(f"{name} {installed.get(name, 'missing')} instead of {version}")
    return deviations


def check_packages() -> Finding:
    needed = _lock_deviations(env.BASE_DIR / "requirements" / "base.lock")
    engine = (
        []
        if settings.ENGINE in ("", "null", "none")
        else _lock_deviations(env.BASE_DIR / "requirements/engine-cpu.lock")
    )
    if not needed and not engine:
        return _ok("packages", "as locked")
    shown = "; ".join((needed + engine)[:3])
    more = f" and {len(needed + engine) - 3} more" if len(needed + engine) > 3 else ""
    status: Status = "fail" if any("missing" in each for each in needed) else "warn"
    return Finding("packages", status, shown + more, "Run `make install`.")


def check_disk() -> Finding:
    folder = settings.STATE_DIR if settings.STATE_DIR.exists() else settings.STATE_DIR.parent
    if not os.access(folder, os.W_OK):
        return Finding(
            "disk", "fail", f"{folder} cannot be written", "Mend its owner or mode, or set TACKROOM_STATE_DIR."
        )
    free = shutil.disk_usage(folder).free
    found = f"{free / 1e9:.1f} GB free in {folder}"
    return (
        _ok("disk", found) if free >= NEEDED_FREE_BYTES else Finding("disk", "fail", found, "Make room: 1 GB at least.")
    )


def check_security() -> Finding:
    problems = []
    if settings.DEBUG:
        problems.append("DEBUG is on: error pages show settings. Set DEBUG=0")
    if len(settings.SECRET_KEY) < 40:
        problems.append("SECRET_KEY is short: use 50 random characters, or leave it out and one is made")
    if "*" in settings.ALLOWED_HOSTS:
        problems.append("ALLOWED_HOSTS lets every host name through: name yours")
    is_public = any(host not in ("127.0.0.1", "localhost", "[::1]", "testserver") for host in settings.ALLOWED_HOSTS)
    if is_public and not settings.SESSION_COOKIE_SECURE:
        problems.append("cookies also travel over plain HTTP: put HTTPS before it and set SECURE_COOKIES=1")
    if problems:
        return Finding("security", "warn", f"{len(problems)} to mend", "; ".join(problems) + ".")
    return _ok("security", "DEBUG off, own secret key, hosts named")


def check_database() -> Finding:
    try:
        with connection.cursor() as cursor:
            cursor.execute("show server_version")
            version = cursor.fetchone()[0]
    except DatabaseError as error:
        where = settings.DATABASES["default"]["HOST"] or "localhost"
        found = f"not reachable at {where}: {' '.join(str(error).split())[:200]}"
        return Finding("database", "fail", found, f"{START} Or mend DATABASE_URL.")
    return _ok("database", f"PostgreSQL {version}")


def check_migrations() -> Finding:
    try:
        executor = MigrationExecutor(connection)
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        return Finding("migrations", "fail", "unknown, the database is not reachable", START)
    if plan:
        first = plan[0][0]
        found = f"{len(plan)} not applied, first {first.app_label}.{first.name}"
        return Finding("migrations", "fail", found, "Run `python manage.py migrate`, or `make up`.")
    return _ok("migrations", "all applied")


def check_redis() -> Finding:
    try:
        client = redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=TIMEOUT_S, socket_timeout=TIMEOUT_S)
        return _ok("redis", f"Redis {client.info('server')['redis_version']}")
    except (redis.RedisError, ValueError) as error:
        return Finding("redis", "fail", f"not reachable: {error}", f"{START} Or mend REDIS_URL.")


def check_workers() -> Finding:
    from console.celery import app

    try:
        with app.connection_for_read(connect_timeout=TIMEOUT_S) as broker:
            broker.ensure_connection(max_retries=1, interval_start=0)
            found = app.control.inspect(timeout=1.5, connection=broker).active_queues() or {}
    except Exception as error:  # each transport has its own errors, and a doctor does not fall ill
        return Finding("workers", "fail", f"the broker does not answer: {error}", START)
    queues = {queue["name"] for listed in found.values() for queue in listed}
    if missing := [queue for queue in WORKER_QUEUES if queue not in queues]:
        return Finding("workers", "fail", f"{len(found)} answer; nobody serves {', '.join(missing)}", START)
    return _ok("workers", f"{len(found)} answer, all queues served")


def check_engine() -> Finding:
    if settings.ENGINE == "none":
        return Finding(
            "engine", "warn", "none is configured", "Set ENGINE=vllm, or ENGINE_URL to one that runs elsewhere."
        )
    headers = {"Authorization": f"Bearer {settings.ENGINE_API_KEY}"} if settings.ENGINE_API_KEY else {}
    url = settings.ENGINE_URL.rstrip("/")
    try:
        answer = httpx.get(f"{url}/models", headers=headers, timeout=TIMEOUT_S, trust_env=False)
        names = [str(card["id"]) for card in answer.raise_for_status().json()["data"]]
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError) as error:
        mend = f"It may still be warming up (about a minute); see {settings.ENGINE_RUN_DIR / 'engine.log'}. {START}"
        return Finding("engine", "warn", f"no answer at {url}: {error or type(error).__name__}", mend)
    return _ok("engine", f"serves {', '.join(names)} at {url}")


def check_model() -> Finding:
    if settings.ENGINE in ("null", "none"):
        return _ok("model", "not needed")
    folder = Path(settings.MODELS_DIR) / DEMO_MODEL
    problem = model_dir_problem(folder)
    if problem is None:
        return _ok("model", str(folder))
    return Finding("model", "warn", problem.split(". ")[0], "Run `make data`; `make up` does it, too.")


def check_browser() -> Finding:
    path = find_browser()
    if path is not None:
        return _ok("browser", path)
    return Finding("browser", "warn", "no Chromium", "Only the browser tests want it: `apt-get install chromium`.")


def check_static() -> Finding:
    wanted = ("admin/css/base.css", "django_htmx/htmx-2.min.js", "console/css/base.css")
    missing = [name for name in wanted if finders.find(name) is None]
    if missing:
        return Finding("static files", "fail", f"missing: {', '.join(missing)}", "Run `make install`.")
    return _ok("static files", "found in their packages")


def check_worlds() -> Finding:
    counts = []
    for name in ports.world_names():
        try:
            counts.append(f"{name} ({len(ports.catalogue_of(name))} operations)")
        except Exception as error:
            return Finding("worlds", "fail", f"{name} does not load: {error}", "Run `make install`.")
    return (
        _ok("worlds", ", ".join(counts)) if counts else Finding("worlds", "fail", "none wired", "See `console.apps`.")
    )


CHECKS: tuple[Callable[[], Finding], ...] = (
    check_python,
    check_packages,
    check_disk,
    check_security,
    check_database,
    check_migrations,
    check_redis,
    check_workers,
    check_model,
    check_engine,
    check_worlds,
    check_static,
    check_browser,
)


def examine() -> list[Finding]:
    """Run every check. One that breaks is a finding, too."""
    findings = []
    for check in CHECKS:
        try:
            findings.append(check())
        except Exception as error:  # a doctor reports, whatever is broken
            name = check.__name__.removeprefix("check_")
            findings.append(
                Finding(name, "fail", f"the check broke: {type(error).__name__}: {error}", "Please report this.")
            )
    return findings
