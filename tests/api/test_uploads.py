"""Many rows at once: all or none, every bad row by its index, the same again changes nothing."""

import hashlib
import json
import tempfile
from io import BytesIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotations.api import answers
from annotations.exchange.importing import import_answers
from annotations.models import (
    IdempotentRequest,
    Import,
    Membership,
    Question,
    QuestionSet,
    Response,
    Team,
)
from annotations.web.rest.bulk import LinesParser
from evaluation.models import LanguageModel, LLMResponse
from tests.api.conftest import problem

pytestmark = pytest.mark.django_db
QUESTIONS = [{"question": f"q{i}", "text": f"Where is river {i}?"} for i in (1, 2)]
ANSWERS = [
    {"worker": worker, "question": f"q{i}", "answer": f"{worker} on {i}", "seconds": 1.50}
    for worker in ("ada", "ben")
    for i in (1, 2)
]


@pytest.fixture
def asking(api, rana):
    return api(rana)


@pytest.fixture
def address(asking):
    """Of a new set with two questions."""
    made = asking.post("question-sets/", {"name": "Rivers"})
    assert made.status_code == 201
    set_id = made.json()["id"]
    assert made.headers["Location"].endswith(f"/api/v1/question-sets/{set_id}/")
    sent = asking.post(f"question-sets/{set_id}/questions/", {"rows": QUESTIONS})
    assert sent.json()["n_new"] == 2
    return f"question-sets/{set_id}/"


def test_the_same_body_again_changes_nothing_and_says_so(asking, address):
    first = asking.post(f"{address}answers/", {"rows": ANSWERS}).json()
    assert (first["n_new"], first["n_unchanged"], first["changed"]) == (4, 0, True)
    assert first["created"] == {"workers": 2, "questions": 0}
    again = asking.post(f"{address}answers/", {"rows": ANSWERS}).json()
    assert (again["n_new"], again["n_unchanged"], again["changed"]) == (0, 4, False)
    assert Response.objects.count() == 4


def test_rows_and_lines_and_files_say_the_same(asking, address, tmp_path, rana):
    lines = "\n".join(map(json.dumps, ANSWERS))
    kind = "application/x-ndjson"
    sent = asking.post(f"{address}answers/", lines, kind=kind).json()
    assert sent["n_new"] == 4
    assert asking.post(f"{address}answers/", {"rows": ANSWERS}).json()["changed"] is False
    path = tmp_path / "answers.jsonl"
    path.write_text(lines)
    assert import_answers(QuestionSet.objects.get(), path).changed is False
    # A number stays as it was typed, in a body as in a file.
    assert {r.extra["seconds"] for r in Response.objects.all()} == {"1.5"}
    typed = lines.replace("ada", "eve").replace("1.5", "1.50")
    body = '{"rows": [' + typed.replace("\n", ",") + "]}"
    asking.post(f"{address}answers/", body)
    eves = Response.objects.filter(submission__worker__external_id="eve")
    assert {r.extra["seconds"] for r in eves} == {"1.50"}


def test_every_bad_row_is_named_and_nothing_is_stored(asking, address):
    rows = [
        ANSWERS[0],
        {"worker": "", "question": "q1", "answer": "x"},
        {"worker": "cy"},
        7,
        {**ANSWERS[0], "answer": "something else"},
    ]
    body = problem(asking.post(f"{address}answers/", {"rows": rows}), 400, "bad-rows")
    assert [(e["index"], e["pointer"], e["code"]) for e in body["errors"]] == [
        (1, "#/rows/1/worker", "id_missing"),
        (2, "#/rows/2/question", "key_missing"),
        (2, "#/rows/2/answer", "key_missing"),
        (3, "#/rows/3", "line_no_object"),
        (4, "#/rows/4", "answers_differ"),
    ]
    assert body["total"] == 5
    assert all(error["detail"] and error["remedy"] for error in body["errors"])
    assert "--" not in str(body)
    assert not Response.objects.exists()


def test_bad_lines_are_named_by_their_lines(asking, address):
    lines = json.dumps(ANSWERS[0]) + '\n\n{"worker": "cy", "question": "q9", "answer": "x"}\n'
    response = asking.post(f"{address}answers/", lines, kind="application/x-ndjson")
    (error,) = problem(response, 400, "bad-rows")["errors"]
    assert (error["line"], error["code"]) == (3, "question_unknown")
    assert "pointer" not in error
    assert "q9" in error["detail"]
    assert not Response.objects.exists()


def test_an_answer_that_is_there_is_not_overwritten(asking, address):
    asking.post(f"{address}answers/", {"rows": ANSWERS})
    changed = [*ANSWERS[:3], {**ANSWERS[3], "answer": "another"}]
    body = problem(asking.post(f"{address}answers/", {"rows": changed}), 400, "bad-rows")
    assert [error["index"] for error in body["errors"]] == [3]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [({}, "#/rows"), ({"rows": []}, "#/rows"), ({"rows": 1}, "#/rows"), ({"row": []}, "#/row")],
)
def test_a_body_without_rows_is_refused(asking, address, body, pointer):
    found = problem(asking.post(f"{address}answers/", body), 400, "invalid")
    assert found["errors"][0]["pointer"] == pointer


def test_options_stand_in_the_address(asking, address):
    bad = asking.post(f"{address}answers/?dry_run=perhaps&panle=P", {"rows": ANSWERS})
    errors = problem(bad, 400, "invalid")["errors"]
    assert {error["parameter"] for error in errors} == {"dry_run", "panle"}
    dry = asking.post(f"{address}answers/?dry_run=true", {"rows": ANSWERS}).json()
    assert (dry["n_new"], dry["dry_run"]) == (4, True)
    assert not Response.objects.exists()
    more = [{**row, "question": "q3"} for row in ANSWERS[:1]]
    sent = asking.post(f"{address}answers/?panel=P&create_questions=true", {"rows": more}).json()
    assert sent["created"] == {"workers": 1, "questions": 1}
    assert asking.get(f"{address}answers/").json()["results"][0]["panel"] == "P"


def test_a_key_makes_any_request_one_that_may_be_sent_twice(asking, address, rana, api):
    body = {"question_set": address.split("/")[1], "parameters": {"embedder": "bow"}}
    asking.post(f"{address}answers/", {"rows": ANSWERS})
    first = asking.post("runs/", body, idempotency_key="k1")
    again = asking.post("runs/", body, idempotency_key="k1")
    assert first.status_code == again.status_code == 202
    assert first.json() == again.json()
    assert first.headers["Location"] == again.headers["Location"]
    assert again.headers["Idempotency-Replayed"] == "true"
    problem(asking.post("runs/", {**body, "version": 1}, idempotency_key="k1"), 422, "key-reused")
    # Without a key, or with another, it is another run.
    others = [asking.post("runs/", body), asking.post("runs/", body, idempotency_key="k2")]
    assert len({first.json()["id"], *(other.json()["id"] for other in others)}) == 3
    problem(asking.post("runs/", body, idempotency_key="x" * 256), 400, "invalid")


def test_an_answer_is_not_told_again_to_who_lost_access(asking, address, rana, otto, api):
    """A member of a team reads, leaves the team, and sends the same request once more."""
    question_set = QuestionSet.objects.get(public_id=address.split("/")[1])
    team = Team.objects.create(owner=rana, name="Lab")
    membership = Membership.objects.create(team=team, user=otto)
    QuestionSet.objects.filter(pk=question_set.pk).update(team=team)
    asking.post(f"{address}answers/", {"rows": ANSWERS})
    member = api(otto)
    run = {"question_set": address.split("/")[1], "parameters": {"embedder": "bow"}}
    requests = [("runs/", run, "a"), (f"{address}answers/", {"rows": ANSWERS}, "b")]
    for path, body, key in requests:
        assert member.post(path, body, idempotency_key=key).status_code < 300
        again = member.post(path, body, idempotency_key=key)
        assert again.headers["Idempotency-Replayed"] == "true"
    membership.delete()
    for path, body, key in requests:
        problem(member.post(path, body, idempotency_key=key), 404, "not-found")


@pytest.fixture
def member(address, rana, otto, api):
    """Otto, who works on Rana's set in a team, and sees no other set of hers."""
    team = Team.objects.create(owner=rana, name="Lab")
    Membership.objects.create(team=team, user=otto)
    QuestionSet.objects.filter(public_id=address.split("/")[1]).update(team=team)
    return api(otto)


def of_another_set(asking, **rows):
    """Rana's rows in a set of hers that nobody else sees."""
    other = asking.post("question-sets/", {"name": "Lakes"}).json()["id"]
    asking.post(f"question-sets/{other}/questions/", {"rows": QUESTIONS})
    for name, sent in rows.items():
        made = asking.post(f"question-sets/{other}/{name.replace('_', '-')}/", {"rows": sent})
        assert made.status_code == 200, made.content


@pytest.mark.parametrize("panels", [[""], ["mturk", "prolific"]])
def test_counts_do_not_tell_a_member_who_answered_in_sets_that_they_do_not_see(
    asking, address, member, panels
):
    for panel in panels:
        other = asking.post("question-sets/", {"name": f"Lakes {panel}"}).json()["id"]
        asking.post(f"question-sets/{other}/questions/", {"rows": QUESTIONS})
        sent = asking.post(f"question-sets/{other}/answers/?panel={panel}", {"rows": ANSWERS[:2]})
        assert sent.json()["created"]["workers"] == 1
    for panel in panels:
        path = f"{address}answers/?panel={panel}"
        tries = [(asking, 1), (member, 2)]  # Ada is known to Rana alone, Ben to nobody
        for who, n in tries:
            told = who.post(f"{path}&dry_run=true", {"rows": ANSWERS}).json()
            assert told["created"]["workers"] == n
        # The same once they are stored; then Otto sees them, and they are new to nobody.
        assert member.post(path, {"rows": ANSWERS}).json()["created"]["workers"] == 2
        assert Import.objects.latest("pk").n_workers == 2
        again = member.post(path, {"rows": ANSWERS}).json()
        assert (again["created"]["workers"], again["changed"]) == (0, False)


def test_a_private_model_s_details_are_not_read_by_sending_an_answer_in_its_name(
    asking, address, member, client, otto
):
    row = {"model": "rill-1", "question": "q1", "answer": "in Wales"}
    of_another_set(asking, model_answers=[row])
    LanguageModel.objects.update(family="secret")
    theirs = {**row, "model": "brook"}
    refused = problem(
        member.post(f"{address}model-answers/", {"rows": [theirs, row]}), 400, "bad-rows"
    )
    (error,) = refused["errors"]
    assert (error["pointer"], error["index"]) == ("#/rows/1/model", 1)
    assert not LLMResponse.objects.filter(question__version__question_set__name="Rivers").exists()
    client.force_login(otto)
    file = SimpleUploadedFile("a.csv", b"model,question,answer\nrill-1,q1,in Wales")
    shown = client.post(
        reverse("admin:upload", args=[address.split("/")[1], "model-answers"]),
        {"file": file},
        follow=True,
    )
    assert b"which you may not see" in shown.content
    assert member.get("language-models/").json()["results"] == []
    # A model of their own making, and one that the owner brought into this set, will do.
    assert member.post(f"{address}model-answers/", {"rows": [theirs]}).json()["n_new"] == 1
    assert asking.post(f"{address}model-answers/", {"rows": [row]}).json()["n_new"] == 1
    more = {**row, "question": "q2"}
    assert member.post(f"{address}model-answers/", {"rows": [more]}).json()["n_new"] == 1


def test_what_failed_leaves_no_key(asking, address):
    problem(asking.post("question-sets/", {"name": ""}, idempotency_key="k"), 400, "invalid")
    made = asking.post("question-sets/", {"name": "Towns"}, idempotency_key="k")
    assert made.status_code == 201
    # JSON Lines have a key as well.
    lines = json.dumps(ANSWERS[0])
    for _ in range(2):
        sent = asking.post(
            f"{address}answers/", lines, kind="application/x-ndjson", idempotency_key="l"
        )
        assert sent.json()["n_new"] == 1


def test_rows_are_read_and_compared_before_the_key_is_stored(asking, address, monkeypatch):
    """Key and answers are one transaction, in which nobody waits for the reading."""
    stored, made_ready = [], answers.prepare_answers

    def make_ready(*arguments, **options):
        stored.append(IdempotentRequest.objects.count())
        made_ready(*arguments, **options)

    monkeypatch.setattr(answers, "prepare_answers", make_ready)
    asking.post(f"{address}answers/", {"rows": ANSWERS}, idempotency_key="k")
    assert (stored, IdempotentRequest.objects.count(), Response.objects.count()) == ([0], 1, 4)
    # What was stored is another text by now: the answer to the same request stays what it was.
    Response.objects.update(text="edited")
    again = asking.post(f"{address}answers/", {"rows": ANSWERS}, idempotency_key="k")
    assert (again.json()["n_new"], again.headers["Idempotency-Replayed"]) == (4, "true")
    problem(
        asking.post(f"{address}answers/", {"rows": ANSWERS}, idempotency_key="l"), 400, "bad-rows"
    )
    assert (stored, IdempotentRequest.objects.count()) == ([0, 1], 1)


def test_a_draft_is_changed_and_a_published_version_is_not(asking, address):
    listed = asking.get(f"{address}questions/").json()["results"]
    one = f"{address}questions/{listed[0]['id']}/"
    changed = asking.patch(one, {"text": "Where?", "kind": "choice", "choices": ["a", "b"]}).json()
    assert (changed["text"], changed["choices"]) == ("Where?", ["a", "b"])
    assert Question.objects.get(external_id="q1").text == "Where?"
    body = problem(asking.patch(one, {"choices": []}), 400, "invalid")
    assert body["errors"][0]["pointer"] == "#/choices"
    problem(asking.patch(one, {"passage": "p9"}), 400, "invalid")
    problem(asking.patch(one, {"txet": "?"}), 400, "invalid")
    assert asking.post(f"{address}publish/").json()["published_at"]
    problem(asking.patch(one, {"text": "Whither?"}), 409, "conflict")
    # New questions open the next version.
    more = [{"question": "q3", "text": "And then?"}]
    assert asking.post(f"{address}questions/", {"rows": more}).json()["version"] == 2
    numbers = [row["number"] for row in asking.get(f"{address}versions/").json()["results"]]
    assert numbers == [2, 1]


def test_passages_are_sent_and_changed(asking, address):
    rows = [{"passage": "p1", "title": "The Wye", "text": "A river."}]
    for changed in (True, False):
        sent = asking.post(f"{address}passages/", {"rows": rows}).json()
        assert sent["changed"] is changed
    (row,) = asking.get(f"{address}passages/").json()["results"]
    one = f"{address}passages/{row['id']}/"
    assert asking.patch(one, {"text": "A long river."}).json()["text"] == "A long river."
    problem(asking.patch(one, {"text": ""}), 400, "invalid")


def test_answers_of_models_are_sent_twice_and_stored_once(asking, address):
    rows = [
        {"model": "small", "question": "q1", "answer": "in Wales"},
        {"model": "small", "question": "q2", "answer": "", "status": "refused"},
    ]
    for new in (2, 0):
        assert asking.post(f"{address}model-answers/", {"rows": rows}).json()["n_new"] == new
    assert LLMResponse.objects.count() == 2
    (model,) = asking.get("language-models/").json()["results"]
    one = f"language-models/{model['id']}/"
    assert asking.patch(one, {"size": "135M"}).json()["size"] == "135M"
    wrong = [{**rows[0], "status": "odd"}]
    body = problem(asking.post(f"{address}model-answers/", {"rows": wrong}), 400, "bad-rows")
    assert body["errors"][0]["pointer"] == "#/rows/0/status"


@pytest.mark.parametrize(
    ("option", "counts", "text"),
    [
        ("", (1, 0), "in Wales"),
        ("?keep_thinking=true", (0, 1), "<think>hm</think>in Wales"),
    ],
)
def test_thinking_in_answers_of_models_is_counted_and_kept_on_request(
    asking, address, option, counts, text
):
    rows = [{"model": "small", "question": "q1", "answer": "<think>hm</think>in Wales"}]
    sent = asking.post(f"{address}model-answers/{option}", {"rows": rows}).json()
    assert (sent["n_thinking"], sent["n_thinking_kept"]) == counts
    assert LLMResponse.objects.get().text == text


def test_a_name_is_taken_once(asking, address):
    body = problem(asking.post("question-sets/", {"name": "Rivers"}), 409, "conflict")
    assert body["errors"][0]["pointer"] == "#/name"
    problem(asking.post("question-sets/SET/answers/".replace("SET", "7"), {}), 404, "not-found")


def test_what_is_taken_away_can_be_sent_in_again(asking, address):
    asking.post(f"{address}answers/", {"rows": ANSWERS})
    file = asking.get(f"{address}exports/answers/")
    assert file.headers["Content-Type"] == "application/x-ndjson"
    assert 'filename="rivers-version-1-answers.jsonl"' in file.headers["Content-Disposition"]
    lines = b"".join(file.streaming_content)
    sent = asking.post(f"{address}answers/", lines, kind="application/x-ndjson").json()
    assert (sent["n_rows"], sent["changed"]) == (4, False)
    csv = asking.get(f"{address}exports/questions/?format=csv", accept="text/csv")
    assert b"Where is river 1?" in b"".join(csv.streaming_content)
    problem(asking.get(f"{address}exports/answers/?format=pdf"), 400, "invalid")
    problem(asking.get(f"{address}exports/answers/?run=latest"), 400, "invalid")


TWICE = [
    {"worker": "ada", "question": "q1", "answer": "north"},
    {"worker": "ada", "question": "q1", "answer": "south"},
]


@pytest.mark.parametrize(("which", "text"), [("first", "north"), ("last", "south")])
def test_a_question_answered_twice_is_refused_unless_one_answer_counts(
    asking, address, which, text
):
    refused = asking.post(f"{address}answers/", {"rows": TWICE})
    (error,) = problem(refused, 400, "bad-rows")["errors"]
    assert (error["code"], error["index"]) == ("answers_differ", 1)
    assert "--" not in refused.content.decode()
    taken = asking.post(f"{address}answers/?duplicates={which}", {"rows": TWICE}).json()
    assert (taken["n_rows"], taken["n_new"], taken["n_superseded"]) == (2, 1, 1)
    assert Response.objects.get().text == text
    unknown = asking.post(f"{address}answers/?duplicates=both", {"rows": TWICE})
    assert unknown.status_code == 400


def test_what_people_are_told_is_read_and_changed_and_the_checks_are_listed(asking, address):
    codes = [one["code"] for one in asking.get(f"{address}checks/").json()["findings"]]
    assert codes == ["few_graded", "no_consent", "no_guidelines", "no_language"]
    told = {"language": "en", "guidelines": "Be **brief**.", "consent_text": "Pasting is counted."}
    changed = asking.patch(f"{address}texts/", told).json()
    assert changed | told == changed
    assert changed["consent_hash"] == hashlib.sha256(b"Pasting is counted.").hexdigest()
    assert asking.get(f"{address}texts/").json() == changed
    listed = asking.get(f"{address}questions/").json()["results"]
    one = f"{address}questions/{listed[0]['id']}/"
    odd = {"role": "attention", "max_characters": 50}
    assert asking.patch(one, odd).json()["max_characters"] == 50
    problem(asking.patch(one, {"role": "boss"}), 400, "invalid")
    found, *_ = asking.get(f"{address}checks/").json()["findings"]  # what blocks comes first
    assert (found["code"], found["blocks"], found["item"]) == ("no_key", True, "q1")
    refused = problem(asking.post(f"{address}publish/"), 409, "conflict")
    assert refused["detail"].split(": ")[0].endswith("q1")
    mended = {"role": "gold", "accepted_answers": ["here"], "feedback": "Here."}
    stored = asking.patch(one, mended).json()
    assert stored | mended | {"max_characters": 50} == stored
    assert asking.post(f"{address}publish/").json()["published_at"]
    problem(asking.patch(f"{address}texts/", told), 409, "conflict")


def test_a_body_of_lines_has_no_name_on_the_disk_and_is_read_as_often_as_needed(
    tmp_path, monkeypatch
):
    """So that a process that is killed leaves nothing behind."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    lines = LinesParser().parse(BytesIO(b'{"a": 1}\n{"a": 2}\n'))
    assert list(tmp_path.iterdir()) == []
    for _ in range(2):
        with lines.source.open() as opened:
            assert opened.read() == b'{"a": 1}\n{"a": 2}\n'
    assert lines.source.read_stamp() == (18, 0)
    assert lines.sha256 == lines.source.compute_digest()
    lines.file.close()
