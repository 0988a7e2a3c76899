"""Rana, who is signed in."""

import pytest
from django.contrib.auth.models import User


@pytest.fixture
def rana(db):
    return User.objects.create(username="rana", is_staff=True)


@pytest.fixture
def site(client, rana):
    client.force_login(rana)
    return client
