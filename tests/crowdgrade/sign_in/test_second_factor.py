"""The second factor: set up, asked for at sign-in, each code once, required where the site says."""

import base64
import hashlib
import hmac
import re
import struct
import time
from base64 import b32decode
from io import StringIO
from types import SimpleNamespace

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import get_resolver, reverse

from annotations.models import SignInEvent
from crowdgrade.models.tokens import create_token
from crowdgrade.sign_in.middleware import OPEN
from crowdgrade.sign_in.second_factor import requires_second_factor
from tests.crowdgrade.sign_in.conftest import sign_in

pytestmark = pytest.mark.django_db
PASSWORD = "right battery 9"
STEP = 30
NOW = 1_800_000_015
"""In the middle of a time step, so that no test crosses its end."""


def code_at(secret, moment):
    """RFC 6238 with SHA-1 and 6 digits, as an authenticator app computes it."""
    digest = hmac.new(b32decode(secret), struct.pack(">Q", int(moment) // STEP), hashlib.sha1)
    hashed = digest.digest()
    place = hashed[-1] & 15
    value = struct.unpack(">I", hashed[place : place + 4])[0] & 0x7FFFFFFF
    return f"{value % 10**6:06d}"


def test_the_app_of_the_tests_computes_as_rfc_6238_says():
    # Appendix B, SHA-1: at 59 seconds the eight digits are 94287082.
    assert code_at("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", 59) == "287082"


class Clock:
    """The time that allauth computes codes by."""

    def __init__(self):
        self.now = NOW

    def time(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr("allauth.mfa.totp.internal.auth.time", made)
    return made


@pytest.fixture
def rana():
    return User.objects.create_user("rana", password=PASSWORD, is_staff=True)


def by_password(user, client=None, next_page=""):
    """Sign in by password; the client and the response."""
    client = client or Client()
    sent = {"username": user.username, "password": PASSWORD, "next": next_page}
    return client, client.post(reverse("admin:login"), sent)


def is_in(client):
    return SESSION_KEY in client.session


def enrol(client, clock):
    """Add an app; its secret."""
    address = reverse("mfa_activate_totp")
    page = client.get(address).content.decode()
    secret = re.search(r'<code class="cg-token">([A-Z2-7]+)</code>', page)[1]
    assert "data:image/svg+xml;base64," in page
    response = client.post(address, {"code": code_at(secret, clock.now)})
    assert response.url == reverse("mfa_view_recovery_codes"), response.content.decode()[:2000]
    clock.now += STEP
    return secret


def send_code(client, code):
    return client.post(reverse("mfa_authenticate"), {"code": code})


def events():
    rows = SignInEvent.objects.order_by("pk")
    return [f"{event} {detail}" for event, detail in rows.values_list("event", "detail")]


@pytest.fixture
def secret(rana, clock, django_capture_on_commit_callbacks):
    """Rana has an app; its secret."""
    client, _ = by_password(rana)
    with django_capture_on_commit_callbacks(execute=True):
        made = enrol(client, clock)
    SignInEvent.objects.all().delete()
    return made


def test_an_app_is_added_with_recovery_codes_and_without_the_secret_in_the_clear(secret, rana):
    app = Authenticator.objects.get(user=rana, type="totp")
    assert secret not in str(app.data)
    assert Authenticator.objects.filter(user=rana, type="recovery_codes").count() == 1


def test_adding_an_app_is_logged_and_ends_the_sessions_of_other_browsers(
    rana, clock, django_capture_on_commit_callbacks
):
    other, _ = by_password(rana)
    client, _ = by_password(rana)
    ida = User.objects.create_superuser("ida", password=PASSWORD)
    idas, _ = by_password(ida)
    with django_capture_on_commit_callbacks(execute=True):
        enrol(client, clock)
    assert [is_in(one) for one in (client, other, idas)] == [True, False, True]
    assert events()[3:] == ["factor_added totp", "factor_added recovery_codes"]


def test_a_wrong_code_adds_no_app(rana, clock):
    client, _ = by_password(rana)
    client.get(reverse("mfa_activate_totp"))
    response = client.post(reverse("mfa_activate_totp"), {"code": "000000"})
    assert response.status_code == 400
    assert not Authenticator.objects.exists()


def test_the_password_alone_does_not_sign_in(secret, rana, clock):
    client, response = by_password(rana, next_page="/admin/tokens/")
    assert response.url == reverse("mfa_authenticate")
    assert not is_in(client)
    assert client.get(reverse("admin:tokens")).url.startswith(reverse("admin:login"))
    response = send_code(client, code_at(secret, clock.now))
    assert response.url == "/admin/tokens/"
    assert client.get(reverse("admin:tokens")).status_code == 200
    assert events() == ["factor_used totp", "signed_in password"]


def test_a_wrong_code_is_refused_and_logged(secret, rana, clock):
    client, _ = by_password(rana)
    wrong = send_code(client, code_at(secret, clock.now + 10 * STEP))
    assert wrong.status_code == 400
    assert not is_in(client)
    assert events() == ["code_failed totp"]


def test_without_a_password_before_it_no_code_is_asked_for(secret):
    assert send_code(Client(), "123456").url == reverse("account_login")


@pytest.mark.parametrize("forgets", [False, True])
def test_a_code_signs_in_once_also_if_the_cache_forgets(secret, rana, clock, forgets):
    code = code_at(secret, clock.now)
    first, _ = by_password(rana)
    send_code(first, code)
    assert is_in(first)
    if forgets:
        cache.clear()
    second, _ = by_password(rana)
    assert send_code(second, code).status_code == 400
    assert not is_in(second)
    # Nor does an earlier one: it may have been read over the shoulder.
    assert send_code(second, code_at(secret, clock.now - STEP)).status_code == 400
    clock.now += STEP
    send_code(second, code_at(secret, clock.now))
    assert is_in(second)


@pytest.mark.parametrize("forgets", [False, True])
def test_the_code_that_added_the_app_does_not_sign_in(secret, rana, clock, forgets):
    used = code_at(secret, clock.now - STEP)
    if forgets:
        cache.clear()
    client, _ = by_password(rana)
    # It is still valid by its time: the next code is half a minute old at most.
    assert send_code(client, used).status_code == 400
    assert not is_in(client)
    send_code(client, code_at(secret, clock.now))
    assert is_in(client)


@pytest.mark.parametrize(("late", "opens"), [(0, True), (1, True), (2, False), (-2, False)])
def test_a_code_holds_half_a_minute_longer_than_the_app_shows_it(secret, rana, clock, late, opens):
    clock.now += 10 * STEP
    client, _ = by_password(rana)
    send_code(client, code_at(secret, clock.now - late * STEP))
    assert is_in(client) == opens


def test_five_wrong_codes_close_the_account_for_codes_from_every_address(secret, rana, clock):
    client, _ = by_password(rana)
    for _ in range(5):
        assert send_code(client, "000000").status_code == 400
    other = Client(REMOTE_ADDR="203.0.113.8")
    by_password(rana, other)
    refused = send_code(other, code_at(secret, clock.now))
    assert (
        refused.context_data["form"].errors.as_data()["code"][0].code == "too_many_login_attempts"
    )
    assert not is_in(other)
    assert events() == ["code_failed totp"] * 5


def recovery_codes(client):
    page = client.get(reverse("mfa_view_recovery_codes")).content.decode()
    return re.findall(r"<li><code>(\d{8})</code></li>", page)


@pytest.fixture
def codes(secret, rana, clock):
    client, _ = by_password(rana)
    send_code(client, code_at(secret, clock.now))
    clock.now += STEP
    SignInEvent.objects.all().delete()
    return recovery_codes(client)


def test_a_recovery_code_signs_in_once(codes, rana):
    assert len(set(codes)) == 10
    client, _ = by_password(rana)
    send_code(client, codes[0])
    assert is_in(client)
    again, _ = by_password(rana)
    assert send_code(again, codes[0]).status_code == 400
    assert not is_in(again)
    assert recovery_codes(client) == codes[1:]
    used = ["factor_used recovery_codes", "signed_in password", "code_failed totp"]
    assert events() == used


def test_new_recovery_codes_end_the_old_ones(codes, rana, django_capture_on_commit_callbacks):
    client, _ = by_password(rana)
    send_code(client, codes[0])
    with django_capture_on_commit_callbacks(execute=True):
        assert client.post(reverse("mfa_generate_recovery_codes")).status_code == 302
    fresh = recovery_codes(client)
    assert len(fresh) == 10
    assert not set(fresh) & set(codes)
    other, _ = by_password(rana)
    send_code(other, codes[1])
    assert not is_in(other)
    text = client.get(reverse("mfa_download_recovery_codes"))
    assert re.findall(r"^\d{8}$", text.content.decode(), re.M) == fresh
    assert "codes_made recovery_codes" in events()


def test_the_app_is_removed_after_the_user_confirms(secret, rana, clock, monkeypatch):
    client, _ = by_password(rana)
    send_code(client, code_at(secret, clock.now))
    # An hour after the sign-in the site asks who it is.
    later = SimpleNamespace(time=lambda: time.time() + 3600)
    monkeypatch.setattr("crowdgrade.sign_in.adapters.time", later)
    address = reverse("mfa_deactivate_totp")
    assert client.get(address).url.startswith(reverse("account_reauthenticate"))
    assert Authenticator.objects.count() == 2
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    assert client.post(address).status_code == 302
    assert not Authenticator.objects.exists()
    assert "factor_off totp" in events()


@pytest.mark.medium
def test_a_sign_in_by_openid_asks_for_the_code_too(provider, clock):
    client, _ = sign_in(provider)
    User.objects.update(is_staff=True)
    made = enrol(client, clock)
    other, response = sign_in(provider)
    assert response.url == reverse("mfa_authenticate")
    assert not is_in(other)
    send_code(other, code_at(made, clock.now))
    assert is_in(other)


def test_a_new_secret_key_lets_nobody_in_by_a_code(secret, rana, clock, settings):
    settings.SECRET_KEY = "another key that only this test uses, and nobody else"
    client, _ = by_password(rana)
    assert send_code(client, code_at(secret, clock.now)).status_code == 400
    assert not is_in(client)


# Required by the site


@pytest.mark.parametrize(
    ("demanded", "required"),
    [
        ("none", []),
        ("operators", ["ida"]),
        ("requesters", ["ida", "rana"]),
        ("everyone", ["ida", "rana", "vera"]),
    ],
)
def test_a_second_factor_is_required_of_the_named_roles(rana, settings, demanded, required):
    settings.REQUIRE_SECOND_FACTOR = demanded
    ida, vera = User.objects.create_superuser("ida"), User.objects.create_user("vera")
    assert [user.username for user in (ida, rana, vera) if requires_second_factor(user)] == required


@pytest.mark.django_db(transaction=True)  # adding an app ends with its commit
def test_who_needs_a_second_factor_sees_no_page_before_adding_one(rana, clock, settings):
    settings.REQUIRE_SECOND_FACTOR = "requesters"
    client, _ = by_password(rana)
    for name in ("admin:index", "admin:question-sets", "admin:tokens", "mfa_index"):
        assert client.get(reverse(name)).url == reverse("mfa_activate_totp"), name
    assert client.post(reverse("admin:question-set-new")).url == reverse("mfa_activate_totp")
    refused = client.get(reverse("api:question-set-list"))
    assert (refused.status_code, refused.json()["type"].rpartition("/problems/")[2]) == (
        403, "forbidden/"
    )  # fmt: skip
    assert b'data-state="required"' in client.get(reverse("mfa_activate_totp")).content
    enrol(client, clock)
    assert client.get(reverse("admin:index")).status_code == 200
    assert client.get(reverse("api:question-set-list")).status_code == 200
    # And it cannot be removed.
    assert b'data-state="required"' in client.get(reverse("mfa_deactivate_totp")).content
    assert client.post(reverse("mfa_deactivate_totp")).status_code == 400
    assert Authenticator.objects.filter(type="totp").exists()


@pytest.mark.slow
def test_no_address_behind_the_login_opens_without_the_second_factor(rana, settings):
    settings.REQUIRE_SECOND_FACTOR = "requesters"
    client, _ = by_password(rana)
    closed = 0
    for name, address in list_addresses():
        if name in OPEN:
            continue
        for response in (client.get(address), client.post(address)):
            assert (response.status_code, response.get("Location")) == (
                302,
                reverse("mfa_activate_totp"),
            ), name
        closed += 1
    # Fewer would mean that the list of addresses is not read any more.
    assert closed > 200
    assert not Authenticator.objects.exists()


VALUES = {"uuid": "0" * 8 + "-0000-4000-8000-" + "0" * 12, "int": "1"}


def list_addresses():
    """Yield the name and an address of each pattern below admin/."""

    def walk(patterns, before, namespace):
        for pattern in patterns:
            route = before + str(pattern.pattern)
            if hasattr(pattern, "url_patterns"):
                inner = f"{pattern.namespace}:" if pattern.namespace else namespace
                yield from walk(pattern.url_patterns, route, inner)
            elif route.startswith("admin/") and pattern.name:
                yield f"{namespace}{pattern.name}", "/" + fill(route)

    def fill(route):
        return re.sub(r"<(?:(\w+):)?\w+>", lambda one: VALUES.get(one[1], "x"), route)

    yield from walk(get_resolver().url_patterns, "", "")


@pytest.mark.parametrize("has_app", [False, True])
def test_a_password_over_rest_is_no_sign_in(rana, clock, settings, has_app, request):
    settings.REQUIRE_SECOND_FACTOR = "everyone"
    if has_app:
        request.getfixturevalue("secret")
    basic = base64.b64encode(f"rana:{PASSWORD}".encode()).decode()
    address = reverse("api:question-set-list")
    refused = Client().get(address, headers={"Authorization": f"Basic {basic}"})
    assert refused.status_code == 401
    # Nor is the session between the password and the code, or before the app is added.
    client, _ = by_password(rana)
    assert client.get(address).status_code == (401 if has_app else 403)
    assert client.post(address, {"name": "rivers"}).status_code == (401 if has_app else 403)


def test_an_operator_signs_in_with_the_code_at_the_login_of_the_admin(settings, clock):
    settings.REQUIRE_SECOND_FACTOR = "operators"
    ida = User.objects.create_superuser("ida", password=PASSWORD)
    for address in (reverse("admin:login"), "/admin/"):
        client = Client()
        client.post(address, {"username": "ida", "password": PASSWORD})
        response = client.get(reverse("admin:auth_user_changelist"))
        assert response.status_code == 302
        assert response.url.startswith((reverse("mfa_activate_totp"), reverse("admin:login")))
    # Requesters are not asked.
    rana = User.objects.create_user("rana", password=PASSWORD, is_staff=True)
    client, _ = by_password(rana)
    assert client.get(reverse("admin:index")).status_code == 200
    assert requires_second_factor(ida)


def test_a_session_from_before_the_requirement_signs_in_again_with_the_code(secret, rana, settings):
    client = Client()
    client.force_login(rana)
    assert client.get(reverse("admin:index")).status_code == 200
    settings.REQUIRE_SECOND_FACTOR = "requesters"
    assert client.get(reverse("api:question-set-list")).status_code == 403
    assert client.get(reverse("admin:index")).url.startswith(reverse("admin:login"))
    assert not is_in(client)


def test_a_token_asks_for_no_second_factor(rana, settings):
    settings.REQUIRE_SECOND_FACTOR = "everyone"
    _, token = create_token(rana, "night job", 1)
    headers = {"Authorization": f"Bearer {token}"}
    assert Client().get(reverse("api:question-set-list"), headers=headers).status_code == 200


def test_logging_out_and_pages_of_workers_ask_for_nothing(rana, settings):
    settings.REQUIRE_SECOND_FACTOR = "everyone"
    client, _ = by_password(rana)
    assert client.get("/health/live").status_code == 200
    assert client.post(reverse("admin:logout")).status_code == 200
    assert not is_in(client)


# The command for a lost phone


def test_the_command_removes_a_lost_second_factor_and_ends_the_sessions(secret, rana, clock):
    client, _ = by_password(rana)
    send_code(client, code_at(secret, clock.now))
    SignInEvent.objects.all().delete()
    call_command("remove_second_factor", "rana", stdout=StringIO())
    assert not is_in(client)
    assert not Authenticator.objects.exists()
    assert events() == ["factor_off command line"]
    _, response = by_password(rana)
    assert response.url == reverse("admin:index")


@pytest.mark.parametrize("name", ["rana", "nobody"])
def test_the_command_refuses_who_has_none(rana, name):
    with pytest.raises(CommandError) as refused:
        call_command("remove_second_factor", name)
    assert refused.value.returncode == 2


# The log


def test_failed_sign_ins_are_logged_without_names_of_no_account(rana):
    for name in ("rana", "my secret password"):
        Client().post(reverse("admin:login"), {"username": name, "password": "wrong"})
    rows = SignInEvent.objects.order_by("pk").values_list("event", "name", "address")
    assert list(rows) == [("failed", "rana", "127.0.0.1"), ("failed", "", "127.0.0.1")]


def test_failures_from_one_address_are_not_logged_without_end(rana, monkeypatch):
    monkeypatch.setattr("crowdgrade.sign_in.journal.MOST_FAILURES", 3)
    for n in range(6):
        Client().post(reverse("admin:login"), {"username": f"name{n}", "password": "wrong"})
    assert SignInEvent.objects.count() == 3


def test_an_entry_outlives_its_account(rana):
    by_password(rana)
    rana.delete()
    assert SignInEvent.objects.values_list("user", "name").get() == (None, "rana")
