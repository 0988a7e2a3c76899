"""A demographic export over REST: upload, preview, other choices, confirmation, undo."""

import json

import pytest

from annotations.exchange.importing import import_answers
from annotations.exchange.reading.source import make_bytes_source
from annotations.models import QuestionSet, Response, Upload
from tests.annotations.exchange.presets.test_demographics import ANA, BEN, CAI, DAN, EVE, export
from tests.api.conftest import problem

pytestmark = pytest.mark.django_db
CSV = "text/csv"


@pytest.fixture
def question_set(rana):
    """The answers of Ana, Ben, Cai and Dan to one question."""
    made = QuestionSet.objects.create(owner=rana, name="rivers")
    rows = "".join(f"{who},rain,because of {who}\n" for who in (ANA, BEN, CAI, DAN))
    content = f"worker,question,answer\n{rows}".encode()
    source = make_bytes_source("answers.csv", content)
    import_answers(made, source, panel="Prolific", create_questions=True)
    return made


@pytest.fixture
def address(question_set):
    return f"question-sets/{question_set.public_id}/demographics/"


@pytest.fixture
def asking(api, rana):
    return api(rana)


def extra_of(worker):
    return Response.objects.get(submission__worker__external_id=worker).extra


def upload(asking, address, content, **more):
    return asking.post(address, content, kind=CSV, **more)


def test_a_file_is_previewed_and_joined_after_confirmation(asking, address):
    sent = upload(asking, f"{address}?name=facts.csv", export())
    assert sent.status_code == 201
    body = sent.json()
    assert sent.headers["Location"].endswith(f"/{address}{body['id']}/")
    assert (body["file"], body["state"], body["version"]) == ("facts.csv", "checked", 1)
    assert body["mapping"]["worker"] == "Participant id"
    preview = body["preview"]
    assert (preview["n_rows"], preview["n_matched"]) == (4, 3)
    assert (preview["only_in_file"], preview["only_in_answers"]) == ([EVE], [DAN])
    assert body["examples"][0]["worker"] == ANA
    assert body["examples"][0]["cells"]["Age"] == "31"
    assert (body["n_new"], body["n_flagged"], body["brought_by"]) == (3, 0, None)
    assert extra_of(ANA) == {}
    assert asking.get(f"{address}{body['id']}/").json() == body
    mapping = {"worker": "Participant id", "status": "Status", "extra": ["Age"]}
    changed = asking.patch(f"{address}{body['id']}/", {"mapping": mapping}).json()
    assert changed["mapping"] == mapping
    # Ben's and Cai's ages were deleted by Prolific.
    assert changed["n_new"] == 1
    done = asking.post(f"{address}{body['id']}/confirm/").json()
    assert (done["state"], done["n_new"]) == ("done", 1)
    assert extra_of(ANA) == {"Age": "31"}
    assert asking.post(f"{address}{body['id']}/confirm/").json() == done
    imports = asking.get(address.replace("demographics", "imports")).json()["results"]
    assert (imports[0]["id"], imports[0]["what"]) == (done["brought_by"], "demographics")
    undo = f"{address.replace('demographics', 'imports')}{done['brought_by']}/undoing/"
    assert asking.get(undo).json()["can_go"] is True
    assert asking.post(undo).status_code == 202


def test_statuses_need_a_decision_before_the_file_can_be_confirmed(asking, address):
    body = upload(asking, address, export(ben="REJECTED", cai="TIMED-OUT")).json()
    assert (body["state"], body["file"]) == ("mapping", "demographics.csv")
    assert body["preview"]["statuses"] == {"TIMED-OUT": 1, "REJECTED": 1}
    assert [one["code"] for one in body["problems"]] == ["panel_statuses_undecided"]
    refused = asking.post(f"{address}{body['id']}/confirm/")
    assert problem(refused, 409, "conflict")
    assert extra_of(ANA) == {}
    decided = asking.patch(f"{address}{body['id']}/", {"statuses": "apply"}).json()
    assert (decided["state"], decided["problems"], decided["n_flagged"]) == ("checked", [], 2)
    assert asking.post(f"{address}{body['id']}/confirm/").json()["state"] == "done"
    rejected = Response.objects.filter(rejected=True)
    assert set(rejected.values_list("submission__worker__external_id", flat=True)) == {BEN, CAI}


def test_rows_and_lines_are_read_like_a_file(asking, address):
    rows = [{"Participant id": ANA, "Age": "31"}, {"Participant id": BEN, "Age": "40"}]
    body = asking.post(address, {"rows": rows}).json()
    assert (body["file"], body["state"], body["n_new"]) == ("demographics.jsonl", "checked", 2)
    lines = "\n".join(map(json.dumps, rows))
    again = asking.post(address, lines, kind="application/x-ndjson").json()
    assert again["preview"] == body["preview"]


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"mapping": {"worker": "Participant", "status": "", "extra": []}}, "#/mapping"),
        ({"mapping": {"worker": "", "status": "", "extra": []}}, "#/mapping/worker"),
        ({"mapping": {"worker": "Age", "status": "", "extra": ["Age"]}}, "#/mapping"),
        ({"statuses": "maybe"}, "#/statuses"),
        ({"rule": "keep"}, "#/rule"),
    ],
)
def test_wrong_choices_are_named_and_change_nothing(asking, address, change, pointer):
    body = upload(asking, address, export()).json()
    refused = asking.patch(f"{address}{body['id']}/", change)
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["pointer"].startswith(pointer)
    assert asking.get(f"{address}{body['id']}/").json() == body


def test_participants_who_did_not_answer_here_are_looked_up_elsewhere(asking, address, rana):
    other = QuestionSet.objects.create(owner=rana, name="empty")
    there = address.replace(str(QuestionSet.objects.get(name="rivers").public_id), "{}")
    body = upload(asking, there.format(other.public_id), export()).json()
    assert (body["state"], body["preview"]["n_matched"]) == ("mapping", 0)
    assert [(one["name"], one["n"]) for one in body["other_sets"]] == [("rivers", 3)]
    assert [one["code"] for one in body["problems"]] == ["participants_unmatched"]


def test_a_file_that_cannot_be_read_is_refused_and_not_stored(asking, address):
    refused = upload(asking, address, b"")
    assert refused.status_code == 400
    assert not Upload.objects.exists()


def test_an_upload_belongs_to_its_user_and_can_be_discarded(asking, api, address, otto):
    body = upload(asking, address, export()).json()
    assert api(otto).get(f"{address}{body['id']}/").status_code == 404
    assert asking.ask("DELETE", f"{address}{body['id']}/").status_code == 204
    assert asking.get(f"{address}{body['id']}/").status_code == 404
    assert not Upload.objects.exists()


def test_a_file_that_changes_nothing_cannot_be_confirmed(asking, address):
    first = upload(asking, address, export()).json()
    asking.post(f"{address}{first['id']}/confirm/")
    again = upload(asking, address, export()).json()
    assert again["n_new"] == 0
    refused = asking.post(f"{address}{again['id']}/confirm/")
    assert problem(refused, 409, "conflict")
    assert problem(asking.patch(f"{address}{again['id']}/", {"statuses": "keep"}), 409, "conflict")


def test_ids_with_decimals_are_kept_at_a_wish_and_named_in_a_note(asking, rana):
    numbered = QuestionSet.objects.create(owner=rana, name="numbers")
    answers = make_bytes_source("answers.csv", b"worker,question,answer\n7,rain,yes\n8,rain,no\n")
    import_answers(numbered, answers, create_questions=True)
    address = f"question-sets/{numbered.public_id}/demographics/"
    body = upload(asking, address, b"Participant id,Age,Sex\n7.0,31,f\n8,32,m\n").json()
    assert (body["keep_ids"], body["preview"]["n_matched"], len(body["notes"])) == (False, 2, 1)
    kept = asking.patch(f"{address}{body['id']}/", {"keep_ids": True}).json()
    # 7.0 is not 7 now.
    assert (kept["keep_ids"], kept["preview"]["n_matched"]) == (True, 1)
    assert kept["preview"]["only_in_file"] == ["7.0"]
