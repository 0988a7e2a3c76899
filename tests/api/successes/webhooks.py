"""Webhooks and their deliveries."""

from __future__ import annotations

from tests.api.successes.declaration import Sent, succeeds


@succeeds("webhooks_create")
def _(world):
    return Sent({"name": "bot", "url": "https://example.org/hook", "events": ["run.finished"]})


@succeeds("webhooks_partial_update")
def _(world):
    return Sent({"events": ["alarm.raised"], "is_on": False})


@succeeds("webhooks_destroy")
def _(world):
    return Sent()


@succeeds("webhooks_secret")
def _(world):
    return Sent()


@succeeds("webhooks_test")
def _(world):
    return Sent()


@succeeds("webhooks_deliveries_again")
def _(world):
    return Sent()
