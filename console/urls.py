"""Every URL: the console's pages, the REST API and its documentation."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.views import SpectacularAPIView

from ledger.api.docs import SwaggerView

handler400 = "ledger.api.handlers.bad_request"
handler404 = "ledger.api.handlers.page_not_found"
handler500 = "ledger.api.handlers.server_error"

admin.site.site_header = admin.site.site_title = "Tackroom administration"
admin.site.index_title = "What there is, to look at"

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("console.page_urls")),
    path("admin/", admin.site.urls),
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/docs/", SwaggerView.as_view(url_name="schema"), name="api-docs"),
    path("api/v1/", include("harnesses.api.urls")),
    path("api/v1/", include("inference.api.urls")),
    path("api/v1/", include("ledger.api.urls")),
]
