"""Rana, who is signed in."""

import pytest
from django.contrib.auth.models import User

FOR_THE_READER = 3
"""Queries that a page asks once, for all its lists: teams, shares and sets that the reader sees."""


@pytest.fixture
def rana(db):
    return User.objects.create(username="rana", is_staff=True)


@pytest.fixture
def site(client, rana):
    client.force_login(rana)
    return client
