"""How long the pages take at size: 1,000 harnesses of 50 versions each, with labels, reviews and an audit trail.

Brings its own throwaway PostgreSQL and Redis and asks for each page through the whole stack of middlewares, in this process. The
first harnesses are made through the services; the rest are copies of their rows, or the set-up would take an hour.

Run with `python -m benchmarks.pages`.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.report import machine, percentile
from console import embedded

HARNESSES, VERSIONS = 1_000, 50
REQUESTS = 40
AIM_MS = 150

COPY_VERSIONS = """
INSERT INTO harnesses_harnessversion (harness_id, number, spec_hash, document, schema_version, message, author_id, author_name,
                                      parent_id, source, warning_count, created_at)
SELECT h.id, n, md5(h.id || '/' || n) || md5(n || '/' || h.id), v.document, v.schema_version, 'Change ' || n, v.author_id,
       v.author_name, NULL, 'editor', v.warning_count, now() - make_interval(hours => %(versions)s - n)
FROM harnesses_harness h CROSS JOIN generate_series(1, %(versions)s) n CROSS JOIN harnesses_harnessversion v
WHERE v.id = %(model)s AND h.slug LIKE 'bench-%%'
"""
COPY_HARNESSES = """
INSERT INTO harnesses_harness (slug, title, description, world, access, min_approvals, created_by_id, created_at, version_count)
SELECT 'bench-' || n, 'Benchmark ' || n, 'One of many.', h.world, 'open', 1, h.created_by_id, now(), %(versions)s
FROM generate_series(1, %(harnesses)s) n CROSS JOIN harnesses_harness h WHERE h.slug = 'model'
"""
COPY_LABELS = """
INSERT INTO harnesses_harnesslabel (harness_id, name, version_id, is_protected, revision, created_at, updated_at)
SELECT v.harness_id, names.name, v.id, names.name = 'production', 1, now(), now()
FROM harnesses_harnessversion v JOIN harnesses_harness h ON h.id = v.harness_id
CROSS JOIN (VALUES ('production', 40), ('staging', 50)) names (name, number)
WHERE v.number = names.number AND h.slug LIKE 'bench-%%'
"""
COPY_AUDIT = """
INSERT INTO ledger_auditentry (action, actor_id, actor_name, object_type, object_id, object_label, parent_type, parent_id, reason,
                               before, after, request_id, created_at)
SELECT 'harness.committed', v.author_id, v.author_name, 'harness', v.harness_id::text, h.slug, '', '', v.message, NULL,
       jsonb_build_object('number', v.number), '', v.created_at
FROM harnesses_harnessversion v JOIN harnesses_harness h ON h.id = v.harness_id WHERE h.slug LIKE 'bench-%%'
"""

PAGES = (
    ("list of harnesses", "/harnesses/"),
    ("list, searched", "/harnesses/?search=77"),
    ("components", "/harnesses/bench-500/"),
    ("rendered prompt", "/harnesses/bench-500/versions/50/prompt/"),
    ("versions", "/harnesses/bench-500/versions/"),
    ("comparison", "/harnesses/bench-500/compare/?old=40&new=50"),
    ("labels", "/harnesses/bench-500/labels/"),
    ("reviews", "/reviews/"),
    ("audit", "/audit/"),
    ("changelog of a harness", "/harnesses/bench-500/changelog/"),
    ("drafts", "/harnesses/bench-500/drafts/"),
    ("playground", "/playground/?harness=bench-500&version=50"),
    ("API: harnesses", "/api/v1/harnesses/"),
    ("API: versions", "/api/v1/harnesses/bench-500/versions/"),
)


@contextlib.contextmanager
def services() -> Iterator[None]:
    """A throwaway PostgreSQL and Redis, named in the environment before Django reads its settings."""
    with tempfile.TemporaryDirectory(prefix="tackroom-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        postgres = embedded.start_postgres(folder / "postgres", is_throwaway=True)
        redis = embedded.start_redis(folder / "redis", is_persistent=False)
        os.environ |= {
            "DATABASE_URL": postgres.url,
            "REDIS_URL": redis.url,
            "TACKROOM_STATE_DIR": str(folder / "state"),
            "DB_POOL": "0",
            "LOG_LEVEL": "ERROR",
            "DJANGO_SETTINGS_MODULE": "console.settings",
        }
        try:
            yield
        finally:
            from django.db import connections

            connections.close_all()
            redis.stop()
            postgres.stop()


def prepare() -> Any:
    """Fill the database; returns a person who may see all of it."""
    from django.core.management import call_command
    from django.db import connection

    from harnesses.services import harness_commit, harness_create
    from ledger.core.roles import Role
    from ledger.services import user_create
    from livestream.demo import demo_harness
    from livestream.world import DEMO_SHOP

    call_command("migrate", verbosity=0)
    person = user_create(username="olga", password=None, roles=[Role.OPERATOR], acting_user=None)
    harness = harness_create(slug="model", title="Model", world=DEMO_SHOP, acting_user=person)
    version = harness_commit(harness=harness, spec=demo_harness(), message="First", acting_user=person).version
    values = {"harnesses": HARNESSES, "versions": VERSIONS, "model": version.pk}
    with connection.cursor() as cursor:
        for statement in (COPY_HARNESSES, COPY_VERSIONS, COPY_LABELS, COPY_AUDIT):
            cursor.execute(statement, values)
        cursor.execute("ANALYZE")
    return person


@contextlib.contextmanager
def counted_queries() -> Iterator[list[str]]:
    """The statements that any thread sends meanwhile: a page may run in another one than this."""
    from django.db.backends.utils import CursorWrapper

    statements: list[str] = []
    execute = CursorWrapper.execute

    def counting(self: Any, sql: Any, params: Any = None) -> Any:
        statements.append(str(sql))
        return execute(self, sql, params)

    CursorWrapper.execute = counting  # type: ignore[method-assign]
    try:
        yield statements
    finally:
        CursorWrapper.execute = execute  # type: ignore[method-assign]


def measure(person: Any) -> list[str]:
    """One row for each page: how many queries, and how long it takes. Raises SystemExit for a page that does not come."""
    from django.test import Client

    from console.garbage import set_aside_what_is_loaded

    client = Client(HTTP_HOST="127.0.0.1")
    client.force_login(person)
    set_aside_what_is_loaded()  # As the web server does when it starts.
    rows = []
    for name, address in PAGES:
        answer = client.get(address)  # warm: templates, the spec of the version
        if answer.status_code != 200:
            raise SystemExit(f"{address} answered {answer.status_code}")
        with counted_queries() as statements:
            client.get(address)
        waited = []
        for _ in range(REQUESTS):
            started = time.perf_counter()
            client.get(address)
            waited.append((time.perf_counter() - started) * 1000)
        p50, p95 = percentile(waited, 0.5), percentile(waited, 0.95)
        rows.append(f"| {name} | {REQUESTS} | {len(statements)} | {len(answer.content):,} | {p50:.1f} | {p95:.1f} |")
    return rows


def main() -> str:
    """Measure, print the table, and give it back."""
    with services():
        import django

        django.setup()
        rows = measure(prepare())
    report = "\n".join(
        [
            machine(),
            "",
            f"{HARNESSES:,} harnesses of {VERSIONS} versions each, {HARNESSES * VERSIONS:,} audit entries. "
            f"The aim is a P95 under {AIM_MS} ms.",
            "",
            "| page | n | queries | bytes | P50 ms | P95 ms |",
            "|---|---|---|---|---|---|",
            *rows,
        ]
    )
    print(report)
    return report


if __name__ == "__main__":
    main()
