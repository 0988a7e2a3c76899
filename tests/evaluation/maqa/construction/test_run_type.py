"""A model generates questions, filters and a second model check them, people decide."""

import csv
import json

import pytest
from django.urls import reverse
from django.utils import timezone

from annotations import writing
from annotations.models import CandidateQuestion, QuestionSet, WritingMember
from evaluation.maqa.construction.options import ConstructionOptions
from evaluation.maqa.construction.storage import (
    BATCHES,
    CANDIDATES,
    estimate_requests,
    find_start_problems,
)
from evaluation.models import LanguageModel
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.steps.checkpoints import read_result_table
from tests.evaluation.commands.running import manage
from tests.evaluation.core.backends.chat.fake import FakeChat, error, question_of, said

SEAS = """Question: Which seas touch Germany?
Answers: ["Baltic Sea", "North Sea"]
Question: Which sea is the saltiest?
Answers: ["Dead Sea"]
Question: Which seas touch Poland?
Answers: ["Baltic Sea", "Black Sea"]"""
PRIMES = '[{"question": "Which primes divide 6?", "answers": [["2", "two"], "3"]}]'
RIGHT = "Wrong: none\nMissing: none\nClear: yes\nReason: as every atlas shows"
WRONG = "Wrong: 2\nMissing: none\nClear: yes\nReason: the Black Sea is far away"


class World:
    """Server of both models; `replies` maps a part of a prompt to the replies, in turn."""

    def __init__(self):
        self.replies = {
            "topic: seas": [SEAS],
            "topic: primes": ["I do not understand.", PRIMES],
            "touch Germany": [RIGHT],
            "touch Poland": [WRONG],
            "divide 6": ["Looks fine!", "Still fine!"],
        }
        self.asked = []
        self.server = FakeChat(self.reply)

    def reply(self, body):
        messages = body["messages"]
        if body["model"] == "writer":
            assert "at least two right answers" in messages[0]["content"]
        name = next(part for part in self.replies if part in messages[0]["content"])
        self.asked.append((body["model"], name, len(messages)))
        known = self.replies[name]
        # A request with the reminder gets the second reply.
        is_again = "another format" in messages[-1]["content"]
        told = known[min(int(is_again), len(known) - 1)]
        return told if not isinstance(told, str) else said(told)


@pytest.fixture
def world():
    made = World()
    yield made
    made.server.close()


@pytest.fixture
def rita(db, django_user_model, monkeypatch, settings):
    settings.MODEL_NETWORKS = ["127.0.0.0/8"]
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    return django_user_model.objects.create_user("rita", password="rivers", is_staff=True)


@pytest.fixture
def version(rita):
    return QuestionSet.objects.create(owner=rita, name="seas").versions.create(number=1)


@pytest.fixture
def models(rita, world):
    return {
        name: LanguageModel.objects.create(
            owner=rita, name=name, spec=world.server.spec.replace("small", name),
            price_in=1, price_out=2,
        )
        for name in ("writer", "checker")
    }  # fmt: skip


def options(models, **more):
    given = {
        "generator": str(models["writer"].public_id),
        "verifier": str(models["checker"].public_id),
        "topics": "seas\n\n primes \nseas",
        "per_request": 3,
    }
    return ConstructionOptions(**given | more)


def done(version, parameters, state="done"):
    run = runs.queue_run(version, version.question_set.owner_id, parameters, "maqa-questions")
    while work_one_turn():
        pass
    run.refresh_from_db()
    assert run.state == state, run.error
    return run


@pytest.fixture
def run(version, models):
    return done(version, options(models))


def test_each_candidate_says_where_it_left_and_why(run):
    rows = {row.question: row for row in read_result_table(run, CANDIDATES)}
    stages = {row.question: (row.stage, row.reason, row.verdict) for row in rows.values()}
    assert stages == {
        "Which seas touch Germany?": ("checking", "", "right"),
        "Which sea is the saltiest?": ("filtered", "single_answer", ""),
        "Which seas touch Poland?": ("refused", "wrong", "wrong"),
        "Which primes divide 6?": ("checking", "", "unread"),
    }
    poland = rows["Which seas touch Poland?"]
    assert poland.verdict_note == "2: the Black Sea is far away"
    assert poland.verified_by.startswith("checker (openai:checker@")
    summary = run.summary
    counts = [summary[name] for name in ("generated", "filtered", "refused", "checking", "failed")]
    assert counts == [4, 1, 1, 2, 0]
    assert summary["reasons"] == {"single_answer": 1, "wrong": 1}
    batches = list(read_result_table(run, BATCHES))
    assert [(row.source, row.attempts, row.status, row.questions) for row in batches] == [
        ("seas", 1, "text", 3),
        ("primes", 2, "text", 1),
    ]


def test_a_failed_batch_is_asked_again_and_never_reused(version, models, world):
    world.replies["topic: primes"] = [error(400, "bad"), "Still nothing."]
    run = done(version, options(models))
    rows = {row.source: row for row in read_result_table(run, BATCHES)}
    assert (rows["primes"].attempts, rows["primes"].status) == (2, "unreadable")
    assert run.summary["failed"] == 1
    # The server is well again: the next run asks about the primes, and reuses the seas.
    world.replies["topic: primes"] = [PRIMES]
    world.asked.clear()
    again = done(version, options(models))
    assert ("writer", "topic: primes", 1) in world.asked
    assert ("writer", "topic: seas", 1) not in world.asked
    assert (
        next(row.questions for row in read_result_table(again, BATCHES) if row.source == "primes")
        == 1
    )
    # What the first run generated is there already.
    stages = {row.question: row.reason for row in read_result_table(again, CANDIDATES)}
    assert stages["Which seas touch Germany?"] == "duplicate"


def test_an_unread_verdict_is_asked_for_by_the_next_run(version, models, world, run):
    CandidateQuestion.objects.all().delete()
    world.replies["divide 6"] = [RIGHT]
    world.asked.clear()
    again = done(version, options(models))
    verdicts = {row.question: row.verdict for row in read_result_table(again, CANDIDATES)}
    assert verdicts["Which primes divide 6?"] == "right"
    # The batch of the primes failed at first, so it is asked again; its other requests are reused.
    assert {asked[1] for asked in world.asked} == {"topic: primes", "divide 6"}


def test_a_server_that_is_down_ends_the_run_with_the_reason(version, models, world):
    world.replies = {"": [error(401, "key")]}
    run = done(version, options(models), "failed")
    assert run.error
    assert not CandidateQuestion.objects.exists()


def test_requests_tokens_and_cost_are_foreseen(version, rita, models, world):
    found = estimate_requests(version, rita, options(models, batches=2))
    # 2 topics, 2 batches each; at most 3 questions of each of the 4 batches to verify.
    assert [(take.model, take.requests) for take in found.takes] == [("writer", 4), ("checker", 12)]
    assert found.completion_tokens == 4 * 1024 + 12 * 256
    assert found.cost == pytest.approx(
        (found.prompt_tokens * 1 + found.completion_tokens * 2) / 1_000_000
    )
    assert world.asked == []


def test_batches_of_one_topic_are_requests_of_their_own(version, models, world):
    done(version, options(models, topics="seas", batches=2, verifier=None))
    prompts = {question_of(body) for body in world.server.bodies}
    assert len(prompts) == 2
    # The second batch brought the same questions.
    states = list(CandidateQuestion.objects.order_by("number").values_list("state", "reason"))
    assert states[3:] == [
        ("filtered", "duplicate"), ("filtered", "single_answer"), ("filtered", "duplicate"),
    ]  # fmt: skip


def test_a_run_needs_a_model_and_a_source(version, rita, models):
    def problems(parameters):
        found = find_start_problems(version, rita, parameters)
        return [(one.code, one.option) for one in found]

    assert problems(options(models)) == []
    assert problems(options(models, topics=None)) == [("no_source", "topics")]
    assert problems(ConstructionOptions(topics="seas")) == [("no_models", "generator")]
    many = "\n".join(map(str, range(201)))
    assert problems(options(models, topics=many)) == [("too_many_topics", "topics")]


def test_without_topics_the_questions_of_the_set_are_the_sources(version, models, world):
    sources = ("subject of: Why salt?", "subject of: Which primes")
    world.replies = {name: [PRIMES] for name in sources} | world.replies
    version.questions.create(external_id="1", text="Why salt?")
    version.questions.create(external_id="2", text="Which primes divide 6?")
    run = done(version, options(models, topics=None, verifier=None))
    rows = [(row.source, row.reason, row.detail) for row in read_result_table(run, CANDIDATES)]
    assert rows == [
        ("Why salt?", "duplicate", "Which primes divide 6?"),
        ("Which primes divide 6?", "duplicate", "Which primes divide 6?"),
    ]


@pytest.fixture
def people(rita, run, django_user_model):
    project = CandidateQuestion.objects.first().project
    named = {}
    for name in ("vic", "val"):
        user = django_user_model.objects.create_user(name, last_login=timezone.now())
        writing.invite(project, user, WritingMember.Role.VALIDATOR)
        named[name] = user
    return named


def check(client, user, candidate, **more):
    """Send a verdict on a candidate as the page does."""
    client.force_login(user)
    address = reverse(
        "admin:writing-verify", args=[candidate.project.public_id, candidate.public_id]
    )
    form = client.get(address).context["form"]
    return client.post(address, {**form.initial, **more})  # fmt: skip


def candidate(text):
    return CandidateQuestion.objects.get(text=text)


def test_two_people_accept_edit_or_reject_and_the_set_is_evaluated(
    client, rita, version, people, tmp_path
):
    seas, primes = candidate("Which seas touch Germany?"), candidate("Which primes divide 6?")
    assert check(client, people["vic"], seas, verdict="accept").status_code == 302
    sent = {"verdict": "edit", "answers": "2 | two\n3 | three"}
    assert check(client, people["vic"], primes, **sent).status_code == 302
    primes.refresh_from_db()
    assert (primes.answers, primes.revision, primes.state) == (
        [["2", "two"], ["3", "three"]], 2, "checking",
    )  # fmt: skip
    # The second agrees to one, and to the edited text of the other.
    assert check(client, people["val"], seas, verdict="accept").status_code == 302
    assert check(client, people["val"], primes, verdict="accept").status_code == 302
    client.force_login(rita)
    set_id = version.question_set.public_id
    page = client.get(reverse("admin:writing-candidates", args=[set_id]))
    summary = page.context["summary"]
    assert (summary.accepted, summary.filtered, summary.refused, summary.edited) == (2, 1, 1, 1)
    assert (summary.checked, summary.agreed) == (2, 2)
    for name in ("writing-candidates-add", "writing-candidates-export"):
        assert client.get(reverse(f"admin:{name}", args=[set_id])).status_code == 200
    detail = client.get(reverse("admin:writing-candidate", args=[set_id, primes.public_id]))
    assert [vote.edited for vote in detail.context["votes"]] == [False, True]
    # Nothing is in a set before the confirmation.
    assert QuestionSet.objects.count() == 1
    address = reverse("admin:writing-candidates-add", args=[set_id])
    form = client.get(address).context["form"]
    client.post(address, form.initial)
    made = QuestionSet.objects.exclude(pk=version.question_set_id).get()
    assert made.owner == rita
    rows = made.latest_version().questions.order_by("position")
    assert [row.text for row in rows] == ["Which seas touch Germany?", "Which primes divide 6?"]
    provenance = rows[1].metadata["provenance"]
    assert provenance["generated_by"].startswith("writer (")
    assert sorted(provenance["verified_by"]) == ["val", "vic"]
    assert (provenance["edited_by"], provenance["model_verdict"]) == (["vic"], "unread")
    assert provenance["generated"]["answers"] == [["2", "two"], ["3"]]
    # A second confirmation has nothing left to add.
    assert client.post(address, form.initial).status_code == 400
    assert QuestionSet.objects.count() == 2
    # The file is one of `evaluate maqa`.
    exported = client.get(reverse("admin:writing-candidates-export", args=[set_id]))
    (tmp_path / "q.json").write_bytes(exported.content)
    listed = json.loads(exported.content)
    assert listed[1]["answer"] == [["2", "two"], ["3", "three"]]
    reply = {"system": "a", "item": listed[1]["id"], "reply": '["two", "3"]\nConfidence: 90'}
    (tmp_path / "r.jsonl").write_text(json.dumps(reply))
    files = (tmp_path / "q.json", "--replies", tmp_path / "r.jsonl", "--output", tmp_path / "out")
    ran = manage("evaluate", "maqa", *files, "--embedder", "tfidf-char", "--bootstrap", 10)
    assert ran.code == 0, ran.err
    with (tmp_path / "out" / "items.csv").open(newline="") as file:
        scores = {row["item"]: row for row in csv.DictReader(file)}[listed[1]["id"]]
    # Both right answers, one by its other spelling.
    assert (float(scores["precision"]), float(scores["recall"])) == (1, 1)


def test_one_rejection_rejects_with_its_reason(client, people):
    seas = candidate("Which seas touch Germany?")
    check(client, people["vic"], seas, verdict="accept")
    check(client, people["val"], seas, verdict="reject", reason="incomplete", note="Wadden Sea")
    seas.refresh_from_db()
    assert (seas.state, seas.reason, seas.detail) == ("rejected", "incomplete", "Wadden Sea")
    summary = writing.summarize_candidates(seas.project)
    assert (summary.checked, summary.agreed) == (1, 0)


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({}, "verdict"),
        ({"verdict": "reject"}, "reason"),
        ({"verdict": "reject", "reason": "other"}, "note"),
        ({"verdict": "edit"}, "text"),
        ({"verdict": "edit", "text": " "}, "text"),
        ({"verdict": "edit", "text": "which PRIMES divide 6?"}, "text"),
        ({"verdict": "edit", "answers": "North Sea\nnorth sea"}, "answers"),
        ({"verdict": "edit", "answers": f"North Sea\n{'x' * 501}"}, "answers"),
    ],
)
def test_a_verdict_that_lacks_something_changes_nothing(client, people, sent, field):
    seas = candidate("Which seas touch Germany?")
    answer = check(client, people["vic"], seas, **sent)
    assert answer.status_code == 400
    assert list(answer.context["form"].errors) == [field]
    seas.refresh_from_db()
    assert (seas.revision, seas.votes.count()) == (1, 0)


def test_a_vote_on_a_text_that_was_edited_meanwhile_is_not_stored(client, people):
    seas = candidate("Which seas touch Germany?")
    check(client, people["vic"], seas, verdict="edit", text="Which two seas touch Germany?")
    answer = check(client, people["val"], seas, verdict="accept", revision="1")
    assert answer.status_code == 302
    # The editor's own vote is the only one.
    assert list(seas.votes.values_list("revision", "edited")) == [(2, True)]
    # Whoever edited does not check the own revision again.
    assert seas.public_id not in [
        task.id for task in writing.list_candidate_tasks(seas.project, people["vic"].pk).open
    ]


def test_a_candidate_accepted_after_the_preview_does_not_slip_in(client, rita, version, people):
    seas, primes = candidate("Which seas touch Germany?"), candidate("Which primes divide 6?")
    for name in people:
        check(client, people[name], seas, verdict="accept")
    client.force_login(rita)
    address = reverse("admin:writing-candidates-add", args=[version.question_set.public_id])
    form = client.get(address).context["form"]
    for name in people:
        check(client, people[name], primes, verdict="accept")
    client.force_login(rita)
    answer = client.post(address, form.initial)
    assert answer.status_code == 400
    assert QuestionSet.objects.count() == 1
    # The page shows both now, and its confirmation adds both.
    client.post(address, {"name": "new", "preview": answer.context["signed"]})
    assert QuestionSet.objects.get(name="new").latest_version().questions.count() == 2


def test_nobody_votes_twice_or_after_the_decision(client, people, django_user_model):
    seas = candidate("Which seas touch Germany?")
    check(client, people["vic"], seas, verdict="reject", reason="wrong")
    check(client, people["vic"], seas, verdict="accept")
    assert list(seas.votes.values_list("accepted", "reason")) == [(True, "")]
    check(client, people["val"], seas, verdict="accept")
    client.force_login(people["vic"])
    address = reverse("admin:writing-verify", args=[seas.project.public_id, seas.public_id])
    assert client.get(address).status_code == 404
    assert client.post(address, {"verdict": "reject"}).status_code == 302
    seas.refresh_from_db()
    assert seas.state == "accepted"


def test_only_validators_check_and_only_those_with_rights_see_the_list(
    client, version, people, django_user_model
):
    seas = candidate("Which seas touch Germany?")
    stranger = django_user_model.objects.create_user("sam", is_staff=True)
    client.force_login(stranger)
    set_id = version.question_set.public_id
    for name, args in (
        ("writing-candidates", [set_id]),
        ("writing-candidates-add", [set_id]),
        ("writing-candidates-export", [set_id]),
        ("writing-candidate", [set_id, seas.public_id]),
        ("writing-verify", [seas.project.public_id, seas.public_id]),
    ):
        assert client.get(reverse(f"admin:{name}", args=args)).status_code == 404, name
    # A validator sees neither the list nor who generated a candidate.
    client.force_login(people["vic"])
    assert client.get(reverse("admin:writing-candidates", args=[set_id])).status_code == 404
    page = client.get(
        reverse("admin:writing-verify", args=[seas.project.public_id, seas.public_id])
    )
    assert "openai:" not in page.content.decode()


def test_a_project_of_a_draft_gives_writers_nothing_to_change(rita, version, run):
    project = CandidateQuestion.objects.first().project
    version.questions.create(external_id="1", text="How many?", answerable=True)
    with pytest.raises(writing.WritingError) as caught:
        writing.take(project, rita.pk)
    assert caught.value.code == "not_published"


def test_the_pages_of_the_run_and_of_an_empty_set(client, rita, version, models, run):
    client.force_login(rita)
    page = client.get(reverse("admin:results-run", args=[run.public_id]))
    assert len(page.context["rows"]) == 4
    for name in ("candidates", "batches"):
        table = client.get(reverse("admin:results-table", args=[run.public_id, name]))
        assert table.status_code == 200
    empty = QuestionSet.objects.create(owner=rita, name="empty")
    page = client.get(reverse("admin:writing-candidates", args=[empty.public_id]))
    assert page.status_code == 200
    assert "summary" not in page.context
    start = reverse("admin:start", args=[empty.public_id, "maqa-questions"])
    assert client.get(start).status_code == 200
