"""Tokens: made by a person or an operator, shown once, kept as a hash, refused when they ended."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from crowdgrade.models import ApiToken
from crowdgrade.models.tokens import USE_INTERVAL, create_token
from tests.api.conftest import problem

pytestmark = pytest.mark.django_db


def test_a_token_is_shown_once_and_only_its_hash_is_stored(client, rana):
    client.force_login(rana)
    page = client.post(reverse("admin:tokens"), {"name": "notebook", "days": "30"})
    token = page.context["token"]
    assert token in page.content.decode()
    assert "no-store" in page.headers["Cache-Control"]
    row = ApiToken.objects.get()
    stored = [str(value) for value in ApiToken.objects.values_list()[0]]
    # What is stored in clear is its beginning: the prefix and 48 bits, of 256.
    assert row.token_key == token[:15]
    assert not any(token[15:] in value for value in stored)
    assert token not in client.get(reverse("admin:tokens")).content.decode()


def test_one_name_is_one_token(client, rana):
    client.force_login(rana)
    for status in (200, 400):
        page = client.post(reverse("admin:tokens"), {"name": "notebook", "days": "30"})
        assert page.status_code == status
    assert page.context["form"].errors.as_data()["name"][0].code == "name_taken"
    assert page.context["form"].errors["name"][0] in page.content.decode()


@pytest.mark.parametrize("scheme", ["Bearer", "Token", "bearer"])
def test_both_schemes_are_taken(api, rana, scheme):
    _, token = create_token(rana, "t", 1)
    nobody = api()
    assert nobody.get("runs/", authorization=f"{scheme} {token}").status_code == 200


@pytest.mark.parametrize("header", ["Bearer", "Bearer a b", "Bearer \xff\xfe", "Bearer cg_nobody"])
def test_a_header_that_will_not_do_is_a_401_that_says_what_is_asked_for(api, header):
    response = api().get("runs/", authorization=header)
    problem(response, 401, "not-authenticated")
    assert response.headers["WWW-Authenticate"] == 'Bearer realm="crowdgrade"'


def test_an_expired_a_revoked_and_an_inactive_users_token_are_refused(api, client, rana):
    asking = api(rana)
    row = ApiToken.objects.get()
    ApiToken.objects.update(expiry=timezone.now() - timedelta(seconds=1))
    assert "expired" in problem(asking.get("runs/"), 401, "not-authenticated")["detail"]
    client.force_login(rana)
    assert 'data-state="expired"' in client.get(reverse("admin:tokens")).content.decode()
    ApiToken.objects.update(expiry=None)
    rana.is_active = False
    rana.save()
    problem(asking.get("runs/"), 401, "not-authenticated")
    rana.is_active = True
    rana.save()
    client.force_login(rana)
    client.post(reverse("admin:token-revoke", args=[row.public_id]))
    problem(asking.get("runs/"), 401, "not-authenticated")


def test_a_new_password_ends_tokens_as_it_ends_sessions(api, client, rana):
    asking = api(rana)
    assert asking.get("runs/").status_code == 200
    rana.set_password("another one 9")
    rana.save()
    refused = problem(asking.get("runs/"), 401, "not-authenticated")
    assert "password" in refused["detail"]
    client.force_login(rana)
    assert 'data-state="outdated"' in client.get(reverse("admin:tokens")).content.decode()
    ApiToken.objects.all().delete()
    assert api(rana).get("runs/").status_code == 200


def test_a_token_of_before_takes_the_password_of_its_next_use(api, rana):
    asking = api(rana)
    ApiToken.objects.update(password_mark="")
    assert asking.get("runs/").status_code == 200
    rana.set_password("another one 9")
    rana.save()
    problem(asking.get("runs/"), 401, "not-authenticated")


def test_tokens_outlive_a_new_secret_key_while_the_old_one_is_kept(api, rana, settings):
    asking = api(rana)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "a new one", [settings.SECRET_KEY]
    assert asking.get("runs/").status_code == 200
    settings.SECRET_KEY_FALLBACKS = []
    problem(asking.get("runs/"), 401, "not-authenticated")


def test_operators_see_and_revoke_anybodys_tokens_on_the_page_of_the_account(
    api, client, rana, ida
):
    asking = api(rana)
    address = reverse("admin:auth_user_change", args=[rana.pk])
    client.force_login(rana)
    assert client.get(address).status_code in (302, 403)
    client.force_login(ida)
    page = client.get(address)
    form = page.context["inline_admin_formsets"][0].formset
    row = ApiToken.objects.get()
    assert [str(one.instance) for one in form.forms] == [row.name]
    prefix = form.prefix
    sent = {
        "username": rana.username,
        "is_active": "on",
        "is_staff": "on",
        f"{prefix}-TOTAL_FORMS": "1",
        f"{prefix}-INITIAL_FORMS": "1",
        f"{prefix}-0-digest": row.pk,
        f"{prefix}-0-user": rana.pk,
        f"{prefix}-0-DELETE": "on",
    }
    saved = client.post(address, sent)
    assert saved.status_code == 302, saved.content
    assert not ApiToken.objects.exists()
    problem(asking.get("runs/"), 401, "not-authenticated")


def test_nobody_revokes_anothers_token(client, rana, ida):
    row, _ = create_token(rana, "t", 1)
    client.force_login(ida)
    assert client.post(reverse("admin:token-revoke", args=[row.public_id])).status_code == 404
    assert ApiToken.objects.exists()


def test_the_last_use_is_noted_every_ten_minutes(api, rana):
    asking = api(rana)
    asking.get("runs/")
    first = ApiToken.objects.get().last_used_at
    assert first is not None
    asking.get("runs/")
    assert ApiToken.objects.get().last_used_at == first
    long_ago = first - USE_INTERVAL - timedelta(seconds=1)
    ApiToken.objects.update(last_used_at=long_ago)
    asking.get("runs/")
    assert ApiToken.objects.get().last_used_at > long_ago


def test_operators_make_list_and_revoke_tokens_on_the_command_line(api, rana, capsys):
    call_command("api_token", "rana", "--name", "night job", "--days", "7")
    token = capsys.readouterr().out.strip()
    assert api().get("runs/", authorization=f"Bearer {token}").status_code == 200
    call_command("api_token", "rana", "--list")
    listed = capsys.readouterr().out
    assert "night job" in listed
    assert token not in listed
    with pytest.raises(CommandError, match="'night job'") as caught:
        call_command("api_token", "rana", "--name", "night job")
    assert caught.value.returncode == 2
    assert ApiToken.objects.count() == 1
    call_command("api_token", "rana", "--revoke", "night job")
    assert not ApiToken.objects.exists()
    for wrong in (["nobody"], ["rana", "--revoke", "night job"], ["rana", "--days", "0"]):
        with pytest.raises(CommandError) as caught:
            call_command("api_token", *wrong)
        assert caught.value.returncode == 2


def test_a_session_changes_nothing_without_a_csrf_token(rana):
    from django.test import Client

    client = Client(enforce_csrf_checks=True)
    client.force_login(rana)
    assert client.get("/api/v1/question-sets/").status_code == 200
    response = client.post("/api/v1/question-sets/", {"name": "n"}, "application/json")
    problem(response, 403, "forbidden")
    client.get(reverse("admin:tokens"))
    csrf = client.cookies["csrftoken"].value
    response = client.post(
        "/api/v1/question-sets/",
        {"name": "n"},
        "application/json",
        headers={"X-CSRFToken": csrf},
    )
    assert response.status_code == 201
