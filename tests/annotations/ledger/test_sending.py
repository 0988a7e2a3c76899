"""Bonuses by Prolific's own interface: each is asked for once, and only with a person's sum."""

import json
import os
import subprocess
import sys
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotations.ledger import bonuses, errors
from annotations.ledger.decisions import decide_on_submission
from annotations.ledger.panel_payments import SendingReport, find_study_id
from annotations.ledger.sentences import SENDING
from annotations.models import BonusPayment
from annotations.panels.client import UnsureError
from annotations.panels.prolific import UNVERIFIED
from tests.annotations import world
from tests.annotations.answering.test_race import database  # noqa: F401 (a fixture)
from tests.annotations.ledger.paying import PEOPLE, THREADS
from tests.annotations.ledger.sending import OF_PARTS, STEPS, planned
from tests.annotations.panels.conftest import fake  # noqa: F401 (a fixture)
from tests.annotations.panels.prolific_fake import STUDY
from tests.conftest import ROOT


@pytest.fixture
def rana(db):
    return world.user("rana", is_staff=True)


@pytest.fixture
def lakes(rana, fake):  # noqa: F811
    fake.add(PEOPLE)
    return planned(rana, "lakes")


def send(**options):
    out, err = StringIO(), StringIO()
    call_command("payments", "lakes", send=True, by="rana", stdout=out, stderr=err, **options)
    return out.getvalue() + err.getvalue()


def states(version):
    return {one.state for one in bonuses.load_payments(version)}


def would_pay(n, total):
    values = {"n": n, "total": total, "currency": "", "study": STUDY}
    return SENDING.text("bonuses_would_be_paid", **values)


def paid(n, total):
    return SENDING.text("bonuses_paid", n=n, total=total, currency="")


def nothing_left(total):
    with pytest.raises(CommandError) as refused:
        send(total=Decimal(total))
    assert refused.value.returncode == 2
    assert str(refused.value) == SENDING.text("no_bonus_left")


def test_nothing_is_sent_until_somebody_says_the_sum(lakes, fake):  # noqa: F811
    told = send()
    # Four times 0.25.
    assert would_pay(4, "1.00") in told
    assert UNVERIFIED in told
    with pytest.raises(CommandError) as refused:
        send(total=Decimal("1.25"))
    error = refused.value.__cause__
    assert (error.code, error.said, error.total) == (
        "other_total",
        Decimal("1.25"),
        Decimal("1.00"),
    )
    assert not fake.requests
    assert states(lakes) == {"confirmed"}
    assert paid(4, "1.00") in send(total=Decimal("1.00"))
    assert fake.paid == {f"p-{n},0.25": 1 for n in range(PEOPLE)}
    assert states(lakes) == {"settled"}
    assert set(BonusPayment.objects.filter(event="paid").values_list("reference", flat=True)) == {
        "bulk-0"
    }
    nothing_left("1.00")
    assert max(fake.paid.values()) == 1


def test_what_nobody_confirmed_is_not_sent(rana, fake):  # noqa: F811
    version = world.version(rana, "lakes")
    one = world.submission(version, "p-0")
    # A session of which no study is known says nothing of which study it is.
    for session, study in (("s-0", STUDY), ("s-1", "")):
        one.panel_sessions.create(session_id=session, study_id=study)
    assert find_study_id(version) == STUDY
    bonuses.plan_bonuses(version, {one.pk: Decimal(1)}, rana)
    nothing_left("1")
    assert not fake.requests


REASON = "The answers to all of the questions repeat the questions, and we had asked for more. " * 2


def test_whose_work_is_rejected_after_the_yes_is_sent_no_bonus(lakes, rana, fake, tmp_path):  # noqa: F811
    about = lakes.submissions.get(worker__external_id="p-0")
    decide_on_submission(about, rana, "reject", "LOW_EFFORT", REASON)
    told = send()
    assert SENDING.text("left_out", said=SENDING.text("held_back", n=1)) in told
    assert would_pay(3, "0.75") in told
    send(total=Decimal("0.75"))
    assert sorted(fake.paid) == ["p-1,0.25", "p-2,0.25", "p-3,0.25"]
    options = {"output": tmp_path / "list.csv", "format": "prolific-bonus", "by": "rana"}
    with pytest.raises(CommandError) as refused:
        call_command("export_decisions", "lakes", **options)
    error = refused.value.__cause__
    assert (error.code, error.values["n_held"]) == ("no_bonus_left", 1)
    assert str(refused.value) == str(error)
    decide_on_submission(about, rana, "open")
    call_command("export_decisions", "lakes", **options)
    assert options["output"].read_text() == "p-0,0.25\n"


def test_a_bonus_that_is_planned_for_somebody_rejected_is_meant_so(rana):
    version = world.version(rana, "lakes")
    one = world.submission(version, "p-0")
    decide_on_submission(one, rana, "reject", "LOW_EFFORT", REASON)
    bonuses.plan_bonuses(version, {one.pk: Decimal(1)}, rana)
    bonuses.confirm_payments(version, rana)
    decide_on_submission(
        one, rana, "reject", "LOW_EFFORT", "Sorry. " + REASON
    )  # the reason in other words
    assert [found.name for found in bonuses.claim_payments(version, rana).payments] == ["p-0"]


def test_who_is_rejected_between_the_planning_and_the_yes_is_sent_no_bonus(rana):
    version = world.version(rana, "lakes")
    one = world.submission(version, "p-0")
    bonuses.plan_bonuses(version, {one.pk: Decimal(1)}, rana)
    decide_on_submission(one, rana, "reject", "LOW_EFFORT", REASON)
    bonuses.confirm_payments(version, rana)
    assert [
        found.name for found in bonuses.split_confirmed_payments(bonuses.load_payments(version))[1]
    ] == ["p-0"]
    assert bonuses.claim_payments(version, rana).payments == ()


def test_ids_of_mechanical_turk_are_not_sent_to_the_panel(lakes, rana, fake):  # noqa: F811
    one = world.submission(lakes, "A1MTURKWORKER", panel="MTurk")
    bonuses.plan_bonuses(lakes, {one.pk: Decimal(1)}, rana)
    bonuses.confirm_payments(lakes, rana)
    told = send()
    assert SENDING.text("left_out", said=SENDING.text("of_mturk", n=1)) in told
    send(total=Decimal("1.00"))
    assert sorted(fake.paid) == [f"p-{n},0.25" for n in range(PEOPLE)]
    assert states(lakes) == {"settled", "confirmed"}


@pytest.mark.parametrize("total", ["1_000", "1e2", "١٫٥٠", "0", "1,00", "nan"])
def test_a_sum_is_written_as_everywhere_else(lakes, total):
    with pytest.raises(CommandError, match="is no sum"):
        call_command("payments", "lakes", "--send", "--by", "rana", "--total", total)


@pytest.mark.medium
@pytest.mark.parametrize("path", ["bonus-payments/", "/pay/"])
@pytest.mark.parametrize("what", ["silence", "cut", (500, {}), (504, {})])
def test_without_an_answer_it_is_unknown_and_never_sent_again(lakes, fake, path, what):  # noqa: F811
    fake.fault("POST", path, what)
    with pytest.raises(CommandError) as refused:
        send(total=Decimal("1.00"))
    error = refused.value.__cause__
    assert isinstance(error, UnsureError)
    reference = "bulk-0" if path == "/pay/" else ""
    values = {"reference": reference, "reason": str(error)}
    assert str(refused.value) == SENDING.text("not_known", **values)
    assert states(lakes) == {"unknown"}
    n = len(fake.requests)
    nothing_left("1.00")
    assert len(fake.requests) == n
    assert max(fake.paid.values(), default=0) <= 1
    if path == "/pay/":  # the panel's id of the list, to look for
        found = BonusPayment.objects.filter(event="unknown").values_list("reference", flat=True)
        assert set(found) == {"bulk-0"}


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("bonus-payments/", (400, {"error": "p-3 is unknown"})),
        ("bonus-payments/", (429, {}, {"Retry-After": "0"})),
        # 2.00 noted where 1.00 is to be paid.
        ("bonus-payments/", (201, {"id": "bulk-9", "amount": 200})),
        ("/pay/", (402, {"error": "not enough money"})),
        ("/pay/", (429, {})),
    ],
)
def test_what_the_panel_refuses_has_failed_and_can_be_planned_anew(
    lakes, rana, fake, path, what  # noqa: F811
):  # fmt: skip
    fake.fault("POST", path, what)
    with pytest.raises(CommandError) as refused:
        send(total=Decimal("1.00"))
    assert isinstance(refused.value.__cause__, errors.PanelRefusedError)
    reason = str(refused.value.__cause__)
    assert str(refused.value) == SENDING.text("nothing_paid", reason=reason)
    assert states(lakes) == {"failed"}
    assert not fake.paid
    keys = list(lakes.submissions.values_list("pk", flat=True))
    assert bonuses.plan_bonuses(lakes, dict.fromkeys(keys, Decimal("0.25")), rana) == PEOPLE


def test_switched_off_it_claims_nothing(lakes, fake, settings):  # noqa: F811
    settings.PROLIFIC_API = ""
    with pytest.raises(CommandError) as refused:
        send(total=Decimal("1.00"))
    assert refused.value.__cause__.code == "switched_off"
    assert states(lakes) == {"confirmed"}


@pytest.mark.slow
def test_of_many_bonuses_a_list_holds_200(rana, fake):  # noqa: F811
    fake.add(201)
    version = world.version(rana, "lakes")
    keys = [world.submission(version, f"p-{n}").pk for n in range(201)]
    version.submissions.first().panel_sessions.create(session_id="s", study_id=STUDY)
    bonuses.plan_bonuses(version, dict.fromkeys(keys, Decimal("0.10")), rana)
    bonuses.confirm_payments(version, rana)
    assert paid(200, "20.00") in send(total=Decimal("20.00"))
    assert paid(1, "0.10") in send(total=Decimal("0.10"))
    assert len(fake.paid) == 201
    assert set(fake.paid.values()) == {1}


@pytest.mark.alone
def test_kill_9_at_every_step_and_50_threads_pay_once(database, tmp_path):  # noqa: F811
    environment = os.environ | {"DATABASE_URL": database, "CROWDGRADE_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.annotations.ledger.sending"],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert set(found["killed"]) == {*STEPS, *OF_PARTS}
    for step, told in found["killed"].items():
        paid = [1] * PEOPLE if step in ("paid", "screened out") else []
        assert told == {
            "code": -9, "again": ["nothing"] * 3, "paid": paid, "states": {"sent": PEOPLE},
        }, step  # fmt: skip
    once = {"said": {"paid": 1, "nothing": THREADS - 1}, "paid": [1] * PEOPLE}
    assert found["raced"] == [once, once]


def test_the_report_of_decisions_counts_who_is_left_out():
    sent = SendingReport(
        n_approved=1, n_rejected=2, n_without_id=3, n_past=4, problems=["a problem"]
    )
    brought = SENDING.text("decisions_brought", n_approved=1, n_rejected=2)
    left_out = SENDING.text("decisions_without_id", n=3), SENDING.text("decisions_past", n=4)
    assert list(sent.lines(done=True)) == [brought, *left_out, "a problem"]
    to_bring = SENDING.text("decisions_to_bring", n_approved=1, n_rejected=0)
    assert list(SendingReport(n_approved=1).lines(done=False)) == [to_bring]
