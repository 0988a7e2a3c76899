"""What a browser is told about scripts, frames and cookies; no foreign text where scripts read."""

import re
from pathlib import Path

import pytest
from django.urls import reverse

from tests.desk.conftest import MARK
from tests.desk.page_checks import scripted_faults

ROOT = Path(__file__).resolve().parents[2]


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


def test_each_fault_of_a_page_is_found():
    page = (
        f"<p style='x' @click='go({MARK})'>a</p><style>p</style><script src='a.js'></script>"
        f"<script>{MARK}</script><b title='{MARK}'>{MARK}</b><script>alert(1)</script>"
    )
    assert list(scripted_faults(page)) == [
        *("a style inside the page", "a style inside the page"),
        *("a script inside the page", "a script inside the page"),
        f"a script reads 'go({MARK})'",
        f"a script reads '{MARK}'",
        "a foreign text is a script",
    ]


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
