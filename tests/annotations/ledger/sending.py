"""Bonuses sent to a fake of Prolific by a process that is killed on the way, by 50 at once too.

Run as `python -m tests.annotations.ledger.sending` with DATABASE_URL set; prints what was paid.
"""

import json
import os
import sys
from collections import Counter
from decimal import Decimal
from pathlib import Path

from tests.annotations.answering.race import NoMigrations
from tests.annotations.ledger.paying import PEOPLE, in_a_process, pressed_at_once
from tests.annotations.panels import prolific_fake

TOTAL = Decimal("0.25") * PEOPLE
STEPS = {
    "set up is asked": ("bonus-payments/", "kill before"),
    "set up": ("submissions/bonus-payments/", "kill after"),
    "payment is asked": ("/pay/", "kill before"),
    "paid": ("/pay/", "kill after"),
}
"""Where the fake ends the process that asks it: by path, before or after it did what was asked."""

OF_PARTS = {
    "screening out is asked": ("screen-out", "kill before"),
    "screened out": ("screen-out", "kill after"),
}
"""The same of parts of the pay."""


def planned(owner, name):
    """A version with four people p-0 ... of a study, each with a confirmed bonus of 0.25."""
    from annotations.ledger import bonuses
    from tests.annotations import world

    version = world.version(owner, name)
    keys = []
    for n in range(PEOPLE):
        one = world.submission(version, f"p-{n}")
        one.panel_sessions.create(session_id=f"s-{n}", study_id=prolific_fake.STUDY)
        keys.append(one.pk)
    bonuses.plan_bonuses(version, dict.fromkeys(keys, Decimal("0.25")), owner)
    bonuses.confirm_payments(version, owner)
    return version


def planned_parts(owner, name):
    """A version with four people who did not pass the practice, each with a confirmed part."""
    from annotations.ledger import bonuses, parts
    from annotations.models import Collection, Submission
    from tests.annotations import world

    version = world.version(owner, name)
    Collection.objects.create(
        version=version, places=9, pay=1, currency="GBP", screened_out_pay=Decimal("0.25")
    )
    for n in range(PEOPLE):
        one = world.submission(version, f"p-{n}")
        one.panel_sessions.create(session_id=f"s-{n}", study_id=prolific_fake.STUDY)
        Submission.objects.filter(pk=one.pk).update(state="screened_out")
    parts.plan_parts(version, owner)
    bonuses.confirm_payments(version, owner, bonuses.PART)
    return version


def press_parts(version, owner, address):
    from annotations.ledger import errors
    from annotations.ledger.panel_payments import send_parts
    from annotations.panels.prolific import Prolific

    try:
        send_parts(version, owner, Prolific(address), prolific_fake.STUDY, TOTAL)
        return "paid"
    except (errors.NothingToSendError, errors.OtherTotalError):
        return "nothing"


def press(version, owner, address):
    from annotations.ledger import errors
    from annotations.ledger.panel_payments import send_bonuses
    from annotations.panels.prolific import Prolific

    try:
        send_bonuses(version, owner, Prolific(address), prolific_fake.STUDY, TOTAL)
        return "paid"
    except errors.NothingToSendError:
        return "nothing"


def killed(owner, step, plan=planned, press=press):
    from annotations.ledger import bonuses

    version = plan(owner, step.replace(" ", "-"))
    with prolific_fake.serving() as fake:
        fake.add(PEOPLE)
        fake.fault("POST", *(STEPS | OF_PARTS)[step])

        def die():
            fake_pid.write_text(str(os.getpid()))
            press(version, owner, fake.address)

        fake_pid = Path(os.environ["CROWDGRADE_HOME"]) / f"pid-{step}"
        fake_pid.unlink(missing_ok=True)
        fake.victim_file = fake_pid
        code = in_a_process(die)
        again = [press(version, owner, fake.address) for _ in range(3)]
        states = Counter(one.state for one in bonuses.load_payments(version))
        paid = sorted((fake.paid + fake.screened).values())
        return {"code": code, "again": again, "paid": paid, "states": states}


def raced(owner, name, plan=planned, press=press):
    version = plan(owner, name)
    with prolific_fake.serving() as fake:
        fake.add(PEOPLE)
        said = pressed_at_once(lambda: press(version, owner, fake.address))
        return {"said": said, "paid": sorted((fake.paid + fake.screened).values())}


def main():
    sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "platform"))
    os.environ["DJANGO_SETTINGS_MODULE"] = "crowdgrade.settings"
    os.environ["PROLIFIC_API_TOKEN"] = prolific_fake.TOKEN
    os.environ["CROWDGRADE_MODEL_NETWORKS"] = "127.0.0.0/8"
    import django
    from django.conf import settings

    settings.MIGRATION_MODULES = NoMigrations()
    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import call_command

    call_command("migrate", run_syncdb=True, verbosity=0)
    owner = User.objects.create_user("rana", is_staff=True)
    by_step = {step: killed(owner, step) for step in STEPS}
    by_step |= {step: killed(owner, step, planned_parts, press_parts) for step in OF_PARTS}
    once = [raced(owner, "threads"), raced(owner, "parts", planned_parts, press_parts)]
    print(json.dumps({"killed": by_step, "raced": once}))


if __name__ == "__main__":
    main()
