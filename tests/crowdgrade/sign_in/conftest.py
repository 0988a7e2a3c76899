"""A site with an OpenID provider on this machine, and people who sign in."""

import re
from dataclasses import replace

import pytest
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from crowdgrade.sign_in.options import OpenID
from tests.crowdgrade.sign_in.provider import CLIENT, SECRET, Provider


@pytest.fixture(autouse=True)
def _empty_cache():
    """Counts of wrong codes are in the cache, which outlives a test."""
    cache.clear()


@pytest.fixture
def provider(settings):
    made = Provider()
    settings.OPENID = OpenID(
        issuer=made.issuer, client_id=CLIENT, secret=SECRET, name="Lab", domains={"lab.org"}
    )
    yield made
    made.close()


@pytest.fixture
def change(settings):
    """Change options of the OpenID provider."""

    def change_options(**values):
        settings.OPENID = replace(settings.OPENID, **values)

    return change_options


def find_way(response):
    """The address of the provider on the page that leads to it."""
    return re.search(r'<a [^>]*href="([^"]+)"', response.content.decode())[1].replace("&amp;", "&")


def begin(client, **sent):
    return client.post(reverse("openid-begin"), sent)


def sign_in(provider, client=None, **sent):
    """Walk to the provider and back; the client and the last response."""
    client = client or Client()
    begun = begin(client, **sent)
    assert begun.status_code == 200, begun.content.decode()[:3000]
    back = provider.authorize(find_way(begun))
    return client, client.get(back)


def code_of(response):
    """The code of a refusal on a page."""
    return re.search(r'data-refused="(\w+)"', response.content.decode())[1]


def user_of(client):
    """The account that is signed in with the client; None without."""
    key = client.session.get(SESSION_KEY)
    return User.objects.get(pk=key) if key else None
