"""The project: settings, URLs, Celery app, every HTML page, and the flows that span apps."""
