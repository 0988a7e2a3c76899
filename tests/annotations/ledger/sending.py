"""Bonuses sent to a fake of Prolific by a process that is killed on the way, by 50 at once too.

Run as `python -m tests.annotations.ledger.sending` with DATABASE_URL set; prints what was paid.
"""

import json
import os
import sys
import threading
from collections import Counter
from decimal import Decimal
from pathlib import Path

from tests.annotations.answering.race import NoMigrations
from tests.annotations.ledger.paying import PEOPLE, THREADS, in_a_process
from tests.annotations.panels import prolific_fake

TOTAL = Decimal("0.25") * PEOPLE
STEPS = {
    "set up is asked": ("bonus-payments/", "kill before"),
    "set up": ("submissions/bonus-payments/", "kill after"),
    "payment is asked": ("/pay/", "kill before"),
    "paid": ("/pay/", "kill after"),
}
"""Where the fake ends the process that asks it: by path, before or after it did what was asked."""


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
    bonuses.plan(version, dict.fromkeys(keys, Decimal("0.25")), owner)
    bonuses.confirm(version, owner)
    return version


def press(version, owner, address):
    from annotations.ledger import bonuses
    from annotations.ledger.sending import send_bonuses
    from annotations.panels.prolific import Prolific

    try:
        send_bonuses(version, owner, Prolific(address), prolific_fake.STUDY, TOTAL)
        return "paid"
    except bonuses.NothingToSendError:
        return "nothing"


def killed(owner, step):
    from annotations.ledger import bonuses

    version = planned(owner, step.replace(" ", "-"))
    with prolific_fake.serving() as fake:
        fake.add(PEOPLE)
        fake.fault("POST", *STEPS[step])

        def die():
            fake_pid.write_text(str(os.getpid()))
            press(version, owner, fake.address)

        fake_pid = Path(os.environ["CROWDGRADE_HOME"]) / f"pid-{step}"
        fake_pid.unlink(missing_ok=True)
        fake.victim_file = fake_pid
        code = in_a_process(die)
        again = [press(version, owner, fake.address) for _ in range(3)]
        states = Counter(one.state for one in bonuses.payments_of(version))
        return {"code": code, "again": again, "paid": sorted(fake.paid.values()), "states": states}


def raced(owner):
    from django.db import connections

    version = planned(owner, "threads")
    with prolific_fake.serving() as fake:
        fake.add(PEOPLE)
        barrier, said = threading.Barrier(THREADS), []

        def race():
            barrier.wait()
            try:
                said.append(press(version, owner, fake.address))
            except Exception as error:
                said.append(repr(error))
            finally:
                connections.close_all()

        threads = [threading.Thread(target=race) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return {"said": Counter(said), "paid": sorted(fake.paid.values())}


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
    print(json.dumps({"killed": by_step, "raced": raced(owner)}))


if __name__ == "__main__":
    main()
