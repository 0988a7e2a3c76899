"""What a browser is told about scripts, frames and cookies; no foreign text where scripts read."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.urls import reverse

from tests.desk.conftest import MARK
from tests.desk.test_access import addresses  # noqa: F401

ROOT = Path(__file__).resolve().parents[2]
SCRIPTED = re.compile(r"^(x-|@|:|hx-|on)")


def directives(response):
    header = response.headers["Content-Security-Policy"]
    return {name: rest for name, *rest in (part.split() for part in header.split(";") if part)}


def test_only_the_admin_may_evaluate_and_nobody_writes_scripts_into_pages(client, world):
    client.force_login(world.rana)
    inside = directives(client.get(reverse("admin:index")))
    outside = directives(client.get("/"))
    assert inside["script-src"] == ["'self'", "'unsafe-eval'"]
    assert outside["script-src"] == ["'self'"]
    for policy in (inside, outside):
        assert policy["default-src"] == ["'none'"]
        assert policy["style-src"] == ["'self'"]
        assert policy["frame-ancestors"] == ["'none'"]
        assert "'unsafe-inline'" not in str(policy)


def test_pages_are_not_framed_and_cookies_are_closed(client, rana):
    response = client.post(
        reverse("admin:login"), {"username": "rana", "password": "rivers-and-lakes"}
    )
    assert response.headers["X-Frame-Options"] == "DENY"
    assert response.cookies["sessionid"]["httponly"]
    assert response.cookies["sessionid"]["samesite"] == "Lax"


class Attributes(HTMLParser):
    """Collects what scripts read: Alpine's and htmx's attributes, handlers, and script bodies."""

    def __init__(self):
        super().__init__()
        self.scripted = []
        self.styled = []
        self.open = ""

    def handle_starttag(self, tag, attrs):
        self.open = tag
        self.scripted += [v or "" for n, v in attrs if SCRIPTED.match(n)]
        self.styled += [n for n, _ in attrs if n == "style"] + ([tag] if tag == "style" else [])
        # An element of ours that carries a foreign text never carries Alpine's data.
        assert not (tag == "script" and "src" not in dict(attrs)), "a script inside the page"

    def handle_data(self, data):
        if self.open == "script":
            self.scripted.append(data)


@pytest.mark.slow
def test_no_foreign_text_stands_where_a_script_reads_it(client, world, addresses):  # noqa: F811
    client.force_login(world.rana)
    seen = 0
    for name, address in {**addresses, "index": reverse("admin:index")}.items():
        response = client.get(address)
        if "text/html" not in response.headers.get("Content-Type", "") or response.streaming:
            continue
        text = response.content.decode()
        if response.status_code != 200:
            continue
        assert "<script>alert" not in text, name
        parser = Attributes()
        parser.feed(text)
        seen += len(parser.scripted)
        assert not [value for value in parser.scripted if MARK in value], name
        assert parser.styled == [], f"{name}: the policy refuses styles inside a page"
    assert seen > 50  # the theme's own


def test_no_template_of_ours_puts_a_variable_into_a_scripted_attribute():
    pattern = re.compile(r"""[\s"'](?:x-[\w.:-]+|@[\w.-]+|:[\w-]+|on\w+)\s*=\s*("[^"]*"|'[^']*')""")
    for path in (ROOT / "templates").rglob("*.html"):
        for value in pattern.findall(path.read_text(encoding="utf-8")):
            assert "{{" not in value, f"{path.name}: {value}"
            assert "{%" not in value, f"{path.name}: {value}"


@pytest.mark.parametrize("wrong", [5])
def test_a_name_is_closed_to_an_address_after_some_wrong_passwords(client, rana, otto, wrong):
    address = reverse("admin:login")
    right = {"username": "rana", "password": "rivers-and-lakes"}
    for _ in range(wrong):
        last = client.post(address, {**right, "password": "guess"})
    assert last.status_code == 429
    assert "Too many attempts" in last.content.decode()
    assert client.post(address, right).status_code == 429
    # Others, and the same name from elsewhere, are not closed out with it.
    assert client.post(address, {**right, "username": "otto"}).status_code == 302
    client.logout()
    assert client.post(address, right, REMOTE_ADDR="192.0.2.7").status_code == 302
