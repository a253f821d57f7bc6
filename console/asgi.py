"""The ASGI application that the web server runs."""

import os
from typing import cast

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")

django_application = get_asgi_application()

from console.garbage import set_aside_what_is_loaded  # noqa: E402  (Django must be set up first)
from console.resolve_asgi import Application, ResolveFirst  # noqa: E402

application = ResolveFirst(cast("Application", django_application))
set_aside_what_is_loaded()
