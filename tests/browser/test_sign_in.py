"""Sign-in in Chromium: to the OpenID provider and back, and a second factor with its codes."""

import contextlib
import re
import time

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.urls import reverse

from tests.browser import pages
from tests.browser.pages import LOOKS, WINDOWS, Inspector
from tests.crowdgrade.sign_in.conftest import change, provider
from tests.crowdgrade.sign_in.test_second_factor import PASSWORD, code_at

__all__ = ["change", "provider"]

pytestmark = [*pages.pytestmark, pytest.mark.django_db(transaction=True)]


@pytest.fixture(params=LOOKS)
def inspector(request, browser, live_server):
    """A window in which nobody is signed in."""
    cache.clear()
    User.objects.create_user("rana", password=PASSWORD, is_staff=True)
    width, scheme = WINDOWS[request.param]
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
    )
    with contextlib.closing(context):
        yield Inspector(context, live_server.url)


def fill_in(page, button, **values):
    for name, value in values.items():
        page.fill(f"[name={name}]", value)
    page.click(f"button:text-is('{button}')")


def test_a_person_signs_in_by_the_provider_and_waits_for_a_role(provider, inspector):
    page = inspector.page
    inspector.look("login with a provider", reverse("admin:login"))
    # The policy lets no form lead to another site: the page between does.
    fill_in(page, "Sign in with Lab")
    page.wait_for_url("**/admin/login/**")
    inspector.check("login of an account without a role")
    assert User.objects.filter(username="ada").exists()
    assert inspector.found == []


def test_a_refusal_says_why(provider, inspector, change):
    change(domains=frozenset({"else.org"}))
    page = inspector.page
    page.goto(inspector.site + reverse("admin:login"))
    page.click("text=Sign in with Lab")
    page.wait_for_selector("[data-refused=domain]")
    inspector.said.clear()  # the console tells the status
    inspector.check("refused")
    assert inspector.found == []


def test_a_user_adds_a_second_factor_signs_in_with_it_and_links_the_account(provider, inspector):
    page = inspector.page
    page.goto(inspector.site + reverse("admin:login"))
    fill_in(page, "Sign in", username="rana", password=PASSWORD)
    inspector.look("account", reverse("admin:account"))
    page.click("text=Link with Lab")
    page.wait_for_selector("[data-link=linked]")
    inspector.check("account that is linked")
    page.click("text=Add a second factor")
    inspector.check("no second factor")
    page.click("text=Add a second factor")
    inspector.check("add a second factor")
    secret = page.inner_text("code.cg-token")
    fill_in(page, "Add the second factor", code="000000")
    page.wait_for_selector("[aria-invalid=true]")
    inspector.said.clear()
    inspector.check("add a second factor, wrong code")
    assert page.inner_text("code.cg-token") == secret
    fill_in(page, "Add the second factor", code=code_at(secret, time.time()))
    page.wait_for_selector(".cg-codes")
    inspector.check("recovery codes")
    code = page.inner_text(".cg-codes li >> nth=0")
    assert re.fullmatch(r"\d{8}", code)
    inspector.look("second factor", reverse("mfa_index"))
    inspector.look("make new codes", reverse("mfa_generate_recovery_codes"))
    inspector.look("remove the second factor", reverse("mfa_deactivate_totp"))
    page.context.clear_cookies()
    page.goto(inspector.site + reverse("admin:login"))
    fill_in(page, "Sign in", username="rana", password=PASSWORD)
    page.wait_for_url("**/sign-in/code/")
    inspector.check("code")
    fill_in(page, "Sign in", code="000000")
    page.wait_for_selector("[aria-invalid=true]")
    inspector.said.clear()
    inspector.check("wrong code")
    fill_in(page, "Sign in", code=code)
    page.wait_for_url("**/admin/")
    inspector.look("confirm by password", reverse("account_reauthenticate"))
    inspector.look("confirm by code", reverse("mfa_reauthenticate"))
    inspector.look("sign in again", reverse("sign-in-again"))
    assert "\n".join(inspector.found) == ""


def test_an_operator_reads_who_signed_in(inspector):
    User.objects.create_superuser("ida", password=PASSWORD)
    page = inspector.page
    page.goto(inspector.site + reverse("admin:login"))
    fill_in(page, "Sign in", username="ida", password="wrong")
    fill_in(page, "Sign in", username="ida", password=PASSWORD)
    page.wait_for_url("**/admin/")
    inspector.said.clear()
    inspector.look("sign-ins", reverse("admin:audit-sign-ins"))
    shown = page.eval_on_selector_all("[data-event]", "all => all.map(one => one.dataset.event)")
    assert shown == ["signed_in", "failed"]
    assert inspector.found == []
