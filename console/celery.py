"""The Celery application. Tasks are found by app; what runs on a clock is listed here."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")

app = Celery("tackroom")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
