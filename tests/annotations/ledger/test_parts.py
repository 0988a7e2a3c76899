"""Parts of the pay: who is owed one, each paid once, by a list or by the panel, never by both."""

import threading
from datetime import timedelta
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, connections

from annotations.answering.monitor import load_collection_status
from annotations.ledger import bonuses, errors, panel_payments, parts
from annotations.ledger.decisions import decide_on_submission
from annotations.ledger.sentences import LISTS, PARTS, PAYMENTS, SENDING
from annotations.models import BonusPayment, Collection, PanelStatus, Submission
from annotations.panels.client import NotDoneError, UnsureError
from annotations.panels.prolific import UNVERIFIED, Prolific
from tests.annotations import world
from tests.annotations.panels.conftest import client, fake  # noqa: F401 (fixtures)
from tests.annotations.panels.prolific_fake import STUDY

pytestmark = pytest.mark.django_db

REASON = "The answer repeats the question " + "." * 68
SCREENED, FAILED = ("p-0", "p-1", "p-2"), ("p-3", "p-4")


@pytest.fixture
def rana():
    return world.user("rana", is_staff=True)


@pytest.fixture
def lakes(rana):
    """Three who did not pass the practice (0.40 each), two who failed checks (0.80), one done."""
    version = world.version(rana, "lakes")
    Collection.objects.create(
        version=version, places=9, pay="2.00", currency="GBP", panel_fee="25",
        screened_out_pay="0.40", failed_checks_pay="0.80",
    )  # fmt: skip
    for n, name in enumerate((*SCREENED, *FAILED, "p-5")):
        one = world.submission(version, name)
        one.panel_sessions.create(session_id=f"s-{n}", study_id=STUDY)
        Submission.objects.filter(pk=one.pk).update(
            state="screened_out" if name in SCREENED else "submitted",
            started_at=one.created_at - timedelta(minutes=6),
            submitted_at=None if name in SCREENED else one.created_at,
            failed_checks=name in FAILED,
        )
    return version


def payments(**options):
    out, err = StringIO(), StringIO()
    call_command("payments", "lakes", parts=True, by="rana", stdout=out, stderr=err, **options)
    return out.getvalue() + err.getvalue()


def confirmed():
    payments()
    return payments(confirm=True)


def take(path, **options):
    out = StringIO()
    options = {"format": "prolific-screen-out", "output": path} | options
    call_command("export_decisions", "lakes", stdout=out, **options)
    return path.read_text(), out.getvalue()


def states(version):
    return {one.name: one.state for one in bonuses.load_payments(version, round_=bonuses.PART)}


def stands(version, name, status):
    one = version.submissions.get(worker__external_id=name)
    PanelStatus.objects.create(submission=one, status=status, session_id=f"s-{name[2:]}")


def owed(n, kind, amount):
    return PARTS.text("owed", n=n, kind=kind, amount=amount, currency="GBP")


def test_who_is_owed_a_part_is_told_first_and_planned_once(lakes):
    said = payments(dry_run=True)
    assert owed(3, "screened_out", "0.40") in said
    assert owed(2, "failed_checks", "0.80") in said
    assert PARTS.text("status_unknown", n=5) in said
    assert not BonusPayment.objects.exists()
    # 3 x 0.40 + 2 x 0.80
    assert PARTS.text("planned", n=5, total="2.80", currency="GBP") in payments()
    again = payments()
    assert "0 planned" in again
    assert PARTS.text("there", n=5) in again
    assert BonusPayment.objects.count() == 5
    assert "5 confirmed, 2.80 in all" in payments(confirm=True)


def test_who_is_decided_of_settled_there_or_withdrew_is_owed_none(lakes, rana):
    people = {one.worker.external_id: one for one in lakes.submissions.all()}
    decide_on_submission(people["p-3"], rana, "approve")
    stands(lakes, "p-0", "SCREENED OUT")  # the code paid it there
    stands(lakes, "p-4", "PARTIALLY APPROVED")
    stands(lakes, "p-1", "RETURNED")  # a part can still be paid, as a bonus
    Submission.objects.filter(pk=people["p-2"].pk).update(
        state="returned", withdrawn_at=people["p-2"].created_at
    )
    said = payments()
    assert PARTS.text("planned", n=1, total="0.40", currency="GBP") in said
    assert PARTS.text("decided", n=1) in said
    assert PARTS.text("settled", n=2) in said
    assert states(lakes) == {"p-1": "planned"}


def test_without_an_amount_nobody_is_owed_a_part(lakes):
    Collection.objects.update(screened_out_pay=None, failed_checks_pay=None)
    said = payments()
    assert PARTS.text("nobody_owed") in said
    assert PARTS.text("without_amount", n=5) in said


def test_a_list_has_each_part_once_by_the_ids_of_submissions(lakes, tmp_path):
    with pytest.raises(CommandError) as refused:
        take(tmp_path / "parts.csv")
    assert refused.value.returncode == 2
    assert refused.value.__cause__.code == "no_part_left"
    assert not (tmp_path / "parts.csv").exists()
    confirmed()
    text, said = take(tmp_path / "parts.csv", by="rana")
    assert text == "s-0,0.40\ns-1,0.40\ns-2,0.40\ns-3,0.80\ns-4,0.80\n"
    taken = {"n": 5, "noun": "parts of the pay", "total": "2.80", "currency": "GBP"}
    assert LISTS.text("payments", **taken) in said
    batch = str(bonuses.load_payments(lakes)[0].batch)
    with pytest.raises(CommandError, match=f"--batch {batch}") as refused:
        take(tmp_path / "again.csv")
    assert refused.value.__cause__.values == {"batch": batch}
    assert take(tmp_path / "again.csv", batch=batch)[0] == text
    with pytest.raises(CommandError) as refused:
        take(tmp_path / "other.csv", batch=batch, format="prolific-bonus")
    assert refused.value.__cause__.code == "no_such_list"
    assert BonusPayment.objects.filter(event="sent").count() == 5


def test_a_list_of_bonuses_holds_no_part_and_the_other_way_round(lakes, rana, tmp_path):
    done = lakes.submissions.get(worker__external_id="p-5")
    bonuses.plan_bonuses(lakes, {done.pk: Decimal(1)}, rana)
    bonuses.confirm_payments(lakes, rana)
    confirmed()
    assert take(tmp_path / "a.csv", format="prolific-bonus")[0] == "p-5,1.00\n"
    assert "p-5" not in take(tmp_path / "b.csv")[0]
    with pytest.raises(CommandError, match=PAYMENTS.text("round_of_parts", name=bonuses.PART)):
        call_command("payments", "lakes", "--round", bonuses.PART)


def test_what_was_decided_or_settled_after_the_planning_is_not_sent(lakes, rana, tmp_path):
    confirmed()
    decide_on_submission(lakes.submissions.get(worker__external_id="p-3"), rana, "approve")
    stands(lakes, "p-0", "SCREENED OUT")
    text, _ = take(tmp_path / "parts.csv")
    assert text == "s-1,0.40\ns-2,0.40\ns-4,0.80\n"
    assert states(lakes)["p-0"] == states(lakes)["p-3"] == "confirmed"
    payments(cancel=True)
    assert states(lakes)["p-0"] == "cancelled"


@pytest.mark.django_db(transaction=True)
def test_who_approves_while_the_panel_is_about_to_be_asked_waits(lakes, rana, fake, monkeypatch):  # noqa: F811
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer, and in memory one connection")
    fake.add(5)
    confirmed()
    about = lakes.submissions.get(worker__external_id="p-0")

    def approve():
        decide_on_submission(about, rana, "approve")
        connections.close_all()

    approving, look = threading.Thread(target=approve), panel_payments.select_next_parts
    waited = []

    def look_and_approve(version):
        found = look(version)
        approving.start()
        approving.join(0.5)
        waited.append(approving.is_alive())
        return found

    monkeypatch.setattr(panel_payments, "select_next_parts", look_and_approve)
    panel_payments.send_parts(lakes, rana, Prolific(fake.address), STUDY, Decimal("1.20"))
    approving.join(60)
    assert waited == [True]
    sent = BonusPayment.objects.get(event="sent", submission=about)
    assert about.decisions.get().created_at > sent.created_at


def test_what_is_said_of_bonuses_is_not_said_of_parts(lakes, rana):
    payments()
    out = StringIO()
    call_command("payments", "lakes", confirm=True, by="rana", stdout=out)
    assert "0 confirmed" in out.getvalue()
    assert set(states(lakes).values()) == {"planned"}
    call_command("payments", "lakes", cancel=True, by="rana", stdout=out)
    assert set(states(lakes).values()) == {"planned"}


def would_pay(n, kind, total):
    values = {"n": n, "kind": kind, "total": total, "currency": "GBP", "study": STUDY}
    return SENDING.text("parts_would_be_paid", **values)


def nothing_left(act, *arguments, **options):
    """No confirmed part is left, neither for a list nor for the panel."""
    with pytest.raises(CommandError) as refused:
        act(*arguments, **options)
    assert refused.value.returncode == 2
    assert SENDING.text("no_part_left") in str(refused.value)


def test_the_panel_screens_out_what_a_person_said_the_sum_of(lakes, fake, tmp_path):  # noqa: F811
    fake.add(5)
    confirmed()
    told = payments(send=True)
    assert would_pay(3, "screened_out", "1.20") in told
    assert UNVERIFIED in told
    with pytest.raises(CommandError) as refused:
        payments(send=True, total=Decimal("2.80"))
    error = refused.value.__cause__
    assert (error.code, error.said, error.total) == (
        "other_total",
        Decimal("2.80"),
        Decimal("1.20"),
    )
    assert not fake.requests
    payments(send=True, total=Decimal("1.20"), increase_places=True)
    ((_, path, body),) = fake.asked("POST")
    assert path == f"studies/{STUDY}/screen-out-submissions/"
    assert body == {
        "submission_ids": ["s-0", "s-1", "s-2"], "bonus_per_submission": 0.4,
        "increase_places": True,
    }  # fmt: skip
    # Who failed the checks has handed in: paid as a bonus is, by the ids of the people.
    assert would_pay(2, "failed_checks", "1.60") in payments(send=True)
    payments(send=True, total=Decimal("1.60"))
    assert fake.paid == {"p-3,0.80": 1, "p-4,0.80": 1}
    assert set(fake.screened.values()) == {1}
    assert set(states(lakes).values()) == {"settled"}
    # Neither once more nor by a list.
    nothing_left(payments, send=True, total=Decimal("1.20"))
    nothing_left(take, tmp_path / "parts.csv")
    assert "0 planned" in payments()


@pytest.mark.medium
def test_one_request_screens_out_at_one_amount(lakes, fake):  # noqa: F811
    fake.add(5)
    later = lakes.submissions.filter(worker__external_id="p-2")
    later.update(state="open")
    confirmed()
    later.update(state="screened_out")
    Collection.objects.update(screened_out_pay="0.50")
    confirmed()
    assert would_pay(2, "screened_out", "0.80") in payments(send=True)
    payments(send=True, total=Decimal("0.80"))
    payments(send=True, total=Decimal("1.60"))  # who failed the checks
    payments(send=True, total=Decimal("0.50"))
    assert fake.screened == {"s-0,0.40": 1, "s-1,0.40": 1, "s-2,0.50": 1}


def test_what_a_list_took_the_panel_is_not_asked_for(lakes, fake, tmp_path):  # noqa: F811
    fake.add(5)
    confirmed()
    take(tmp_path / "parts.csv")
    nothing_left(payments, send=True, total=Decimal("1.20"))
    assert not fake.requests


@pytest.mark.medium
@pytest.mark.parametrize("what", ["silence", "cut", (500, {}), (504, {})])
def test_without_an_answer_it_is_unknown_and_never_sent_again(lakes, fake, what, tmp_path):  # noqa: F811
    fake.add(3)
    lakes.submissions.filter(failed_checks=True).update(failed_checks=False)
    confirmed()
    fake.fault("POST", "screen-out", what)
    with pytest.raises(CommandError) as refused:
        payments(send=True, total=Decimal("1.20"))
    assert isinstance(refused.value.__cause__, UnsureError)
    reason = str(refused.value.__cause__)
    assert str(refused.value) == SENDING.text("not_known", reference="", reason=reason)
    assert set(states(lakes).values()) == {"unknown"}
    nothing_left(payments, send=True, total=Decimal("1.20"))
    nothing_left(take, tmp_path / "parts.csv")
    assert len(fake.requests) == 1
    assert max(fake.screened.values(), default=0) <= 1


@pytest.mark.parametrize("what", [(400, {"error": "no custom screening"}), (429, {})])
def test_what_the_panel_refuses_has_failed_and_a_list_can_have_it(lakes, fake, what, tmp_path):  # noqa: F811
    fake.add(3)
    lakes.submissions.filter(failed_checks=True).update(failed_checks=False)
    confirmed()
    fake.fault("POST", "screen-out", what)
    with pytest.raises(CommandError) as refused:
        payments(send=True, total=Decimal("1.20"))
    assert isinstance(refused.value.__cause__, errors.PanelRefusedError)
    reason = str(refused.value.__cause__)
    assert str(refused.value) == SENDING.text("nothing_paid", reason=reason)
    assert set(states(lakes).values()) == {"failed"}
    assert not fake.screened
    confirmed()
    assert take(tmp_path / "parts.csv")[0] == "s-0,0.40\ns-1,0.40\ns-2,0.40\n"


def test_who_has_no_submission_there_is_left_to_a_list(lakes, fake):  # noqa: F811
    fake.add(5)
    lakes.submissions.get(worker__external_id="p-0").panel_sessions.all().delete()
    confirmed()
    told = payments(send=True)
    assert SENDING.text("parts_without_id", n=1) in told
    assert would_pay(2, "screened_out", "0.80") in told


def test_another_amount_than_was_asked_is_not_taken_for_paid(client, fake):  # noqa: F811
    fake.add(1)
    fake.pays_each = 4.0
    with pytest.raises(UnsureError) as caught:
        client.screen_out_submissions(STUDY, ["s-0"], Decimal("0.40"), more_places=False)
    assert caught.value.code == "other_amount_each"
    assert caught.value.values == {"amount": 4.0, "each": Decimal("0.40")}
    with pytest.raises(NotDoneError) as caught:
        client.screen_out_submissions(STUDY, ["../x"], Decimal("0.40"), more_places=False)
    assert (caught.value.code, caught.value.values) == ("bad_id", {"key": "../x"})


def test_parts_are_counted_in_what_it_costs(lakes):
    of = load_collection_status(lakes.collection).money
    # Three handed in at 2.00 and three parts of 0.40, with the fee: (6.00 + 1.20) x 1.25.
    assert (of.paid, of.parts, of.so_far) == (3, 3, Decimal("9.00"))
    stands(lakes, "p-4", "PARTIALLY APPROVED")
    of = load_collection_status(lakes.collection).money
    # One of the three gets 0.80 in place of 2.00: (4.00 + 0.80 + 1.20) x 1.25.
    assert (of.parts, of.so_far) == (4, Decimal("7.50"))
    confirmed()
    of = load_collection_status(lakes.collection).money
    # The other who failed the checks too: (2.00 + 1.60 + 1.20) x 1.25; six places are left.
    assert (of.parts, of.so_far, of.at_the_end) == (5, Decimal("6.00"), Decimal("21.00"))
    payments(cancel=True)
    of = load_collection_status(lakes.collection).money
    assert (of.parts, of.so_far) == (4, Decimal("7.50"))


def test_a_part_of_who_was_rejected_afterwards_costs_only_if_it_was_sent(lakes, rana):
    confirmed()
    of = lakes.submissions.get(worker__external_id="p-4")
    decide_on_submission(of, rana, "reject", "OTHER", REASON)
    found = load_collection_status(lakes.collection).money
    # p-5 whole, p-3 0.80 in place of it, three parts of 0.40: (2.00 + 0.80 + 1.20) x 1.25.
    assert (found.paid, found.parts, found.so_far) == (2, 4, Decimal("5.00"))
    BonusPayment.objects.create(
        payment=of.bonus_payments.first().payment, submission=of, event="sent",
        amount="0.80", currency="GBP", round=bonuses.PART,
    )  # fmt: skip
    found = load_collection_status(lakes.collection).money
    # It went out before: 0.80 x 1.25 = 1.00 more, and p-4 is one of those who are paid.
    assert (found.paid, found.parts, found.so_far) == (3, 5, Decimal("6.00"))


def test_parts_of_others_and_half_said_options_are_refused(lakes):
    for options, code in (
        ({"rule": "per-answer"}, "rule_or_round"),
        ({"round": "b"}, "rule_or_round"),
        ({"increase_places": True}, "increase_places"),
    ):
        with pytest.raises(CommandError) as refused:
            payments(**options)
        assert str(refused.value) == PARTS.text(code)
    assert parts.load_current_parts(lakes) == {}
