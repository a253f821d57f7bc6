"""The addresses of the HTML pages. Included by `console.urls` under the namespace `console`."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from console.views import (
    accounts,
    audit,
    compare,
    deployments,
    editor_support,
    harnesses,
    imports,
    playground,
    playground_stream,
)

app_name = "console"

urlpatterns = [
    path("", accounts.home, name="home"),
    path("login/", accounts.LoginView.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("account/password/", accounts.PasswordChangeView.as_view(), name="password_change"),
    path("account/tokens/", accounts.token_list, name="token_list"),
    path("account/tokens/<int:token_id>/revoke/", accounts.token_revoke, name="token_revoke"),
    path("audit/", audit.audit_list, name="audit_list"),
    path("harnesses/", harnesses.harness_list, name="harness_list"),
    path("harnesses/new/", harnesses.harness_create, name="harness_create"),
    path("harnesses/<str:slug>/", harnesses.harness_detail, name="harness_detail"),
    path("harnesses/<str:slug>/versions/", harnesses.version_list, name="version_list"),
    path("harnesses/<str:slug>/versions/<int:number>/", harnesses.version_components, name="version_components"),
    path("harnesses/<str:slug>/versions/<int:number>/prompt/", harnesses.version_prompt, name="version_prompt"),
    path("harnesses/<str:slug>/versions/<int:number>/findings/", harnesses.version_findings, name="version_findings"),
    path("harnesses/<str:slug>/versions/<int:number>/export.zip", harnesses.version_export, name="version_export"),
    path("harnesses/<str:slug>/import/", imports.harness_import, name="harness_import"),
    path("harnesses/<str:slug>/compare/", compare.harness_compare, name="harness_compare"),
    path("editor/language.json", editor_support.editor_language, name="editor_language"),
    path("editor/markdown/", editor_support.MarkdownPreviewView.as_view(), name="markdown_preview"),
    path("playground/", playground.playground, name="playground"),
    path("playground/<uuid:session_id>/", playground.session_detail, name="session_detail"),
    path("playground/<uuid:session_id>/say/", playground.session_say, name="session_say"),
    path("playground/<uuid:session_id>/stream/", playground_stream.session_stream, name="session_stream"),
    path("playground/<uuid:session_id>/engine/", playground.engine_banner, name="engine_banner"),
    path("playground/<uuid:session_id>/turns/<int:number>/", playground.turn_detail, name="turn_detail"),
    path("deployments/", deployments.deployment_list, name="deployment_list"),
]
