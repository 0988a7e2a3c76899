"""Fifty requests at once that plan, confirm and take a list, in a database of their own.

Run as `python -m tests.api.pressing` with DATABASE_URL set; prints what each got, and the ledger.
"""

import json
import os
import sys
from collections import Counter
from pathlib import Path

from tests.annotations.answering.race import NoMigrations
from tests.annotations.ledger.paying import pressed_at_once

RULE = {"kind": "per-answer", "amount": "0.05"}


def main():
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "platform"))
    os.environ["DJANGO_SETTINGS_MODULE"] = "crowdgrade.settings"
    import django
    from django.conf import settings

    settings.MIGRATION_MODULES = NoMigrations()
    settings.ALLOWED_HOSTS = ["testserver"]
    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.urls import reverse
    from rest_framework.test import APIClient

    from annotations.ledger import bonuses
    from annotations.models import BonusPayment
    from tests.evaluation.payments.crowd import rivers

    call_command("migrate", run_syncdb=True, verbosity=0)
    rana = User.objects.create_user("rana", is_staff=True)
    version, _ = rivers(rana)
    link = reverse("api:paying", args=[version.question_set.public_id])

    def post(path, sent, say):
        client = APIClient()
        client.force_authenticate(rana)
        response = client.post(link + path, sent, format="json")
        body = response.json()
        return say(body) if response.status_code < 300 else response.status_code

    seen = post("bonuses/rule/", RULE, lambda body: body["seen"])

    def press(path, sent, say):
        return pressed_at_once(lambda: post(path, sent, say))

    new = press("bonuses/plan/", RULE | {"seen": seen}, lambda body: f"{body['new']} new")
    round_ = {"round": "bonus", "total": "1.45"}
    confirmed = press("bonuses/confirm/", round_, lambda body: f"{body['n']} confirmed")
    taken = press("lists/", {}, lambda body: f"{body['n']} in a list")
    events = Counter(BonusPayment.objects.values_list("event", flat=True))
    lists = {one.batch for one in bonuses.load_payments(version)}
    said = {"plan": new, "confirm": confirmed, "take": taken}
    print(json.dumps({"said": said, "events": events, "lists": len(lists)}))


if __name__ == "__main__":
    main()
