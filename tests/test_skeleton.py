"""The services the tests run on are real."""

import pytest
from django.core.cache import cache
from django.db import connection


@pytest.mark.django_db
def test_database_is_postgresql_18():
    with connection.cursor() as cursor:
        cursor.execute("show server_version")
        assert cursor.fetchone()[0].startswith("18")


def test_cache_is_redis():
    cache.set("key", "value", 5)
    assert cache.get("key") == "value"
