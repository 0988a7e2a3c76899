"""Rana has a webhook at a receiver on this machine; Otto is another requester."""

import pytest

from annotations.models import Response
from evaluation.webhooks.messages import EVENT_TYPES
from evaluation.webhooks.storage import create_webhook
from tests.annotations import world as crowd
from tests.evaluation.webhooks.receiver import open_receiver


@pytest.fixture
def receiver():
    with open_receiver() as opened:
        yield opened


@pytest.fixture
def rana(db, settings, monkeypatch):
    """No message is sent, and addresses of this machine are allowed with any database."""
    settings.MODEL_NETWORKS = ["127.0.0.0/8", "::1/128"]
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    return crowd.user("rana", is_staff=True)


@pytest.fixture
def otto(rana):
    return crowd.user("otto", is_staff=True)


@pytest.fixture
def rivers(rana):
    """A set of Rana's with answers of three workers to two questions."""
    version = crowd.version(rana, "rivers")
    for who, text in (("ada", "north of the hills"), ("ben", "in the north"), ("cy", "south")):
        submission = crowd.submission(version, who)
        for question in ("r1", "r2"):
            crowd.response(submission, question, text)
    Response.objects.update(state="submitted")
    return version


@pytest.fixture
def hook(rana, receiver):
    """Rana's webhook for all events of all her sets, and its secret."""
    webhook, secret = create_webhook(rana, "lab", receiver.url, list(EVENT_TYPES))
    webhook.shown = secret
    return webhook
