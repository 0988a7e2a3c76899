"""MAQA over a question set: in turns, on its pages, by REST, from the terminal."""

import csv
import io
import json
from math import log

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse
from rest_framework.test import APIClient

from annotations.exchange.importing import import_several_answers
from annotations.exchange.reading.source import make_bytes_source
from annotations.models import Question, QuestionSet
from evaluation.maqa.messages import MEASURES
from evaluation.maqa.options import MaqaRunOptions
from evaluation.maqa.run.replies import INSTRUCTION, OPEN_INSTRUCTION
from evaluation.maqa.run.tables import AnswerRow, ItemRow, PairRow
from evaluation.maqa.run_type import MAQA
from evaluation.maqa.storage import estimate_requests, load_graded_questions
from evaluation.models import LanguageModel
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.flow.metrics import MetricRow
from evaluation.runs.steps.checkpoints import read_table_rows
from tests.evaluation.commands.running import manage
from tests.evaluation.core.backends.chat.fake import FakeChat, said
from tests.evaluation.runs.run_types.texts import numbers_of
from tests.problems import raises_problem

PUBLISHED = [
    {"question": "Which seas?", "answer": ["Baltic", ["North Sea", "German Ocean"]]},
    {"question": "Which primes divide 6?", "answer": [2, 3], "dataset": "mathematics"},
    {"question": "Who sang?", "answer": ["Bob Dylan"], "category": "music"},
]
# By question, reply after reply: sure and right; unsure and right once; sure and wrong; open.
REPLIES = {
    "Which seas?": ['["Baltic", "German Ocean"]\nConfidence: 90'] * 3,
    "Which primes divide 6?": ["[2, 3]\nConfidence: 60", "[5]\nConfidence: 20", "[7]"],
    "Who sang?": ['["Elvis"]\nConfidence: 95'] * 3,
    "Why is the sky blue?": [
        "Light scatters.\nConfidence: 80",
        "Light scatters.\nConfidence: 70",
        "The sea is mirrored.",
    ],
}


class World:
    """Models that reply by the question, the next reply each time it is asked."""

    def __init__(self):
        self.asked = {}
        self.server = FakeChat(self.reply)

    def reply(self, body):
        told, question = (message["content"] for message in body["messages"])
        name = question.splitlines()[0]
        number = self.asked.setdefault((body["model"], name), 0)
        self.asked[body["model"], name] += 1
        assert told == (OPEN_INSTRUCTION if name.startswith("Why") else INSTRUCTION)
        text = REPLIES[name][number % 3]
        more = {}
        if body.get("logprobs"):
            first, rest = text[:2], text[2:]
            entries = [token(first, 0.9), token(rest, 0.6)]
            more = {"choice": {"logprobs": {"content": entries}}}
        return said(text, **more)


def token(text, p):
    tops = [{"token": text, "logprob": log(p)}, {"token": "?", "logprob": log((1 - p) / 2)}]
    return {"token": text, "logprob": log(p), "top_logprobs": tops}


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


def published(questions=PUBLISHED):
    return make_bytes_source("questions.json", json.dumps(questions).encode())


def add(version, name, text, **more):
    Question.objects.create(version=version, external_id=name, text=text, position=9, **more)


@pytest.fixture
def question_set(rita):
    made = QuestionSet.objects.create(owner=rita, name="several")
    import_several_answers(made, published())
    version = made.latest_version()
    add(version, "why", "Why is the sky blue?")
    return made


def registered(owner, name, spec):
    return LanguageModel.objects.create(owner=owner, name=name, spec=spec, price_in=0, price_out=1)


@pytest.fixture
def small(rita, world):
    return registered(rita, "small", world.server.spec)


def options(models, **more):
    ids = tuple(str(one.public_id) for one in models)
    given = {"embedder": "tfidf-char", "bootstrap": 20, "samples": 3, **more}
    return MaqaRunOptions(models=ids, **given)


def done(question_set, parameters, state="done"):
    version = question_set.latest_version()
    run = runs.queue_run(version, question_set.owner_id, parameters, "maqa")
    while work_one_turn():
        pass
    run.refresh_from_db()
    assert run.state == state, run.error
    return run


def items(run, system="small"):
    return {row.item: row for row in read_table_rows(run, "items", ItemRow) if row.system == system}


def metric(run, name, system="small"):
    rows = read_table_rows(run, "metrics", MetricRow)
    return next(one for one in rows if (one.system, one.group, one.metric) == (system, "", name))


def test_a_reply_that_was_cut_off_is_counted_apart_from_errors(question_set, small, world):
    whole = world.server.reply
    world.server.reply = lambda body: (
        said("", "length") if "Who sang?" in str(body["messages"]) else whole(body)
    )
    run = done(question_set, options([small]))
    # Three samples of one question of four.
    summary = run.summary
    assert (summary["replies"], summary["errors"], summary["cut_off"]) == (9, 0, 3)
    assert items(run)["2"].reason == "cut_off"
    assert run.warnings[0]["code"] == "study_replies_cut_off"
    assert run.warnings[0]["values"]["count"] == 3


def test_what_will_be_asked_is_foreseen(question_set, small, world, rita):
    version, chosen = question_set.latest_version(), options([small])
    found = estimate_requests(version, rita, chosen)
    # Four questions, three samples each.
    assert (found.requests, found.stored) == (12, 0)
    assert found.cost == pytest.approx(12 * 256 / 1_000_000)
    done(question_set, chosen)
    assert len(world.server.bodies) == 12
    again = estimate_requests(version, rita, chosen)
    assert (again.requests, again.stored, again.cost) == (0, 12, 0)


def test_a_published_list_becomes_questions_with_all_right_answers(question_set):
    seas, primes, song, why = load_graded_questions(question_set.latest_version())
    assert seas.answers == (("Baltic",), ("North Sea", "German Ocean"))
    assert (primes.answers, primes.groups) == ((("2",), ("3",)), (("dataset", "mathematics"),))
    assert (song.id, song.groups, why.answers) == ("2", (("category", "music"),), ())
    row = Question.objects.get(external_id="0")
    assert row.accepted_answers == ["Baltic", "North Sea", "German Ocean"]
    again = import_several_answers(question_set, published())
    assert (again.n_new, again.n_unchanged) == (0, 3)


@pytest.mark.parametrize(
    ("change", "code", "column", "values"),
    [
        ({"answer": ["Baltic"]}, "stored_answers_differ", "id", {"name": "0"}),
        ({"question": "Which lakes?"}, "stored_answers_differ", "id", {"name": "0"}),
        ({"id": "x" * 300}, "question_value_long", "id", {"name": "id", "most": 255}),
        ({"answer": [["Baltic", " "]]}, "right_answer_empty", "answer", {"number": 1}),
    ],
)
def test_a_list_that_contradicts_what_is_there_is_refused_whole(
    question_set, change, code, column, values
):
    questions = [{"question": "Fresh?", "answer": ["x"], "id": "n"}, {**PUBLISHED[0], "id": "0"}]
    with raises_problem(code, file="questions.json", line=1, column=column, **values):
        import_several_answers(question_set, published([questions[0], {**questions[1], **change}]))
    assert not Question.objects.filter(external_id="n").exists()


def test_choices_are_put_with_their_letters_which_will_do_as_answers(question_set):
    version = question_set.latest_version()
    choices = {"choices": ["rose", "sky", "blood"], "accepted_answers": ["rose", "blood"]}
    add(version, "z", "Which are red?", kind="choice", **choices)
    last = load_graded_questions(version)[-1]
    assert last.text == "Which are red?\nA) rose\nB) sky\nC) blood"
    assert last.answers == (("rose", "A", "A) rose"), ("blood", "C", "C) blood"))


@pytest.mark.medium
def test_models_are_asked_several_times_and_the_numbers_are_those_of_files(
    question_set, small, world, tmp_path
):
    run = done(question_set, options([small]))
    assert len(world.server.bodies) == 12
    assert {body["temperature"] for body in world.server.bodies} == {1.0}
    found = items(run)
    assert (found["0"].precision, found["0"].meanings, found["0"].semantic_entropy) == (1, 1, 0)
    assert found["1"].precision == pytest.approx(1 / 3)
    assert found["1"].semantic_entropy == pytest.approx(log(3))
    assert (found["1"].verbalised, found["2"].verbalised) == (40, 95)
    assert (found["2"].precision, found["2"].semantic_entropy) == (0, 0)
    assert run.summary["cost"] == pytest.approx(12 * 5 / 1_000_000)
    assert "|models:" in run.signature
    assert "|inputs:" in run.signature
    measures = ("auroc_verbalised", "auroc_semantic_entropy", "calibration_error_verbalised")
    ours = {name: metric(run, name) for name in ("f1", *measures)}
    # The same replies in files: the same numbers, but for the open question, left out there.
    (tmp_path / "q.json").write_text(json.dumps(PUBLISHED))
    lines = [
        {"system": "small", "item": number, "sample": sample, "reply": text}
        for number, one in enumerate(PUBLISHED)
        for sample, text in enumerate(REPLIES[one["question"]])
    ]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    files = (tmp_path / "q.json", "--replies", tmp_path / "r.jsonl", "--output", tmp_path / "out")
    ran = manage("evaluate", "maqa", *files, "--bootstrap", 20, "--embedder", "tfidf-char")
    assert ran.code == 0, ran.err
    with (tmp_path / "out" / "metrics.csv").open(newline="") as file:
        of_files = {row["metric"]: row for row in csv.DictReader(file) if not row["group"]}
    for name, row in ours.items():
        assert (str(row.value), str(row.n)) == (of_files[name]["value"], of_files[name]["n"]), name


def test_of_an_open_question_it_is_told_how_sure_a_model_is_and_why_not_how_right(
    question_set, small
):
    run = done(question_set, options([small]))
    why = items(run)["why"]
    assert (why.precision, why.reason, why.verbalised) == (None, "no_right_answer", 75)
    # Two of three say the same.
    assert why.semantic_entropy == pytest.approx(-(2 / 3 * log(2 / 3) + 1 / 3 * log(1 / 3)))
    assert why.consistency == pytest.approx(1 / 3)
    answers = [row for row in read_table_rows(run, "answers", AnswerRow) if row.item == "why"]
    assert [row.right for row in answers] == [None] * 3
    assert answers[0].answer == "Light scatters."
    # It is in no score and in no coverage.
    assert metric(run, "f1").n == 3
    assert metric(run, "coverage_semantic_entropy").value == 1
    told = {
        (one.view.name, one.observation.question): one.observation
        for one in MAQA.read_observations(run)
    }
    assert told["semantic_entropy", "why"].value == pytest.approx(why.semantic_entropy)
    assert told["stated_confidence", "why"].value == 75


def test_a_set_without_any_right_answer_is_measured_too(client, rita, small):
    made = QuestionSet.objects.create(owner=rita, name="open")
    add(made.versions.create(number=1), "why", "Why is the sky blue?")
    run = done(made, options([small]))
    assert (metric(run, "f1").value, metric(run, "f1").n) == (None, 0)
    report = MAQA.load_result(run)
    assert (report.summary.with_answers, report.systems[0].f1) == (0, None)
    client.force_login(rita)
    for name, args in (("results-run", ()), ("results-page", ("texts",))):
        shown = client.get(reverse(f"admin:{name}", args=[run.public_id, *args]))
        assert shown.status_code == 200
        if name == "results-run":
            # Certainty needs no right answers: the chart has a row for the question.
            assert shown.context["by_question"].name == "by-question"
            assert 'data-chart="by-question"' in shown.content.decode()
    chart = reverse("admin:results-chart", args=[run.public_id, "by-question"])
    assert client.get(chart)["Content-Type"].startswith("image/svg+xml")
    assert 'id="open"' in shown.content.decode()
    assert 'id="wrong"' not in shown.content.decode()


@pytest.mark.medium
def test_likeliest_words_are_asked_for_where_wanted(question_set, small, world):
    run = done(question_set, options([small], top_tokens=2, vocabulary=10))
    assert {body["top_logprobs"] for body in world.server.bodies} == {2}
    first = next(row for row in read_table_rows(run, "answers", AnswerRow) if row.item == "0")
    assert first.max_softmax == pytest.approx(0.6)
    low = -(0.6 * log(0.6) + 0.2 * log(0.2) + 0.2 * log(0.2))
    assert first.entropy == pytest.approx(low)
    assert first.entropy_high == pytest.approx(low + 0.2 * log(8))
    assert items(run)["0"].semantic_entropy_weighted == 0
    again = done(question_set, options([small], top_tokens=2, vocabulary=10, bootstrap=0))
    assert len(world.server.bodies) == 12  # taken over, with their probabilities
    rows = [row for row in read_table_rows(again, "answers", AnswerRow) if row.item == "0"]
    assert rows[0].max_softmax == pytest.approx(0.6)


@pytest.mark.medium
def test_models_are_compared_by_question(question_set, rita, small, world):
    other = registered(rita, "other", world.server.spec.replace("small", "other"))
    run = done(question_set, options([small, other]))
    pairs = {row.measure: row for row in read_table_rows(run, "comparisons", PairRow)}
    assert (pairs["f1"].system_a, pairs["f1"].system_b) == ("small", "other")
    assert (pairs["f1"].difference, pairs["f1"].n) == (0, 3)
    assert pairs["auroc_semantic_entropy"].difference == 0


def test_a_run_without_a_model_or_a_question_is_not_started(question_set, rita, small):
    version = question_set.latest_version()

    def told(version, models):
        problems = MAQA.check(version, rita, MaqaRunOptions(models=models))
        return [(one.code, one.option) for one in problems]

    mine = (str(small.public_id),)
    assert told(version, ()) == [("no_models", "models")]
    assert told(version, mine) == []
    empty = QuestionSet.objects.create(owner=rita, name="empty").versions.create(number=1)
    assert told(empty, mine) == [("no_text", "")]


@pytest.mark.medium
def test_a_requester_uploads_a_list_starts_a_run_and_reads_it(client, rita, small, world):
    made = QuestionSet.objects.create(owner=rita, name="fresh")
    client.force_login(rita)
    start = reverse("admin:start", args=[made.public_id, "maqa"])
    assert client.get(start).context["before"].ready is False
    bad = SimpleUploadedFile("q.json", b'[{"question": "?"}]')
    refused = client.post(start, {"file": "questions", "questions": bad}, follow=True)
    problems = refused.context["staged"].problems
    assert [(one["line"], one["column"]) for one in problems] == [(1, "answer")]
    good = SimpleUploadedFile("q.json", json.dumps(PUBLISHED).encode())
    tried = client.post(start, {"file": "questions", "questions": good}, follow=True)
    assert not Question.objects.exists()
    token = tried.context["staged"].public_id
    client.post(reverse("admin:upload-confirm", args=[made.public_id, token]))
    taken = client.get(start)
    # Questions, those with right answers, those with several.
    assert numbers_of(taken.context["before"].words) == [3, 3, 2]
    assert taken.context["before"].words in taken.content.decode()
    run = done(made, options([small]))
    page = client.get(reverse("admin:results-run", args=[run.public_id])).content.decode()
    assert 'id="knows"' in page
    assert MEASURES["verbalised"].title in page
    shown = page.split("<main", 1)[-1].split("Tables</h2>")[0]
    assert not [name for name in ("auroc_", "semantic_entropy", "--") if name in shown]
    texts = client.get(reverse("admin:results-page", args=[run.public_id, "texts"]))
    told = texts.content.decode()
    assert told.index("Who sang?") < told.index("Which primes divide 6?")  # the surest first
    assert "Right answers: <bdi>Bob Dylan</bdi>" in told
    for name in MAQA.tables:
        table = client.get(reverse("admin:results-table", args=[run.public_id, name]))
        rows = list(csv.reader(io.StringIO(b"".join(table.streaming_content).decode())))
        assert len(rows) > 1 or name == "comparisons", name
    picture = client.get(reverse("admin:results-chart", args=[run.public_id, "roc-verbalised"]))
    assert picture.content.startswith(b"<?xml")


def test_a_program_starts_it_and_reads_the_report(question_set, rita, small):
    api = APIClient()
    api.force_authenticate(rita)
    body = {
        "question_set": str(question_set.public_id),
        "version": 1,
        "kind": "maqa",
        "parameters": options([small]).as_dict(),
    }
    made = api.post("/api/v1/runs/", body, format="json")
    assert made.status_code == 202, made.content
    while work_one_turn():
        pass
    found = api.get(f"/api/v1/runs/{made.json()['id']}/results/").json()
    assert found["systems"][0]["measures"][3]["measure"] == "verbalised"
    tables = api.get(f"/api/v1/runs/{made.json()['id']}/results/tables/").json()["results"]
    assert set(MAQA.tables) <= {one["name"] for one in tables}


def test_a_terminal_imports_the_list(rita, tmp_path):
    (tmp_path / "q.json").write_text(json.dumps(PUBLISHED))
    out = io.StringIO()
    call_command("import_several_answers", "seas", tmp_path / "q.json", owner="rita", stdout=out)
    assert "3" in out.getvalue()
    assert QuestionSet.objects.get(name="seas").latest_version().questions.count() == 3
