"""Prolific's interface: read again until it answers, written to once; against a fake."""

import json
from datetime import timedelta
from io import StringIO

import pytest
import tenacity
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command

from annotations.exchange.reading.panel_statuses import read_statuses
from annotations.ledger.sentences import SENDING
from annotations.models import PanelStatus
from annotations.panels import client as panel
from annotations.panels.prolific import UNVERIFIED, Prolific, RetryLimits
from annotations.panels.sentences import REPORTS
from tests.annotations import world
from tests.annotations.panels.prolific_fake import STUDY, TOKEN

REASON = "Both answers say only that rivers are wet whatever was asked of them. " + "." * 40


def read(client):
    return read_statuses(client.load_statuses(STUDY)).rows


def test_all_pages_are_read_though_the_panel_gives_20_a_page(fake, client):
    fake.add(45)
    rows = read(client)
    # 20 + 20 + 5, though 100 a page were asked for.
    assert [row.submission for row in rows] == [f"s-{i}" for i in range(45)]
    assert len(fake.asked("GET", "submissions/")) == 3
    assert (rows[0].participant, rows[0].status, rows[0].seconds) == ("p-0", "AWAITING REVIEW", 600)
    assert (rows[0].code, rows[0].study) == ("DONE1", STUDY)
    begun, ended = rows[0].started_at, rows[0].completed_at
    assert (begun.isoformat(), ended - begun) == (
        "2026-11-20T10:00:00+00:00",
        timedelta(minutes=10),
    )


def test_without_links_it_goes_on_until_all_that_were_counted_are_there(fake, client):
    fake.add(40)
    fake.links = False
    assert len(read(client)) == 40
    assert len(fake.asked("GET")) == 2


def test_a_list_from_which_some_are_missing_is_refused_whole(fake, client):
    fake.add(20)
    fake.count = 25
    with pytest.raises(panel.UnsureError) as caught:
        client.load_statuses(STUDY)
    assert (caught.value.code, caught.value.values) == ("list_changed", {"n": 25, "n_given": 20})


@pytest.mark.parametrize(
    "what",
    [
        *((429, {}, {"Retry-After": "0"}), (429, {}), (500, b"<html>oops"), (503, {})),
        *("silence", "cut"),
    ],
)  # fmt: skip
def test_what_is_only_read_is_asked_again(fake, client, what):
    fake.add(3)
    fake.fault("GET", "submissions/", what)
    assert len(read(client)) == 3
    assert len(fake.asked("GET")) == 2


def test_a_retry_after_that_is_too_long_ends_it_at_once(fake, client):
    fake.fault("GET", "submissions/", (429, {}, {"Retry-After": "3600"}))
    with pytest.raises(panel.NotDoneError) as caught:
        client.load_statuses(STUDY)
    assert (caught.value.code, caught.value.values) == ("asked_too_often", {"wait": 3600})
    assert len(fake.asked("GET")) == 1


def test_it_waits_twice_as_long_each_time_or_as_long_as_it_is_asked_to(fake, monkeypatch):
    waits = []
    monkeypatch.setattr(tenacity.nap.time, "sleep", waits.append)
    again = [(503, {}), (503, {}), (503, {}), (503, {}, {"Retry-After": "3"}), (503, {})]
    for what in again:
        fake.fault("GET", "studies/", what)
    Prolific(patience=RetryLimits(attempts=6, first_wait=1.0, longest_wait=5.0)).load_study(STUDY)
    # 2^0, 2^1, 2^2 seconds, what the answer says, and at most 5 in place of 2^4.
    assert waits == [1, 2, 4, 3, 5]


def test_the_link_to_the_next_page_goes_before_the_count(fake, client):
    fake.add(2)
    first, second = fake.submissions
    following = {"next": {"href": "/api/v1/submissions/?page=2"}}
    for page in (
        {"results": [first], "_links": following, "meta": {"count": 1}},
        {"results": [second], "_links": {"next": {"href": None}}},
    ):
        fake.fault("GET", "submissions/", (200, page))
    assert [row.submission for row in read(client)] == ["s-0", "s-1"]


def test_a_refusal_says_its_status_and_why_and_a_group_without_an_id_is_unsure(fake, client):
    fake.fault("POST", "", (402, b"no money"))
    with pytest.raises(panel.NotDoneError) as caught:
        WRITES["pay"](client)
    assert (caught.value.code, caught.value.values) == (
        "refused",
        {"status": 402, "reason": "no money"},
    )
    fake.fault("POST", "", (201, {"name": "good"}))
    with pytest.raises(panel.UnsureError) as caught:
        WRITES["group"](client)
    assert caught.value.code == "no_group_id"


def test_it_gives_up_after_its_attempts(fake, client):
    for _ in range(9):
        fake.fault("GET", "studies/", (502, {}))
    with pytest.raises(panel.UnsureError) as caught:
        client.load_study(STUDY)
    assert (caught.value.code, caught.value.values) == ("failed", {"status": 502})
    assert len(fake.asked("GET")) == 4


def test_a_study_is_read_with_its_pay_in_hundredths(fake, client):
    assert client.load_study(STUDY) == panel.Study(STUDY, "Rivers", "ACTIVE", 150, "GBP")
    # Another currency is told to people than the account pays in, or only the latter is there.
    told = {"presentment_currency_code": "EUR", "currency_code": "GBP"}
    for currency in ("EUR", "GBP"):
        fake.fault("GET", "studies/", (200, dict(told)))
        assert client.load_study(STUDY) == panel.Study(STUDY, "", "", None, currency)
        told.pop("presentment_currency_code", None)


def test_keys_of_older_answers_are_read_and_a_count_that_is_none_is_not(fake, client):
    fake.add(2)
    fake.links = False
    for one in fake.submissions:
        one["participant"] = one.pop("participant_id")
        one["entered_code"], one["study_id"] = "DONE2", "another"
    fake.fault("GET", "submissions/", (200, {"results": fake.submissions, "meta": [2]}))
    fake.fault("GET", "submissions/", (200, {"results": [], "meta": {"count": "2"}}))
    rows = read(client)
    assert [(row.participant, row.code, row.study) for row in rows] == [
        ("p-0", "DONE2", "another"),
        ("p-1", "DONE2", "another"),
    ]
    for what, code in (({"results": {}}, "no_list"), ([], "other_answer")):
        fake.fault("GET", "submissions/", (200, what))
        with pytest.raises(panel.UnsureError) as caught:
            client.load_statuses(STUDY)
        assert caught.value.code == code


WRITES = {
    "approve": lambda client: client.approve_submissions(["s-0"]),
    "reject": lambda client: client.reject_submission("s-0", "LOW_EFFORT", REASON),
    "set up": lambda client: client.register_bonuses(STUDY, "p-0,1.00\n"),
    "pay": lambda client: client.pay_bonuses("bulk-0"),
    "group": lambda client: client.create_group("w1", "good", ["p-0"]),
}


@pytest.mark.parametrize(
    ("what", "error"),
    [
        ((429, {}, {"Retry-After": "0"}), panel.NotDoneError),
        ((400, {"error": "no"}), panel.NotDoneError),
        ((402, b"no money"), panel.NotDoneError),
        ((500, {}), panel.UnsureError),
        ((504, {}), panel.UnsureError),
        ((408, {}), panel.UnsureError),
        ((307, {}, {"Location": "http://127.0.0.1:1/"}), panel.UnsureError),
        ("silence", panel.UnsureError),
        ("cut", panel.UnsureError),
    ],
)
def test_a_payment_is_asked_for_once_whatever_comes_back(fake, client, what, error):
    fake.bulks["bulk-0"] = ["p-0,1.00"]
    fake.fault("POST", "", what)
    with pytest.raises(error):
        WRITES["pay"](client)
    assert len(fake.asked("POST")) == 1


def test_whatever_writes_is_asked_once(fake, client):
    fake.add(1)
    for n, write in enumerate(WRITES.values(), 1):
        # What is only read would be asked again.
        fake.fault("POST", "", (503, {}))
        with pytest.raises(panel.UnsureError):
            write(client)
        assert len(fake.asked("POST")) == n


def test_an_answer_that_says_neither_yes_nor_no_leaves_it_unsure(fake, client):
    for status in (300, 425):
        fake.fault("POST", "", (status, {}))
        with pytest.raises(panel.UnsureError) as caught:
            WRITES["pay"](client)
        assert (caught.value.code, caught.value.values) == ("other_status", {"status": status})


def test_rejecting_says_category_and_message_and_approving_all_ids(fake, client):
    client.reject_submission("s-0", "LOW_EFFORT", REASON)
    assert fake.transitions == {
        "s-0": {"action": "REJECT", "rejection_category": "LOW_EFFORT", "message": REASON}
    }
    client.approve_submissions([f"s-{i}" for i in range(301)])
    assert len(fake.approved) == 301
    assert len(fake.asked("POST", "bulk-approve")) == 2  # 300 at a time


def test_paying_twice_pays_twice_which_is_why_it_is_asked_once(fake, client):
    fake.add(2)
    noted = client.register_bonuses(STUDY, "p-0,1.00\np-1,0.25\n")
    assert noted == panel.BonusSetup("bulk-0", 125)
    client.pay_bonuses(noted.id)
    client.pay_bonuses(noted.id)
    assert fake.paid == {"p-0,1.00": 2, "p-1,0.25": 2}


def test_nothing_is_asked_while_it_is_off_or_without_a_token(fake, client, settings, monkeypatch):
    monkeypatch.delenv("PROLIFIC_API_TOKEN")
    with pytest.raises(panel.NotDoneError) as caught:
        client.load_study(STUDY)
    assert caught.value.code == "no_token"
    settings.PROLIFIC_API = ""
    with pytest.raises(panel.NotDoneError) as caught:
        Prolific()
    assert caught.value.code == "switched_off"
    assert not fake.requests


def test_addresses_that_are_not_public_are_refused_unless_they_are_named(fake, client, settings):
    settings.MODEL_NETWORKS = []
    with pytest.raises(panel.NotDoneError, match=r"127\.0\.0\.1 ") as caught:
        client.load_study(STUDY)
    assert caught.value.code == "address_refused"
    assert not fake.requests


@pytest.mark.parametrize("key", ["", "../users/me", "a/b", "x?y=1", "é", "a" * 65])
def test_what_is_no_id_asks_for_no_other_path(fake, client, key):
    with pytest.raises(panel.NotDoneError) as caught:
        client.pay_bonuses(key)
    assert caught.value.code == "bad_id"
    assert not fake.requests


def test_the_token_is_in_no_complaint(fake, client):
    fake.fault("GET", "", (400, {"said": f"bad token {TOKEN}"}))
    with pytest.raises(panel.NotDoneError) as caught:
        client.load_study(STUDY)
    assert TOKEN not in str(caught.value)
    assert "[token]" in str(caught.value)


def test_an_address_is_https_or_this_machine(monkeypatch):
    from crowdgrade.settings import _read_prolific_api

    for good in ("https://api.prolific.com/api/v1/", "http://127.0.0.1:99/api/v1/", ""):
        monkeypatch.setenv("CROWDGRADE_PROLIFIC_API", good)
        assert _read_prolific_api() == good
    for bad in ("on", "http://api.prolific.com/", "https://me:pw@host/", "https://x/?a=1"):
        monkeypatch.setenv("CROWDGRADE_PROLIFIC_API", bad)
        with pytest.raises(ImproperlyConfigured):
            _read_prolific_api()


@pytest.fixture
def rivers(db):
    version = world.version(world.user("rana", is_staff=True))
    for i in range(2):
        one = world.submission(version, f"p-{i}")
        one.panel_sessions.create(session_id=f"s-{i}", study_id=STUDY)
    return version


def said(command, *arguments, **options):
    out, err = StringIO(), StringIO()
    call_command(command, "rivers", *arguments, stdout=out, stderr=err, **options)
    return out.getvalue() + err.getvalue()


def test_statuses_asked_of_the_panel_are_those_of_its_file(rivers, fake):
    fake.add(2)
    fake.submissions[1]["status"] = "SCREENED_OUT"
    told = said("import_statuses", from_prolific=True)
    assert UNVERIFIED in told
    counts = {"n": 2, "n_new": 2, "n_unchanged": 0, "n_strangers": 0}
    assert REPORTS.text("submissions_in_file", **counts) in told
    found = PanelStatus.objects.order_by("session_id").values_list("session_id", "status", "code")
    assert list(found) == [("s-0", "AWAITING REVIEW", "DONE1"), ("s-1", "SCREENED OUT", "DONE1")]
    assert "203.0.113.7" not in json.dumps(list(PanelStatus.objects.values()), default=str)
    assert "2 unchanged" in said("import_statuses", from_prolific=True)


def test_asking_needs_no_file_and_a_file_needs_no_asking(rivers, fake, tmp_path):
    for how in ({}, {"from_prolific": True, "file": tmp_path / "x.csv"}):
        with pytest.raises(CommandError, match="name a FILE"):
            said("import_statuses", **how)
    rivers.submissions.first().panel_sessions.create(session_id="s-9", study_id="b" * 24)
    with pytest.raises(CommandError) as caught:
        said("import_statuses", from_prolific=True)
    assert caught.value.__cause__.code == "which_study"
    assert caught.value.__cause__.values == {"studies": sorted([STUDY, "b" * 24])}
    assert not fake.requests


def test_an_unknown_status_of_the_panel_keeps_nothing(rivers, fake):
    fake.add(2)
    fake.submissions[1]["status"] = "PENDING"
    with pytest.raises(CommandError, match="'PENDING' is no status"):
        said("import_statuses", from_prolific=True)
    assert not PanelStatus.objects.exists()


def test_decisions_are_brought_there_when_somebody_says_so(rivers, fake, tmp_path):
    fake.add(2)
    path = tmp_path / "d.csv"
    path.write_text(f"worker,decision,category,reason\np-0,approve,,\np-1,reject,OTHER,{REASON}\n")
    said("decide", file=path, by="rana")
    counts = {"n_approved": 1, "n_rejected": 1}
    assert SENDING.text("decisions_to_bring", **counts) in said("send_decisions", by="rana")
    assert not fake.requests
    brought = said("send_decisions", by="rana", send=True)
    assert SENDING.text("decisions_brought", **counts) in brought
    assert fake.approved == ["s-0"]
    assert fake.transitions["s-1"]["rejection_category"] == "OTHER"


def test_a_rejection_without_an_answer_is_told_and_the_others_go_on(rivers, fake, tmp_path):
    fake.add(2)
    path = tmp_path / "d.csv"
    rows = "".join(f"p-{i},reject,OTHER,{REASON}\n" for i in range(2))
    path.write_text("worker,decision,category,reason\n" + rows)
    said("decide", file=path, by="rana")
    fake.fault("POST", "s-0/transition", (500, {}))
    with pytest.raises(CommandError) as caught:
        said("send_decisions", by="rana", send=True)
    assert str(caught.value) == SENDING.text("rejections_failed", n=1)
    assert set(fake.transitions) == {"s-1"}
    said("send_decisions", by="rana", send=True)
    assert set(fake.transitions) == {"s-0", "s-1"}
