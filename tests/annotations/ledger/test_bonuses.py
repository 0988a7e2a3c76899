"""Bonuses: planned, confirmed by a person, sent at most once, settled by what the panel says."""

import csv
from decimal import Decimal
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from annotations.exchange import InputError
from annotations.exchange.sentences import AMOUNTS
from annotations.ledger import bonuses, errors, tallies
from annotations.ledger.panel_lists import FORMATS, ListRequest
from annotations.ledger.sentences import DECISIONS, LISTS, PAYMENTS
from annotations.models import BonusPayment, Decision
from annotations.models import Collection as Collecting
from annotations.panels.sentences import REPORTS
from tests.annotations import world
from tests.annotations.ledger.paying import PEOPLE, STEPS, Panel, planned, press, stopping_note

pytestmark = pytest.mark.django_db

BONUSES = FORMATS["prolific-bonus"]
HEADER = "worker,decision,category,reason,bonus\n"


@pytest.fixture
def rana():
    return world.user("rana", is_staff=True)


@pytest.fixture
def rivers(rana):
    version = world.version(rana)
    for name in ("ada", "ben", "=cy,1"):
        world.submission(version, name)
    return version


@pytest.fixture
def run(tmp_path):
    def say(command, *arguments, **options):
        out = StringIO()
        call_command(command, "rivers", *arguments, stdout=out, **options)
        return out.getvalue()

    def decide(text, **options):
        path = tmp_path / "decisions.csv"
        path.write_text(HEADER + text)
        return say("decide", file=path, by="rana", **options)

    def export(**options):
        path = tmp_path / "bonuses.csv"
        said = say("export_decisions", format="prolific-bonus", output=path, **options)
        return path.read_text(), said

    def refused(call, *arguments, **options):
        before = (Decision.objects.count(), BonusPayment.objects.count())
        with pytest.raises(CommandError) as caught:
            call(*arguments, **options)
        assert caught.value.returncode == 2
        assert (Decision.objects.count(), BonusPayment.objects.count()) == before
        return str(caught.value)

    say.decide, say.export, say.refused = decide, export, refused
    return say


def out_of_range(amount):
    return AMOUNTS.text("out_of_range", amount=amount, least="0.01", most=10_000)


def not_an_amount(text):
    return AMOUNTS.text("not_an_amount", text=text)


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("0", out_of_range("0.00")),
        ("-1", not_an_amount("-1")),
        ("1e9", not_an_amount("1e9")),
        ("1000000000", out_of_range("1000000000.00")),
        ("0.005", not_an_amount("0.005")),
        ('"1,50"', not_an_amount("1,50")),
        ("=1+1", not_an_amount("=1+1")),
        ("NaN", not_an_amount("NaN")),
        ("١", not_an_amount("١")),
    ],
)
def test_an_amount_that_is_none_keeps_nothing_of_the_file(rivers, run, cell, said):
    message = run.refused(run.decide, f"ada,approve,,,0.50\nben,approve,,,{cell}\n")
    assert f"decisions.csv, line 3, column bonus: {said}" in message


def test_an_amount_under_a_heading_in_capitals_is_not_read_over(rivers, run, tmp_path):
    path = tmp_path / "capitals.csv"
    path.write_text("Worker,Decision,Category,Reason,Bonus\nada,approve,,,0.50\n")
    run("decide", file=path, by="rana")
    assert run.export()[0] == "ada,0.50\n"


@pytest.mark.parametrize(
    "heading", ["Bonus (GBP)", "bonuses", "bonus amount", "AMOUNT", "Extra pay", "payment"]
)
def test_an_amount_under_a_heading_that_is_not_read_is_refused(rivers, run, tmp_path, heading):
    path = tmp_path / "headings.csv"
    path.write_text(f"worker,decision,{heading}\nada,approve,\nben,approve,0.50\n=cy,open,1\n")
    said = run.refused(run, "decide", file=path, by="rana")
    assert f"headings.csv, line 3, column {heading}: 2 rows" in said
    assert not BonusPayment.objects.exists()
    path.write_text(f"worker,decision,{heading}\nada,approve,\nben,approve, \n")
    said = run("decide", file=path, by="rana")
    warning = REPORTS.text("columns_left_out", names=[heading])
    assert REPORTS.text("warning", warning=warning) in said


@pytest.mark.parametrize(
    ("heading", "cell"),
    [
        ("bonus,Payment method", "1.00,PayPal"),
        ("bonus,Total pay", "1.00,3.00"),
        ("amount of text", "little"),
        ("Repayment of travel", "4"),
    ],
)
def test_what_is_no_bonus_by_its_heading_or_cell_is_told_and_not_refused(
    rivers, run, tmp_path, heading, cell
):
    path = tmp_path / "headings.csv"
    path.write_text(f"worker,decision,{heading}\nada,approve,{cell}\n")
    said = run("decide", file=path, by="rana")
    assert REPORTS.text("columns_left_out", names=[heading.rpartition(",")[2]]) in said


def in_file(**counts):
    return DECISIONS.text("bonuses_in_file", **counts)


def test_amounts_of_a_file_are_confirmed_by_who_decides_and_listed_once(rivers, run):
    said = run.decide('ada,approve,,,1.5\nben,approve,,,\n"=cy,1",approve,,,0.25\n')
    # 1.50 + 0.25 = 1.75
    assert in_file(n=2, total="1.75", n_new=2, n_known=0) in said
    again = run.decide('ada,approve,,,1.50\n"=cy,1",approve,,,0.25\n')
    assert in_file(n=2, total="1.75", n_new=0, n_known=2) in again
    text, said = run.export(by="rana")
    assert list(csv.reader(StringIO(text))) == [
        ["ada", "1.50"],
        ["'=cy',1".replace("',", ","), "0.25"],
    ]
    assert LISTS.text("payments", n=2, noun="bonuses", total="1.75", currency="") in said
    batch = said.split("list ")[1].split()[0]
    message = run.refused(run.export)
    assert f"--batch {batch}" in message
    assert run.export(batch=batch)[0] == text
    assert "sent: 2, 1.75 in all" in run("payments")


def test_another_amount_in_the_same_round_is_refused_until_it_is_cancelled(rivers, run):
    run.decide("ada,approve,,,1.00\n")
    message = run.refused(run.decide, "ben,approve,,,1.00\nada,approve,,,2.00\n")
    before = {"name": "ada", "amount": "1.00", "round": "bonus", "state": "confirmed"}
    assert f"line 3, column bonus: {PAYMENTS.text('other_amount', **before)}" in message
    run.decide("ada,approve,,,2.00\n", round="second wave")
    assert "1 cancelled" in run("payments", cancel=True, by="rana", round="bonus")
    run.decide("ada,approve,,,3.00\n")
    # The cancelled 1.00 is in no list; 2.00 and 3.00 are two rounds.
    assert run.export()[0] == "ada,2.00\nada,3.00\n"
    assert "0 cancelled" in run("payments", cancel=True, by="rana")  # they are sent


def test_a_dry_run_confirms_nothing(rivers, run):
    said = run.decide("ada,approve,,,1.00\n", dry_run=True)
    assert in_file(n=1, total="1.00", n_new=1, n_known=0) in said
    assert REPORTS.text("dry_run") in said
    assert not BonusPayment.objects.exists()


def test_what_is_planned_is_paid_only_when_a_person_confirms(rivers, rana, run):
    ada = rivers.submissions.get(worker__external_id="ada")
    assert bonuses.plan_bonuses(rivers, {ada.pk: Decimal("0.40")}, rana) == 1
    assert bonuses.plan_bonuses(rivers, {ada.pk: Decimal("0.40")}, rana) == 0
    listed, said = run.export()
    assert listed == ""
    assert LISTS.text("not_confirmed", n=1) in said
    assert "--by" in run.refused(run, "payments", confirm=True)
    assert "1 confirmed, 0.40 in all" in run("payments", confirm=True, by="rana")
    assert "0 confirmed" in run("payments", confirm=True, by="rana")
    assert run.export()[0] == "ada,0.40\n"


def test_what_the_panel_said_is_kept_and_never_turned_round(rivers, run, tmp_path):
    run.decide("ada,approve,,,1.00\nben,approve,,,2.00\n")
    run.export()
    table = tmp_path / "payments.csv"
    run("payments", output=table)
    rows = list(csv.DictReader(table.read_text("utf-8-sig").splitlines()))
    assert [(row["worker"], row["state"], row["confirmed_by"]) for row in rows] == [
        ("ada", "sent", "rana"), ("ben", "sent", "rana"),
    ]  # fmt: skip
    told = tmp_path / "told.csv"
    told.write_text(
        f"payment,state,reference\n{rows[0]['payment']},paid,P-1\n{rows[1]['payment']},sent,\n"
    )
    unknown = uuid4()
    assert "1 settled, 0 were so already" in run("payments", settle=told, by="rana")
    said = run("payments", settle=told, by="rana")
    assert "0 settled, 1 were so already" in said
    assert "sent: 1, 2.00 in all" in said
    assert "settled: 1, 1.00 in all" in said
    told.write_text(f"payment,state\n{rows[1]['payment']},failed\n{rows[0]['payment']},failed\n")
    message = run.refused(run, "payments", settle=told, by="rana")
    otherwise = {"payment": rows[0]["payment"], "state": "settled", "event": "failed"}
    assert message == PAYMENTS.text("settled_otherwise", **otherwise)
    told.write_text("payment,state\nx,paid\n" + f"{rows[0]['payment']},lost\n")
    message = run.refused(run, "payments", settle=told, by="rana")
    assert "line 2, column payment: 'x'" in message
    assert "line 3, column state: 'lost'" in message
    told.write_text(f"payment,state\n{rows[1]['payment']},paid\n{unknown},paid\n")
    message = run.refused(run, "payments", settle=told, by="rana")
    no_payment = PAYMENTS.text("no_payment", payment=unknown)
    assert f"told.csv, line 3, column payment: {no_payment}" in message
    told.write_text("payment,state\n")
    assert run.refused(run, "payments", settle=told, by="rana").startswith("told.csv: ")


@pytest.mark.parametrize("act", ["confirm", "cancel", "settle", "send", "output"])
def test_what_cannot_be_tried_is_not_done_in_its_place(rivers, rana, run, tmp_path, act):
    ada = rivers.submissions.get(worker__external_id="ada")
    bonuses.plan_bonuses(rivers, {ada.pk: Decimal("0.40")}, rana)
    table = tmp_path / "table.csv"
    given = {act: table if act in ("settle", "output") else True}
    message = run.refused(run, "payments", dry_run=True, by="rana", **given)
    assert message.startswith(f"--{act} ")
    assert "--dry-run" in message
    assert not table.exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"amount": Decimal(1)}, "--amount goes with --rule."),
        ({"share": 0.2}, "--share goes with --rule quantile."),
        ({"at_least": 0.5}, "--at-least goes with --rule threshold."),
        ({"base_pay": Decimal(1)}, "--base-pay goes with --rule."),
        ({"rule": "per-answer", "amount": Decimal(1), "share": 0.2}, "--share goes with --rule q"),
        ({"rule": "quantile", "amount": Decimal(1), "share": 0.2, "at_least": 0.5}, "--at-least"),
        ({"confirm": True, "total": Decimal(1)}, "--total "),
    ],
)
def test_an_option_that_would_be_read_over_is_refused(rivers, run, given, said):
    assert said in run.refused(run, "payments", by="rana", **given)


def test_a_failed_bonus_can_be_planned_anew_and_a_sent_one_cannot(rivers, rana):
    ada = rivers.submissions.get(worker__external_id="ada")
    amount = {ada.pk: Decimal(1)}
    bonuses.plan_bonuses(rivers, amount, rana)
    bonuses.confirm_payments(rivers, rana)
    batch = bonuses.claim_payments(rivers, rana)
    assert bonuses.plan_bonuses(rivers, amount, rana) == 0
    bonuses.store_panel_reports(rivers, rana, {batch.payments[0].id: (bonuses.Event.FAILED, "")})
    assert bonuses.plan_bonuses(rivers, amount, rana) == 1
    assert [one.attempt for one in bonuses.load_payments(rivers)] == [1, 2]
    bonuses.confirm_payments(rivers, rana)
    second = bonuses.claim_payments(rivers, rana)
    bonuses.store_panel_reports(rivers, rana, {second.payments[0].id: (bonuses.Event.PAID, "")})
    entries = BonusPayment.objects.filter(payment=second.payments[0].id).order_by("pk")
    assert [(one.event, one.attempt) for one in entries] == [
        *(("proposed", 2), ("confirmed", 2), ("sent", 2), ("paid", 2)),
    ]
    by_list = tallies.group_by_list(bonuses.load_payments(rivers))
    assert {key: tally.total for key, tally in by_list.items()} == {batch.id: 1, second.id: 1}


def test_a_round_has_a_name_of_at_most_60_characters_that_is_not_that_of_parts():
    assert bonuses.validate_bonus_round(f" {'x' * 60} ") == "x" * 60
    for name, code in (
        ("", "round_too_long"),
        ("x" * 61, "round_too_long"),
        (bonuses.PART, "round_of_parts"),
    ):
        with pytest.raises(errors.RoundError) as caught:
            bonuses.validate_bonus_round(name)
        assert caught.value.code == code


def test_of_two_who_take_a_list_at_the_same_moment_one_gets_it(rivers, rana):
    (ada,) = keys(rivers, "ada")
    bonuses.plan_bonuses(rivers, {ada: Decimal(1)}, rana)
    bonuses.confirm_payments(rivers, rana)
    (first, _), (second, _) = (BONUSES(rivers, ListRequest(user=rana)) for _ in range(2))
    assert b"ada,1.00" in b"".join(first)
    with pytest.raises(InputError) as caught:
        list(second)
    assert caught.value.problems[0].reason == LISTS.text("taken_meanwhile")


def test_the_database_refuses_two_plans_of_one_round_and_two_sendings(rivers, rana):
    ada = rivers.submissions.get(worker__external_id="ada")
    bonuses.plan_bonuses(rivers, {ada.pk: Decimal(1)}, rana)
    (one,) = bonuses.load_payments(rivers)
    with pytest.raises(IntegrityError), transaction.atomic():
        BonusPayment.objects.create(
            submission=ada, event="proposed", amount=2, currency="", actor=rana
        )
    bonuses.add_payment_event([one], bonuses.Event.SENT, rana)
    with pytest.raises(IntegrityError), transaction.atomic():
        bonuses.add_payment_event([one], bonuses.Event.SENT, rana)


class PowerError(BaseException):
    """Nobody catches it, as nobody catches a kill."""


def cut():
    raise PowerError


@pytest.mark.parametrize("step", STEPS)
def test_an_interruption_at_any_step_never_pays_twice(rana, tmp_path, monkeypatch, step):
    version = planned(rana, "lakes")
    panel = Panel(tmp_path / "panel", step, cut)

    def work():
        panel.at("before the claim")
        press(version, rana, panel)
        panel.at("stored")

    with monkeypatch.context() as patched:
        patched.setattr(
            bonuses, "add_payment_event", stopping_note(bonuses.add_payment_event, panel)
        )
        with pytest.raises(PowerError):
            work()
    for _ in range(3):
        press(version, rana, Panel(tmp_path / "panel"))
    assert max(panel.paid.values(), default=0) <= 1
    before_the_panel = step in ("before the claim", "claim not stored")
    # Before the claim is stored nobody was asked, so the next press pays all four.
    if before_the_panel or step in ("paid", "paid not stored", "stored"):
        assert len(panel.paid) == PEOPLE
    else:
        assert len(panel.paid) == {"claimed": 0, "half paid": 2}[step]


def test_a_request_that_times_out_is_unknown_and_never_repeated(rana, tmp_path):
    version = planned(rana, "lakes")

    class Slow(Panel):
        def pay_batch(self, batch):
            super().pay_batch(batch)
            raise TimeoutError("no answer")

    with pytest.raises(TimeoutError):
        bonuses.claim_and_pay(version, rana, Slow(tmp_path / "panel"))
    assert {one.state for one in bonuses.load_payments(version)} == {"unknown"}
    assert press(version, rana, Panel(tmp_path / "panel")) == "nothing"
    assert sorted(Panel(tmp_path / "panel").paid.values()) == [1] * PEOPLE


def test_what_the_panel_refused_has_failed(rana, tmp_path):
    version = planned(rana, "lakes")

    class Strict:
        def pay_batch(self, batch):
            raise errors.PanelRefusedError("refused_by_panel", reason="no money")

    with pytest.raises(errors.PanelRefusedError):
        bonuses.claim_and_pay(version, rana, Strict())
    assert {one.state for one in bonuses.load_payments(version)} == {"failed"}


def test_the_currency_is_that_of_the_collection(rivers, rana, run):
    from annotations.answering import collecting

    collecting.publish_question_set(rivers.question_set, places=5, pay=Decimal(2), currency="GBP")
    run.decide("ada,approve,,,1.00\n")
    assert BonusPayment.objects.filter(currency="GBP").count() == 2  # proposed and confirmed


def test_people_of_mechanical_turk_in_a_list_for_prolific_are_told(run, rivers, rana):
    world.submission(rivers, "dan", panel="MTurk")
    run.decide("ada,approve,,,1.50\n")
    lines, said = run.export()
    assert lines == "ada,1.50\n"
    assert "Mechanical Turk" not in said
    run.decide("ben,approve,,,1.50\ndan,approve,,,1.50\n")
    lines, said = run.export()
    assert lines == "ben,1.50\ndan,1.50\n"
    assert LISTS.text("of_mturk", n=1) in said


@pytest.fixture
def paid_in(rivers):
    """Sets the currency in which the people of rivers are paid."""
    Collecting.objects.create(version=rivers, places=3, currency="GBP")

    def change(currency):
        Collecting.objects.filter(version=rivers).update(currency=currency)

    return change


def keys(version, *names):
    found = dict(version.submissions.values_list("worker__external_id", "pk"))
    return [found[name] for name in names]


def test_a_round_has_one_currency_until_its_payments_are_cancelled(rivers, rana, paid_in):
    ada, ben = keys(rivers, "ada", "ben")
    bonuses.plan_bonuses(rivers, {ada: Decimal(3)}, rana)
    paid_in("JPY")
    with pytest.raises(errors.CurrencyError) as caught:
        bonuses.plan_bonuses(rivers, {ben: Decimal(3)}, rana)
    assert caught.value.code == "other_currency"
    assert caught.value.values == {"round": "bonus", "there": "GBP", "now": "JPY"}
    assert BonusPayment.objects.count() == 1
    bonuses.cancel_payments(rivers, rana)
    assert bonuses.plan_bonuses(rivers, {ada: Decimal(3), ben: Decimal(3)}, rana) == 2
    assert {one.currency for one in bonuses.load_payments(rivers) if one.state == "planned"} == {
        "JPY"
    }


def test_rounds_of_two_currencies_are_never_confirmed_or_sent_as_one_sum(rivers, rana, paid_in):
    ada, ben = keys(rivers, "ada", "ben")
    bonuses.plan_bonuses(rivers, {ada: Decimal(3)}, rana, "first")
    paid_in("JPY")
    bonuses.plan_bonuses(rivers, {ben: Decimal(4)}, rana, "second")
    for act in (bonuses.confirm_payments, bonuses.claim_payments):
        with pytest.raises(errors.CurrencyError) as caught:
            act(rivers, rana)
        assert caught.value.values == {"currencies": "GBP, JPY"}
        for name in ("first", "second"):
            bonuses.confirm_payments(rivers, rana, name)
    assert [one.currency for one in tallies.group_by_round(bonuses.load_payments(rivers))] == [
        "GBP",
        "JPY",
    ]
    assert bonuses.claim_payments(rivers, rana, "first").total == 3


def test_a_file_and_a_list_of_two_currencies_are_refused(rivers, run, paid_in):
    sums = {"n": 1, "total": "0.50 GBP", "n_new": 1, "n_known": 0}
    assert DECISIONS.text("bonuses_in_file", **sums) in run.decide("ada,approve,,,0.50\n")
    paid_in("JPY")
    assert "GBP" in run.refused(run.decide, "ben,approve,,,0.50\n")
    run.decide("ben,approve,,,0.50\n", round="second")
    assert "GBP, JPY" in run.refused(run.export, by="rana")
