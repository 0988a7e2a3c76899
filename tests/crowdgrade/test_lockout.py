"""Who tries passwords is locked out: for one name, and for many names from one address."""

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

pytestmark = pytest.mark.django_db
PASSWORD = "right battery 9"


@pytest.fixture(autouse=True)
def rana():
    return get_user_model().objects.create_user("rana", password=PASSWORD, is_staff=True)


def tried(client, name, password, address="203.0.113.7"):
    """Return the status of a try to sign in: 302 in, 200 refused, 429 locked out."""
    data = {"username": name, "password": password}
    return client.post(reverse("admin:login"), data, REMOTE_ADDR=address).status_code


def test_five_wrong_passwords_close_a_name_for_that_address_alone(client):
    assert [tried(client, "rana", "wrong") for _ in range(5)] == [200, 200, 200, 200, 429]
    assert tried(client, "rana", PASSWORD) == 429
    assert tried(client, "rana", PASSWORD, "203.0.113.8") == 302


def test_one_password_tried_for_many_names_closes_the_address(client, settings):
    settings.LOCKOUT_NAMES = 6
    statuses = [tried(client, f"name{n}", "Summer2026") for n in range(8)]
    # The sixth name is the one that closes it, whatever is tried then.
    assert statuses == [200] * 5 + [429] * 3
    assert tried(client, "rana", PASSWORD) == 429
    assert tried(client, "rana", PASSWORD, "203.0.113.8") == 302


def test_names_that_signed_in_in_the_end_do_not_count(client, settings):
    settings.LOCKOUT_NAMES = 3
    assert tried(client, "rana", "wrong") == 200
    assert tried(client, "rana", PASSWORD) == 302
    client.logout()
    assert [tried(client, f"name{n}", "x") for n in range(3)] == [200, 200, 429]
