"""The documentation pages of the REST API, served without the internet."""

from __future__ import annotations

from csp.constants import SELF, UNSAFE_INLINE
from csp.decorators import csp_update
from django.utils.decorators import method_decorator
from drf_spectacular.views import SpectacularSwaggerSplitView


@method_decorator(csp_update({"style-src": [SELF, UNSAFE_INLINE]}), name="dispatch")
class SwaggerView(SpectacularSwaggerSplitView):
    """Swagger UI out of the sidecar package, within the console's layout.

    It sets styles inline and has no inline script: styles alone are let through.
    """

    template_name = "console/api_docs.html"
