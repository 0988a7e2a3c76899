"""Parts of the pay, appeals, files of decisions and of statuses, and lists, by REST."""

import json
from decimal import Decimal

import pytest

from annotations.ledger import bonuses
from annotations.ledger.appeals import create_appeal
from annotations.ledger.bonuses import PART, load_payments
from annotations.ledger.decisions import decide_on_submission
from annotations.ledger.sentences import PAYMENTS
from annotations.models import (
    AppealAnswer,
    BonusPayment,
    Collection,
    Decision,
    PanelStatus,
    Submission,
)
from tests.annotations import world
from tests.api.conftest import problem

pytestmark = pytest.mark.django_db

REASON = "You answered the question that checks whether it is read otherwise than it asks for. " * 2
CSV, LINES = "text/csv", "application/x-ndjson"
HEADER = "Submission id,Participant id,Status,Time taken,Age\n"


def body_of(response):
    return b"".join(response.streaming_content).decode()


@pytest.fixture
def with_parts(desk):
    """Hal did not pass the practice, ben failed the checks; 0.40 and 0.80."""
    Collection.objects.update(screened_out_pay="0.40", failed_checks_pay="0.80")
    desk.version.submissions.filter(pk=desk.people["hal"].pk).update(state="screened_out")
    desk.version.submissions.filter(pk=desk.people["ben"].pk).update(failed_checks=True)
    return desk


def test_parts_are_read_planned_with_their_sum_and_taken_once(with_parts):
    desk = with_parts
    told = desk.get("parts/").json()
    assert [(one["worker"], one["why"], one["amount"]) for one in told["people"]] == [
        ("hal", "screened_out", "0.40"),
        ("ben", "failed_checks", "0.80"),
    ]
    assert (told["total"], told["currency"], told["unknown"]) == ("1.20", "GBP", 2)
    refused = desk.post("parts/", 409, total="1.00")
    assert (refused["reason"], refused["total"]) == ("other_total", "1.20")
    for text in ("1,20", "-1.20", 1.2, None):
        desk.post("parts/", 400, total=text)
    assert not BonusPayment.objects.exists()
    planned = desk.post("parts/", total="1.20")
    assert planned == {"round": PART, "n": 2, "new": 2, "total": "1.20", "currency": "GBP"}
    assert desk.post("parts/", total="1.20")["new"] == 0
    assert desk.get("parts/").json()["there"] == 2
    desk.post("bonuses/confirm/", round=PART, total="1.20")
    desk.post("lists/", 409)  # of bonuses there are none
    taken = desk.post("lists/", 201, list="prolific-screen-out")
    assert body_of(desk.client.get(taken["url"])) == "hal,0.40\nben,0.80\n"
    desk.post("lists/", 409, list="prolific-screen-out")
    assert {one.state for one in load_payments(desk.version)} == {"sent"}


def test_without_amounts_in_the_settings_nobody_is_owed_a_part(with_parts):
    Collection.objects.update(screened_out_pay=None, failed_checks_pay=None)
    told = with_parts.get("parts/").json()
    assert (told["people"], told["total"], told["without"]) == ([], "0.00", 2)


@pytest.fixture
def ben(desk):
    """Ben, rejected, who wrote back."""
    decide_on_submission(desk.people["ben"], desk.rana, "reject", "FAILED_CHECK", REASON)
    create_appeal(desk.people["ben"], "I ticked often.")
    return desk.people["ben"]


def test_an_appeal_is_answered_once(desk, ben):
    link = f"people/{ben.public_id}/appeal/"
    for answer in ("", "x" * 2001, None, "\u2003"):
        (fault,) = desk.post(link, 400, answer=answer, approve=True)["errors"]
        assert fault["pointer"] == "#/answer"
    desk.post(link, 400, answer="You are right.")
    assert not AppealAnswer.objects.exists()
    told = desk.post(link, answer="You are right.", approve=True)
    assert told["decision"]["decision"] == "approve"
    assert (told["appeal"]["answer"]["text"], told["appeal"]["answer"]["by"]) == (
        "You are right.", "rana",
    )  # fmt: skip
    desk.post(link, answer="You are right.", approve=True)  # the same once more
    for other in ({"answer": "No.", "approve": True}, {"answer": "You are right.", "approve": 0}):
        refused = desk.post(link, 409, **other)
        assert refused["reason"] == "answered"
    assert [one.kind for one in ben.decisions.order_by("pk")] == ["reject", "approve"]


def test_an_answer_may_leave_it_rejected(desk, ben):
    told = desk.post(f"people/{ben.public_id}/appeal/", answer="It was one.", approve=False)
    assert (told["decision"]["decision"], told["appeal"]["answer"]["approved"]) == ("reject", False)
    assert ben.decisions.count() == 1


def test_an_appeal_that_is_settled_or_was_never_written_is_not_answered(desk, ben):
    answer = {"answer": "You are right.", "approve": True}
    decide_on_submission(ben, desk.rana, "open")
    refused = desk.post(f"people/{ben.public_id}/appeal/", 409, **answer)
    assert refused["reason"] == "decided_meanwhile"
    assert "rana" in refused["detail"]
    assert ": open (" in refused["detail"]
    refused = desk.post(f"people/{desk.people['ada'].public_id}/appeal/", 409, **answer)
    assert refused["reason"] == "nothing_to_answer"
    desk.post(f"people/{desk.version.question_set.public_id}/appeal/", 404, **answer)
    assert not AppealAnswer.objects.exists()


def test_what_somebody_of_a_file_wrote_elsewhere_is_noted_once(desk, ben):
    di = desk.people["di"]
    link = f"people/{di.public_id}/appeal/noted/"
    Submission.objects.filter(pk=di.pk).update(source="imported")
    refused = desk.post(link, 409, text="My keyboard stuck.")
    assert refused["reason"] == "not_rejected"
    decide_on_submission(di, desk.rana, "reject", "LOW_EFFORT", REASON)
    for text in ("", "x" * 2001, None, "\u2003"):
        (fault,) = desk.post(link, 400, text=text)["errors"]
        assert fault["pointer"] == "#/text"
    for _ in range(2):
        told = desk.post(link, text="My keyboard stuck.")["appeal"]
        assert (told["text"], told["noted_by"]) == ("My keyboard stuck.", "rana")
    assert desk.post(link, 409, text="Nobody read it.")["reason"] == "appealed"
    assert desk.get(f"people/{ben.public_id}/").json()["appeal"]["noted_by"] is None
    refused = desk.post(f"people/{ben.public_id}/appeal/noted/", 409, text="It jumped.")
    assert refused["reason"] == "own_page"


def test_a_bonus_that_is_held_back_is_told_where_a_list_is_taken(desk):
    ada = desk.people["ada"]
    bonuses.plan_bonuses(desk.version, {ada.pk: Decimal(1)}, desk.rana)
    bonuses.confirm_payments(desk.version, desk.rana)
    decide_on_submission(ada, desk.rana, "reject", "OTHER", REASON)
    refused = desk.post("lists/", 409, list="prolific-bonus")
    assert (refused["reason"], refused["held_back"]) == ("nothing_left", 1)


def test_another_study_of_the_same_people_is_refused_unless_somebody_says_so(desk):
    def send(session, status=200, **query):
        row = {"Submission id": session, "Participant id": "ada", "Status": "APPROVED"}
        link = f"{desk.link}statuses/?{'&'.join(f'{k}={v}' for k, v in query.items())}"
        answer = desk.client.post(link, {"rows": [row]}, format="json")
        assert answer.status_code == status, answer.content

    send("a1")
    send("b1", 400)
    send("b1", instead="true")
    assert PanelStatus.objects.latest("pk").session_id == "b1"


ROWS = [
    {"worker": "ada", "decision": "approve", "bonus": "1.50"},
    {"worker": "ben", "decision": "reject", "category": "FAILED_CHECK", "reason": REASON},
]


def test_decisions_are_tried_then_kept_once(desk):
    tried = desk.post("decisions/?dry_run=true", rows=ROWS)
    assert (tried["n_rows"], tried["n_new"], tried["dry_run"]) == (2, 2, True)
    assert tried["by_decision"] == {"approve": 1, "reject": 1}
    assert (tried["bonuses"], tried["total"], tried["currency"]) == (1, "1.50", "GBP")
    assert {one["what"] for one in tried["fairness"]} >= {"language"}
    assert not Decision.objects.exists()
    assert not BonusPayment.objects.exists()
    kept = desk.post("decisions/", rows=ROWS)
    assert (kept["n_new"], kept["new_bonuses"], kept["version"]) == (2, 1, desk.version.number)
    again = desk.post("decisions/", rows=ROWS)
    assert (again["n_new"], again["n_unchanged"], again["new_bonuses"]) == (0, 2, 0)
    (one,) = load_payments(desk.version)
    assert (one.name, one.state, one.by) == ("ada", "confirmed", "rana")
    two = desk.post("decisions/?round=second", rows=ROWS[:1])
    assert two["new_bonuses"] == 1


def test_decisions_come_as_lines_or_as_a_file_too(desk):
    link = f"{desk.link}decisions/"
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    assert desk.client.post(link, lines, content_type=LINES).json()["n_new"] == 2
    text = "worker,decision,bonus\nada,approve,1.50\ncy,approve,\n"
    told = desk.client.post(link, text, content_type=f"{CSV}; charset=utf-8").json()
    assert (told["n_new"], told["n_unchanged"], told["new_bonuses"]) == (1, 1, 0)


def test_every_bad_row_is_named_and_nothing_is_kept(desk):
    rows = [
        *ROWS,
        {"worker": "zoe", "decision": "approve"},
        {"worker": "cy", "decision": "reject", "category": "OTHER", "reason": "x" * 99},
    ]
    rows[0] = rows[0] | {"bonus": "1,50"}
    told = problem(
        desk.client.post(f"{desk.link}decisions/", {"rows": rows}, format="json"), 400, "bad-rows"
    )
    assert [one["pointer"] for one in told["errors"]] == [
        *("#/rows/0/bonus", "#/rows/2/worker", "#/rows/3/reason")
    ]
    told = desk.post("decisions/", 400, rows=rows[2:3])
    assert "Zoe took no part" in told["errors"][0]["detail"]
    text = "worker,decision\nada,approve\nzoe,approve\n"
    response = desk.client.post(f"{desk.link}decisions/", text, content_type=CSV)
    (fault,) = problem(response, 400, "bad-rows")["errors"]
    assert fault["line"] == 3
    desk.post("decisions/", 400, rows=[{"worker": "ada"}])
    (fault,) = desk.post(f"decisions/?round={PART}", 400, rows=ROWS)["errors"]
    assert fault["parameter"] == "round"
    for query in ("dry_run=perhaps", "version=0", "rond=x"):
        desk.post(f"decisions/?{query}", 400, rows=ROWS)
    desk.post("decisions/?version=7", 404, rows=ROWS)
    assert not Decision.objects.exists()
    assert not BonusPayment.objects.exists()


def test_another_amount_in_the_same_round_is_a_bad_row_without_a_flag(desk):
    desk.post("decisions/", rows=ROWS[:1])
    told = desk.post("decisions/", 400, rows=[ROWS[0] | {"bonus": "2.00"}])
    (fault,) = told["errors"]
    assert fault["pointer"] == "#/rows/0/bonus"
    before = {"name": "ada", "amount": "1.50", "round": "bonus", "state": "confirmed"}
    assert fault["code"] == "bonus_of_other_amount"
    assert PAYMENTS.text("other_amount", **before).casefold() in fault["detail"].casefold()
    assert "--" not in str(told)


def test_a_panels_file_is_taken_in_as_it_is(desk):
    text = HEADER + "s1,ada,AWAITING REVIEW,612,34\ns2,ben,RETURNED,,29\n"
    link = f"{desk.link}statuses/"
    tried = desk.client.post(f"{link}?dry_run=true", text, content_type=CSV).json()
    assert (tried["n_new"], tried["dry_run"], tried["kept_aside"]) == (2, True, ["Age"])
    assert not PanelStatus.objects.exists()
    told = desk.client.post(link, text, content_type=CSV).json()
    assert told["by_status"] == {"AWAITING REVIEW": 1, "RETURNED": 1}
    assert (told["n_new"], told["missing"]) == (2, 8)
    rows = [{"submission_id": "s1", "participant_id": "ada", "status": "approved"}]
    assert desk.post("statuses/", rows=rows)["n_new"] == 1
    assert PanelStatus.objects.latest("pk").recorded_by == desk.rana
    bad = HEADER + "s1,ada,ASLEEP,612,34\ns2,ben,RETURNED,,29\n"
    response = desk.client.post(link, bad, content_type=CSV)
    (fault,) = problem(response, 400, "bad-rows")["errors"]
    assert (fault["line"], "'ASLEEP' is no status" in fault["detail"]) == (2, True)
    strangers = HEADER + "s1,zoe,APPROVED,612,34\n"
    response = desk.client.post(link, strangers, content_type=CSV)
    (fault,) = problem(response, 400, "bad-rows")["errors"]
    assert (fault["line"], fault["code"]) == (2, "participants_unknown")
    desk.post("statuses/", 400, rows=[{"status": "approved"}])
    assert PanelStatus.objects.count() == 3


def test_lists_of_decisions_are_taken_at_any_time(desk):
    desk.post("decisions/", rows=ROWS)
    approve = desk.get("exports/prolific-approve/")
    assert approve.headers["Content-Type"].startswith("text/plain")
    assert body_of(approve) == "ada\n"
    reject = body_of(desk.get("exports/prolific-reject/")).splitlines()
    assert reject[0].split(",") == [
        *("submission_id", "participant_id", "rejection_category", "message")
    ]
    assert reject[1].startswith(",ben,FAILED_CHECK,")
    log = desk.get("exports/log/")
    assert log.headers["Content-Type"].startswith("text/csv")
    assert "worker,panel,decision,category,reason,by,at,counts" in body_of(log).splitlines()[0]
    assert desk.get("exports/mturk/").status_code == 200
    for name in ("prolific-bonus", "prolific-screen-out", "workers"):
        assert desk.get(f"exports/{name}/").status_code == 404, name


def test_of_several_batches_one_is_named(desk):
    told = problem(desk.get("exports/mturk/", batch="second"), 400, "invalid")
    (fault,) = told["errors"]
    assert (fault["parameter"], fault["code"]) == ("batch", "no_such_batch")
    assert "'second'" in told["detail"]
    assert "--" not in str(told)


def test_another_version_of_the_set_has_payments_of_its_own(desk):
    desk.post("decisions/", rows=ROWS[:1])
    desk.version.publish()
    later = desk.version.question_set.draft()
    world.submission(later, "zoe")
    assert desk.get("bonuses/").json()["results"] == []
    found = desk.get("bonuses/", version=desk.version.number).json()["results"]
    assert [one["worker"] for one in found] == ["ada"]
