"""The ASGI application that the web server runs."""

import os
from typing import cast

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")

django_application = get_asgi_application()

from console.resolve_asgi import Application, ResolveFirst  # noqa: E402  (Django must be set up first)

application = ResolveFirst(cast("Application", django_application))
