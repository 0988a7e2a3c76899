"""Rana's rivers with pay, and the payment desk asked by her over REST."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from rest_framework.test import APIClient

from annotations.ledger import bonuses
from annotations.models import Collection
from tests.evaluation.payments.crowd import rivers

RULE = {"kind": "per-answer", "amount": "0.05"}


@pytest.fixture
def desk(db):
    """Rana's rivers with pay, asked by her; seven with four answers each, cy with one."""
    rana = User.objects.create_user("rana", is_staff=True)
    client = APIClient()
    client.force_authenticate(rana)
    version, people = rivers(rana)
    Collection.objects.create(
        version=version, places=9, pay="1.00", currency="GBP", least_hourly_pay="7.00"
    )
    desk = Desk(client, reverse("api:paying", args=[version.question_set.public_id]))
    desk.version, desk.people, desk.rana = version, people, rana
    return desk


class Desk:
    """Asks below `paying/`."""

    def __init__(self, client, link):
        self.client, self.link = client, link

    def get(self, path, **query):
        return self.client.get(self.link + path, query)

    def post(self, path, status=200, **sent):
        response = self.client.post(self.link + path, sent, format="json")
        assert response.status_code == status, response.content
        return response.json()

    def seen(self, **rule):
        return self.post("bonuses/rule/", **RULE | rule)["seen"]

    def states(self):
        return {one.state for one in bonuses.load_payments(self.version)}
