"""Addresses that lead nowhere, and the pages of accounts: in the site's look and words."""

import uuid

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotations.models import QuestionSet


def test_what_is_not_there_is_told_in_the_frame_of_the_site(client, rana):
    client.force_login(rana)
    page = client.get(reverse("admin:question-set", args=[uuid.uuid4()]))
    text = page.content.decode()
    assert page.status_code == 404
    assert "admin/missing.html" in [one.name for one in page.templates]
    assert reverse("admin:question-sets") in text
    assert "matches the given query" not in text
    assert "QuestionSet" not in text


def test_what_belongs_to_others_is_not_told_apart_from_what_is_not_there(client, rana, otto):
    theirs = QuestionSet.objects.create(owner=otto, name="secret rivers")
    client.force_login(rana)
    found = client.get(reverse("admin:question-set", args=[theirs.public_id])).content.decode()
    nothing = client.get(reverse("admin:question-set", args=[uuid.uuid4()])).content.decode()
    assert "secret rivers" not in found
    part = found.partition("<h1")[2]
    assert part == nothing.partition("<h1")[2]


@pytest.mark.parametrize("address", ["/nothing/", "/admin/nothing/at/all/"])
def test_an_address_that_nobody_has_is_told_in_the_look_of_the_site(client, rana, address):
    client.force_login(rana)
    page = client.get(address)
    text = page.content.decode()
    assert page.status_code == 404
    assert "404.html" in [one.name for one in page.templates]
    assert "crowdgrade/site.css" in text
    assert "<main" in text


def test_the_page_of_an_account_shows_no_hash_and_leads_to_another_password(client, ida):
    user = User.objects.create_user("nora", password="rivers-and-lakes")
    silent = User.objects.create_user("sam")
    client.force_login(ida)
    text = client.get(reverse("admin:auth_user_change", args=[user.pk])).content.decode()
    algorithm, *_, digest = user.password.split("$")
    assert algorithm not in text
    assert digest[:12] not in text
    assert 'data-password="set"' in text
    link = reverse("admin:auth_user_password_change", args=[user.pk])
    assert f'href="{link}"' in text
    assert client.get(link).status_code == 200
    text = client.get(reverse("admin:auth_user_change", args=[silent.pk])).content.decode()
    assert 'data-password="none"' in text


def test_an_account_can_still_be_changed_and_keeps_its_password(client, ida):
    user = User.objects.create_user("nora", password="rivers-and-lakes")
    client.force_login(ida)
    sent = {
        "username": "nora",
        "first_name": "Nora",
        "last_name": "",
        "email": "",
        "is_active": "on",
        "auth_token_set-TOTAL_FORMS": "0",
        "auth_token_set-INITIAL_FORMS": "0",
    }
    done = client.post(reverse("admin:auth_user_change", args=[user.pk]), sent)
    assert done.status_code == 302, done.context["adminform"].form.errors
    user.refresh_from_db()
    assert user.first_name == "Nora"
    assert user.check_password("rivers-and-lakes")


@pytest.mark.parametrize("address", ["/admin/question-sets/?q=%00", "/admin/runs/%00/"])
def test_an_address_with_a_nul_character_is_a_page_that_says_so(client, rana, address):
    client.force_login(rana)
    response = client.get(address)
    assert response.status_code == 400
    assert "400.html" in [one.name for one in response.templates]
