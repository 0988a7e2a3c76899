"""A site without an account: the code of the terminal makes the first one, and only that one."""

import re
import stat

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from crowdgrade import first_account
from tests.evaluation.site.handles import error_codes

PASSWORD = "a long pass phrase 7"


@pytest.fixture
def home(settings, tmp_path, db):
    settings.HOME = tmp_path / "home"
    return settings.HOME


def sent(client, code, password=PASSWORD, again=PASSWORD):
    form = {"code": code, "username": "ada", "password1": password, "password2": again}
    return client.post(reverse("admin:first-account"), form)


def codes(response, field):
    return error_codes(response.context["form"].errors.as_data()[field])


def test_the_code_makes_an_operator_who_is_signed_in_at_once(client, home):
    code = first_account.ensure_account_code(home)
    assert sent(client, code).url == reverse("admin:index")
    made = User.objects.get()
    assert (made.username, made.is_staff, made.is_superuser) == ("ada", True, True)
    assert made.check_password(PASSWORD)
    assert client.get(reverse("admin:index")).status_code == 200
    assert not (home / first_account.CODE_FILE).exists()


def test_the_link_fills_in_the_code_which_its_owner_alone_may_read(client, home):
    code = first_account.ensure_account_code(home)
    assert first_account.ensure_account_code(home) == code
    assert stat.S_IMODE((home / first_account.CODE_FILE).stat().st_mode) == 0o600
    link = first_account.build_first_account_link("http://127.0.0.1:8000", code)
    assert link.startswith("http://127.0.0.1:8000/")
    shown = client.get(link).content.decode()
    assert re.search(rf'name="code" value="{code}"', shown)


def test_the_sign_in_page_of_an_empty_site_leads_to_the_first_account(client, home):
    assert client.get(reverse("admin:login")).url == reverse("admin:first-account")
    User.objects.create_user("ben", is_staff=True)
    assert client.get(reverse("admin:login")).status_code == 200


@pytest.mark.parametrize("is_there", [True, False], ids=["wrong", "none made"])
def test_another_code_makes_nothing(client, home, is_there):
    if is_there:
        first_account.ensure_account_code(home)
    refused = sent(client, "guessed")
    assert refused.status_code == 400
    assert codes(refused, "code") == ["wrong_code"]
    assert not User.objects.exists()


def test_a_bad_password_leaves_the_code_valid(client, home):
    code = first_account.ensure_account_code(home)
    refused = sent(client, code, again="something else 8")
    assert codes(refused, "password2") == ["password_mismatch"]
    assert not User.objects.exists()
    assert sent(client, code).status_code == 302


def test_a_site_with_an_account_has_no_such_page(client, home):
    code = first_account.ensure_account_code(home)
    User.objects.create_user("ben")
    assert client.get(reverse("admin:first-account")).status_code == 404
    assert sent(client, code).status_code == 404
    assert User.objects.count() == 1


def test_of_two_requests_with_the_code_one_makes_the_account(client, home, monkeypatch):
    code = first_account.ensure_account_code(home)
    # The other request has passed the first check, too.
    monkeypatch.setattr(first_account, "has_no_account", lambda: True)
    valid = first_account.FirstAccountForm.is_valid

    def taken_in_between(form):
        found = valid(form)
        (home / first_account.CODE_FILE).unlink()
        return found

    monkeypatch.setattr(first_account.FirstAccountForm, "is_valid", taken_in_between)
    assert sent(client, code).status_code == 404
    assert not User.objects.exists()


def test_the_code_stays_valid_where_the_account_cannot_be_stored(client, home, monkeypatch):
    code = first_account.ensure_account_code(home)

    def fail(*args, **options):
        raise OSError("the disk is full")

    client.raise_request_exception = False
    with monkeypatch.context() as patched:
        patched.setattr(User, "save", fail)
        assert sent(client, code).status_code >= 500
    assert (home / first_account.CODE_FILE).read_text() == f"{code}\n"
    assert sent(client, code).status_code == 302
