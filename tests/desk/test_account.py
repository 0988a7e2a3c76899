"""The account: single keys are on until their user turns them off, for that user alone."""

import pytest
from django.urls import reverse

from crowdgrade.models import Preferences, has_single_keys

pytestmark = pytest.mark.django_db


def said(client, address):
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode()


def test_single_keys_are_turned_off_and_on_again_for_one_account(client, rana, otto):
    client.force_login(rana)
    account = reverse("admin:account")
    assert "checked" in said(client, account)
    assert client.post(account, {}).url == account  # a box that is not ticked is not sent
    assert "checked" not in said(client, account)
    assert (has_single_keys(rana), has_single_keys(otto)) == (False, True)
    client.post(account, {"single_keys": "on"})
    assert has_single_keys(rana)
    assert Preferences.objects.count() == 1


def test_the_page_with_keys_says_where_they_are_turned_off(client, world):
    worker = world.run.worker_grades.first().worker
    address = reverse("admin:results-triage-worker", args=[world.run.public_id, worker.public_id])
    client.force_login(world.rana)
    page = said(client, address)
    assert 'data-single-keys="on"' in page
    assert f'href="{reverse("admin:account")}"' in page
    assert "keys_off.js" not in page
    Preferences.objects.create(user=world.rana, single_keys=False)
    page = said(client, address)
    assert 'data-single-keys="off"' in page
    assert "crowdgrade/keys_off.js" in page


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example", "javascript:x"])
def test_who_signs_in_on_the_way_to_another_site_gets_to_the_overview(client, rana, elsewhere):
    rana.set_password("a long secret")
    rana.save()
    sent = {"username": rana.username, "password": "a long secret", "next": elsewhere}
    response = client.post(reverse("admin:login"), sent, follow=True)
    assert response.redirect_chain == [(reverse("admin:index"), 302)]
    assert response.status_code == 200
