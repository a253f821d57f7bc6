"""The JSON resources behind the editor's scripts: the language document, and Markdown that is safe to show."""

from __future__ import annotations

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from console.editor_language import language_document
from console.markdown import markdown_html
from tests.console import sample
from tests.console.conftest import SignIn


@pytest.mark.parametrize(
    ("text", "shown", "hidden"),
    [
        ("# Sizes", "<h3>Sizes</h3>", "<h1>"),
        ("<script>alert(1)</script>", "&lt;script&gt;", "<script"),
        ("[go](javascript:alert(1))", "[go](javascript:alert(1))", "href"),
        ("[go](https://shop.example)", 'href="https://shop.example"', "javascript"),
        ("![pixel](https://tracker.example/a.png)", "pixel", "<img"),
        ("|a|b|\n|-|-|\n|1|2|", "<td>2</td>", "|"),
    ],
)
def test_markdown_shows_text_and_never_markup_of_its_author(text: str, shown: str, hidden: str):
    html = markdown_html(text)
    assert shown in html
    assert hidden not in html


@given(st.text(alphabet="<>&\"'=/:()[]!#*_`~ \nascript:onload", max_size=120))
def test_no_text_becomes_a_script_a_style_or_a_handler(text: str):
    html = markdown_html(text)
    for forbidden in ("<script", "<style", "<img", "<iframe", "<svg", 'href="javascript', "<a on", "<p on"):
        assert forbidden not in html.lower()


def test_the_language_document_names_what_fits_together():
    document = language_document()
    assert set(document["hooks"]["actions_by_event"]) == set(document["hooks"]["fields_by_event"])
    assert "Stop" in document["hooks"]["slots_by_event"]
    assert document["templates"]["context"]["properties"]["room"]["properties"]["topic"]["description"]
    assert "Hook" in document["spec_schema"]["$defs"]


@pytest.mark.django_db
class TestResources:
    def test_the_language_is_sent_once_and_then_known(self, operator, sign_in: SignIn):
        client = sign_in(operator)
        first = client.get("/editor/language.json")
        assert first.json() == language_document()
        assert client.get("/editor/language.json", headers={"If-None-Match": first["ETag"]}).status_code == 304

    def test_a_body_is_filled_in_with_the_names_of_the_document(self, operator, sign_in: SignIn):
        spec = sample.sample_spec(price_name="fetch_price").document()
        text = 'Call **{{ tool("price") }}** in {{ room.title }}.'
        sent = {"text": text, "document": {"tools": spec["tools"]}}
        answer = sign_in(operator).post("/editor/markdown/", sent, content_type="application/json").json()
        assert answer["html"] == "<p>Call <strong>fetch_price</strong> in Autumn knits.</p>\n"
        assert answer["tokens"] > 0
        assert answer["note"] == ""

    @pytest.mark.parametrize("document", [{}, {"tools": "none"}])
    def test_what_cannot_be_filled_in_is_shown_as_written_and_told(self, operator, sign_in: SignIn, document):
        sent = {"text": '{{ tool("price") }}', "document": document}
        answer = sign_in(operator).post("/editor/markdown/", sent, content_type="application/json").json()
        assert "tool(&quot;price&quot;)" in answer["html"] or 'tool("price")' in answer["html"]
        assert answer["note"].startswith("Shown as written:")

    def test_a_text_without_names_needs_no_document(self, operator, sign_in: SignIn):
        client = sign_in(operator)
        answer = client.post("/editor/markdown/", {"text": "*Hi*"}, content_type="application/json").json()
        assert answer["html"] == "<p><em>Hi</em></p>\n"
        assert answer["note"] == ""

    @pytest.mark.parametrize("sent", [{}, {"text": None}, {"text": 3, "document": []}, {"text": "x" * 200_001}])
    def test_bad_bodies_are_told_by_field(self, operator, sign_in: SignIn, sent):
        response = sign_in(operator).post("/editor/markdown/", sent, content_type="application/json")
        assert response.status_code in (400, 422)
        assert response["Content-Type"].startswith("application/problem+json")

    def test_strangers_get_neither(self, client: Client):
        assert client.get("/editor/language.json").status_code == 302
        answer = client.post("/editor/markdown/", {"text": "x"}, content_type="application/json")
        assert answer.status_code in (401, 403)
