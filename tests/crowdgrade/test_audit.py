"""The audit log: each download of a signed-in user, and each decision, for operators."""

import csv
import io
import sqlite3
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from annotations.ledger import bonuses, decisions
from annotations.models import AuditEntry, ExportRead, Response, SignInEvent
from crowdgrade.audit.entries import LogFilter, build_decision_sources, read_decisions
from crowdgrade.audit.middleware import LineCounter
from crowdgrade.audit.views import KINDS, AuditFilterForm
from crowdgrade.models.tokens import create_token
from evaluation.deletion.storage import removals
from evaluation.models import Alarm, AlarmReview, Run, WorkerVerdict
from evaluation.models.runs import make_official
from tests.annotations import world as crowd

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(monkeypatch):
    """Rana's set about rivers with two answers of Ada; Ida is an operator."""
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    rana = crowd.user("rana", is_staff=True)
    ida = User.objects.create_superuser("ida")
    version = crowd.version(rana)
    submission = crowd.submission(version)
    for question, text in (("r1", 'north\nof the "hills"'), ("r2", "south")):
        crowd.response(submission, question, text)
    Response.objects.update(state="submitted")
    return SimpleNamespace(
        rana=rana, ida=ida, version=version, submission=submission, set=version.question_set
    )


def signed_in(user):
    client = Client()
    client.force_login(user)
    return client


def download(client, world, kind="csv"):
    address = reverse("admin:export-answers", args=[world.set.public_id, "answers"])
    return client.get(address, {"format": kind})


def test_a_download_from_a_page_is_stored_before_it_is_sent_and_counted_while_it_is(world):
    response = download(signed_in(world.rana), world)
    assert response.status_code == 200
    entry = ExportRead.objects.get()
    assert (entry.user, entry.interface, entry.address) == (
        world.rana, "page", "admin:export-answers"
    )  # fmt: skip
    assert (entry.set_id, entry.set_name, entry.run_id) == (world.set.public_id, "rivers", None)
    assert (entry.is_complete, entry.n_bytes, entry.lines) == (False, 0, None)
    content = response.getvalue()
    entry.refresh_from_db()
    # A heading and two answers, one of which has a line break within quotes.
    assert (entry.is_complete, entry.n_bytes, entry.lines) == (True, len(content), 3)
    assert entry.file.endswith(".csv")


def close(response, monkeypatch):
    """Close a response as the server does; the connection of the test stays open."""
    # The signal of the end closes connections in a transaction, also that of the test.
    with monkeypatch.context() as patched:
        patched.setattr(connection, "close_if_unusable_or_obsolete", lambda: None)
        response.close()


def test_a_download_over_rest_is_stored_with_its_interface(world, monkeypatch):
    _, token = create_token(world.rana, "night job", 1)
    client = APIClient()
    address = reverse("api:export-answers", args=[world.set.public_id])
    sent = client.get(address, {"format": "jsonl"}, headers={"Authorization": f"Bearer {token}"})
    assert sent.status_code == 200
    list(sent)
    close(sent, monkeypatch)
    entry = ExportRead.objects.get()
    assert (entry.user, entry.interface) == (world.rana, "rest")
    assert (entry.lines, entry.is_complete) == (2, True)


def test_a_client_that_goes_away_leaves_an_entry_that_is_not_complete(world, monkeypatch):
    response = download(signed_in(world.rana), world)
    next(iter(response))
    close(response, monkeypatch)
    assert ExportRead.objects.get().is_complete is False


def test_a_workbook_has_no_lines(world):
    response = download(signed_in(world.rana), world, "xlsx")
    n = len(response.getvalue())
    assert ExportRead.objects.values_list("lines", "n_bytes").get() == (None, n)


def test_pages_refused_downloads_and_heads_are_no_downloads(world):
    client = signed_in(world.rana)
    client.get(reverse("admin:question-set", args=[world.set.public_id]))
    client.head(reverse("admin:export-answers", args=[world.set.public_id, "answers"]))
    assert download(signed_in(crowd.user("otto", is_staff=True)), world).status_code == 404
    assert ExportRead.objects.count() == 0


def test_without_its_entry_no_file_is_sent(world, monkeypatch):
    def refuse(*args, **kwargs):
        cause = sqlite3.OperationalError("database is locked")
        cause.sqlite_errorcode = sqlite3.SQLITE_BUSY
        raise OperationalError("database is locked") from cause

    client = signed_in(world.rana)
    monkeypatch.setattr(ExportRead, "save", refuse)
    refused = download(client, world)
    assert refused.status_code == 503
    assert b"north" not in refused.content


def test_an_entry_outlives_its_set(world):
    download(signed_in(world.rana), world).getvalue()
    public_id = world.set.public_id
    world.set.delete()
    assert ExportRead.objects.get().set_id == public_id


@pytest.mark.parametrize(
    ("parts", "lines"),
    [
        ([b""], 0),
        ([b"a,b\r\n"], 1),
        ([b"a,b\r\n1,2"], 2),
        ([b'a\r\n"1', b"\n", b'2"\r\n', b"3\r\n"], 3),
        ([b'a\n"say ""no', b'""\n"\n'], 2),
    ],
)
def test_lines_are_counted_over_parts_and_not_within_quotes(parts, lines):
    counter = LineCounter()
    for part in parts:
        counter.add_part(part)
    assert counter.lines == lines


def test_old_entries_are_deleted_after_the_days_that_the_operator_set(world, settings):
    settings.EXPORT_LOG_DAYS = 10
    client = signed_in(world.rana)
    for _ in range(2):
        download(client, world).getvalue()
    first = ExportRead.objects.order_by("pk").first()
    ExportRead.objects.filter(pk=first.pk).update(
        created_at=timezone.now() - timedelta(days=10, minutes=1)
    )
    assert removals.delete_expired()["downloads"] == 1
    assert first not in ExportRead.objects.all()
    assert ExportRead.objects.count() == 1


@pytest.mark.parametrize("model", [ExportRead, SignInEvent])
def test_a_log_is_kept_for_365_days_and_not_a_moment_longer(world, monkeypatch, settings, model):
    assert settings.EXPORT_LOG_DAYS == 365
    now = datetime(2026, 11, 29, 9, 30, tzinfo=UTC)
    monkeypatch.setattr(removals.timezone, "now", lambda: now)
    # 2026-11-29 less 365 days is 2025-11-29: no leap day is between them.
    last = datetime(2025, 11, 29, 9, 30, tzinfo=UTC)
    moments = {
        "364 days": datetime(2025, 11, 30, 9, 30, tzinfo=UTC),
        "365 days": last,
        "365 days and a microsecond": last - timedelta(microseconds=1),
        "366 days": datetime(2025, 11, 28, 9, 30, tzinfo=UTC),
    }
    rows = {}
    for label, moment in moments.items():
        values = {"event": "failed"} if model is SignInEvent else {"user": world.rana}
        row = model.objects.create(**values)
        model.objects.filter(pk=row.pk).update(created_at=moment)
        rows[label] = row.pk
    kind = "sign_ins" if model is SignInEvent else "downloads"
    assert removals.delete_expired() == {"events": 0, "downloads": 0, "sign_ins": 0, kind: 2}
    left = set(model.objects.values_list("pk", flat=True))
    assert left == {rows["364 days"], rows["365 days"]}
    assert removals.delete_expired()[kind] == 0


@pytest.fixture
def decided(world):
    """One decision of each kind, by Rana."""
    decisions.decide_on_submission(world.submission, world.rana, "approve")
    bonuses.plan_bonuses(world.version, {world.submission.pk: Decimal(1)}, world.rana, "bonus")
    run = Run.objects.create(
        owner=world.rana, version=world.version, state="done", finished_at=timezone.now()
    )
    WorkerVerdict.objects.create(
        question_set=world.set, worker=world.submission.worker, kind="exclude",
        category="low_effort", reason="they wrote: north", decided_by=world.rana,
    )  # fmt: skip
    alarm = Alarm.objects.create(run=run, place=0, kind="copies", severity="alarm", message={})
    AlarmReview.objects.create(
        alarm=alarm, state="dismissed", note="they wrote: north", reviewed_by=world.rana
    )
    make_official(run, world.rana)
    removals.archive_object(run, world.rana.pk)
    return run


def test_each_kind_of_decision_is_an_entry_without_its_reason(world, decided):
    entries = list(read_decisions(LogFilter()))
    assert {entry.kind for entry in entries} == set(build_decision_sources()) == set(KINDS)
    assert [entry.at for entry in entries] == sorted((e.at for e in entries), reverse=True)
    assert not [entry for entry in entries if "north" in str(entry)]
    found = {(entry.kind, entry.choice, entry.set_name, entry.subject) for entry in entries}
    assert ("worker_decision", "exclude", "rivers", "ada") in found
    assert ("alarm_review", "dismissed", "rivers", "copies") in found
    assert ("payment_decision", "approve", "rivers", "ada") in found
    assert {e.user for e in entries} == {"rana"}
    assert any(kind == "official_run" and choice == "chosen" for kind, choice, _, _ in found)
    assert any(kind == "payment" and choice.startswith("proposed 1") for kind, choice, *_ in found)
    (action,) = [entry for entry in entries if entry.kind == "action"]
    assert action.subject.replace("-", "").endswith(AuditEntry.objects.get().object_id.hex)


def test_decisions_are_filtered_by_user_set_days_and_kind(world, decided):
    everything = len(list(read_decisions(LogFilter())))
    tomorrow = (timezone.now() + timedelta(days=1)).date()
    yesterday = (timezone.now() - timedelta(days=1)).date()

    def count(kind="", **wanted):
        return len(list(read_decisions(LogFilter(**wanted), kind)))

    assert count(user="rana", name="RIVER", since=yesterday, until=tomorrow) == everything
    assert count(user="ran") == count(name="lakes") == 0
    assert count(since=tomorrow) == count(until=yesterday) == 0
    assert count("alarm_review") == 1


def rows_of(response):
    return list(csv.DictReader(io.StringIO(response.getvalue().decode("utf-8-sig"))))


def test_an_operator_reads_both_logs_and_downloads_them(world, decided):
    download(signed_in(world.rana), world).getvalue()
    client = signed_in(world.ida)
    exports, choices = reverse("admin:audit-exports"), reverse("admin:audit-decisions")
    page = client.get(exports)
    assert [entry.user for entry in page.context_data["entries"]] == [world.rana]
    (row,) = rows_of(client.get(exports, {"format": "csv", "user": "rana"}))
    assert (row["user"], row["interface"], row["set"], row["lines"], row["complete"]) == (
        *("rana", "page", "rivers", "3"),
        "yes",
    )
    # That the log was downloaded is in the log.
    assert set(ExportRead.objects.values_list("user__username", "address")) == {
        ("rana", "admin:export-answers"),
        ("ida", "admin:audit-exports"),
    }
    shown = client.get(choices, {"kind": "alarm_review"}).context_data["entries"]
    assert [entry.choice for entry in shown] == ["dismissed"]
    assert {row["kind"] for row in rows_of(client.get(choices, {"format": "csv"}))} == set(KINDS)


@pytest.fixture
def sign_ins(world):
    """Rana signed in and failed, a stranger failed, and a name looks like a formula."""
    world.rana.set_password("right battery 9")
    world.rana.save()
    tricky = crowd.user("@sum(1)")
    for name, password in (("rana", "right battery 9"), ("rana", "wrong"), ("nobody", "wrong")):
        sent = {"username": name, "password": password}
        Client(REMOTE_ADDR="203.0.113.7").post(reverse("admin:login"), sent)
    SignInEvent.objects.create(event="refused", user=tricky, name="@sum(1)", detail="group")


def test_an_operator_downloads_the_sign_ins_and_that_is_in_the_log_of_downloads(world, sign_ins):
    client = signed_in(world.ida)
    SignInEvent.objects.filter(name="ida").delete()
    address = reverse("admin:audit-sign-ins")
    response = client.get(address, {"format": "csv"})
    assert response.status_code == 200
    # Stored before the first byte is read, complete after the last one.
    entry = ExportRead.objects.get()
    assert (entry.user, entry.interface, entry.address, entry.is_complete) == (
        *(world.ida, "page", "admin:audit-sign-ins"),
        False,
    )
    content = response.getvalue()
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
    # Newest first: a refusal, two wrong passwords (one without an account), one sign-in.
    assert [(row["event"], row["detail"], row["address"]) for row in rows] == [
        ("refused", "group", ""),
        ("failed", "password", "203.0.113.7"),
        ("failed", "password", "203.0.113.7"),
        ("signed_in", "password", "203.0.113.7"),
    ]
    # A name that a spreadsheet would compute is defused.
    assert [row["user"] for row in rows] == ["'@sum(1)", "", "rana", "rana"]
    entry.refresh_from_db()
    # A heading and four entries.
    assert (entry.is_complete, entry.lines, entry.n_bytes) == (True, 5, len(content))
    assert entry.file.startswith("audit-sign-ins")
    assert entry.file.endswith(".csv")
    assert (entry.set_id, entry.run_id) == (None, None)
    # And the download of that log is in itself.
    exports = rows_of(client.get(reverse("admin:audit-exports"), {"format": "csv"}))
    assert [row["address"] for row in exports] == ["admin:audit-exports", "admin:audit-sign-ins"]


def test_sign_ins_are_filtered_on_the_page_and_in_the_file(world, sign_ins):
    client = signed_in(world.ida)
    address = reverse("admin:audit-sign-ins")

    def count(**wanted):
        shown = client.get(address, wanted).context_data["entries"]
        rows = rows_of(client.get(address, {**wanted, "format": "csv"}))
        assert len(shown) == len(rows)
        return len(rows)

    assert count(user="rana") == 2
    assert count(event="failed") == 2
    assert count(user="rana", event="failed") == 1
    tomorrow = (timezone.now() + timedelta(days=1)).date()
    assert count(since=str(tomorrow)) == 0
    assert count(until=str(tomorrow), user="rana") == 2


def test_sign_ins_are_sent_to_nobody_without_the_entry_of_the_download(
    world, sign_ins, monkeypatch
):
    def refuse(*args, **kwargs):
        cause = sqlite3.OperationalError("database is locked")
        cause.sqlite_errorcode = sqlite3.SQLITE_BUSY
        raise OperationalError("database is locked") from cause

    client = signed_in(world.ida)
    monkeypatch.setattr(ExportRead, "save", refuse)
    refused = client.get(reverse("admin:audit-sign-ins"), {"format": "csv"})
    assert refused.status_code == 503
    assert b"203.0.113.7" not in refused.content


@pytest.mark.parametrize("name", ["audit-exports", "audit-decisions", "audit-sign-ins"])
def test_the_log_is_for_operators_and_says_why_it_is_empty(world, name):
    address = reverse(f"admin:{name}")
    assert signed_in(world.rana).get(address).status_code == 403
    client = signed_in(world.ida)
    SignInEvent.objects.all().delete()
    assert 'data-state="empty"' in client.get(address).content.decode()
    assert 'data-state="nothing_fits"' in client.get(address, {"user": "x"}).content.decode()
    wrong = client.get(address, {"since": "soon"})
    assert wrong.status_code == 400
    assert list(wrong.context_data["form"].errors) == ["since"]
    assert 'data-state="not_searched"' in wrong.content.decode()
    assert client.get(address, {"since": "soon", "format": "csv"}).status_code == 400


def test_a_date_field_holds_no_text_that_is_no_date():
    form = AuditFilterForm({"since": "soon", "until": "2026-11-29"})
    assert not form.is_valid()
    assert 'value="2026-11-29"' in str(form["until"])
    assert "soon" not in str(form["since"])
