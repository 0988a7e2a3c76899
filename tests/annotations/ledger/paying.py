"""Pressing "pay" by 50 threads, and being killed in the middle, in a database of its own.

Run as `python -m tests.annotations.ledger.paying` with DATABASE_URL set; prints what a panel that
pays at every request has paid.
"""

import json
import os
import signal
import sys
import threading
from collections import Counter
from decimal import Decimal
from pathlib import Path

from tests.annotations.answering.race import NoMigrations

THREADS = 50
STEPS = (
    *("before the claim", "claim not stored", "claimed", "half paid", "paid", "paid not stored"),
    "stored",
)
PEOPLE = 4


class Panel:
    """Pays whatever it is asked, again at every repetition, and writes it down for good."""

    def __init__(self, path, step=None, stop=None):
        self.path, self.step, self.stop = path, step, stop

    def at(self, step):
        if self.step == step:
            self.stop()

    def pay_batch(self, batch):
        self.at("claimed")
        for number, one in enumerate(batch.payments):
            if number == PEOPLE // 2:
                self.at("half paid")
            with self.path.open("a") as file:
                file.write(f"{one.id}\n")
                file.flush()
                os.fsync(file.fileno())
        self.at("paid")
        return "reference"

    @property
    def paid(self):
        return Counter(self.path.read_text().split()) if self.path.exists() else Counter()


def stopping_note(note, panel):
    """Stop after an entry was added and before the transaction around it is over."""
    from django.db import transaction

    steps = {"sent": "claim not stored", "paid": "paid not stored"}

    def stopped(payments, event, *rest, **named):
        with transaction.atomic():
            note(payments, event, *rest, **named)
            if event in steps and payments:
                panel.at(steps[event])

    return stopped


def planned(owner, name):
    """A version with four people, each with a confirmed bonus of 0.25."""
    from annotations.ledger import bonuses
    from tests.annotations import world

    version = world.version(owner, name)
    keys = [world.submission(version, f"{name}-{n}").pk for n in range(PEOPLE)]
    bonuses.plan_bonuses(version, dict.fromkeys(keys, Decimal("0.25")), owner)
    bonuses.confirm_payments(version, owner)
    return version


def press(version, owner, panel):
    from annotations.ledger import bonuses, errors

    try:
        bonuses.claim_and_pay(version, owner, panel)
        return "paid"
    except errors.NothingToSendError:
        return "nothing"


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


def in_a_process(work):
    """Do it in a process of its own; returns the signal that ended it."""
    from django.db import connections

    connections.close_all()
    child = os.fork()
    if not child:
        try:
            work()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed(owner, folder, step):
    from annotations.ledger import bonuses

    version = planned(owner, step.replace(" ", "-"))
    panel = Panel(folder / step, step, kill)

    def die():
        panel.at("before the claim")
        bonuses.add_payment_event = stopping_note(bonuses.add_payment_event, panel)
        press(version, owner, panel)
        panel.at("stored")

    code = in_a_process(die)
    again = [press(version, owner, Panel(folder / step)) for _ in range(3)]
    states = Counter(one.state for one in bonuses.load_payments(version))
    return {"code": code, "again": again, "paid": sorted(panel.paid.values()), "states": states}


def pressed_at_once(act):
    """What each of 50 threads that begin at one moment got: how often which answer or error."""
    from django.db import connections

    barrier, said = threading.Barrier(THREADS), []

    def race():
        barrier.wait()
        try:
            said.append(act())
        except Exception as error:
            said.append(repr(error))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=race) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Counter(said)


def main():
    sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "platform"))
    os.environ["DJANGO_SETTINGS_MODULE"] = "crowdgrade.settings"
    import django
    from django.conf import settings

    settings.MIGRATION_MODULES = NoMigrations()
    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import call_command

    call_command("migrate", run_syncdb=True, verbosity=0)
    folder = Path(os.environ["CROWDGRADE_HOME"])
    owner = User.objects.create_user("rana", is_staff=True)
    by_step = {step: killed(owner, folder, step) for step in STEPS}

    version, panel = planned(owner, "threads"), Panel(folder / "threads")
    said = pressed_at_once(lambda: press(version, owner, panel))
    raced = {"said": said, "paid": sorted(panel.paid.values())}
    print(json.dumps({"killed": by_step, "raced": raced}))


if __name__ == "__main__":
    main()
