"""Undoing files of models' answers, of questions and of passages."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotations.exchange.importing import (
    import_passages,
    import_prompts,
    import_questions,
    import_several_answers,
    import_word_problems,
)
from annotations.exchange.reading.source import make_bytes_source
from annotations.models import (
    AuditEntry,
    Import,
    Passage,
    Question,
    QuestionSet,
    Response,
    Translation,
    Variant,
)
from evaluation.consensus.parameters import AqerParameters
from evaluation.deletion.storage import record, undoing
from evaluation.deletion.storage.record import Note
from evaluation.models import (
    HumanJudgement,
    LanguageModel,
    LLMComparison,
    LLMResponse,
    LLMScore,
    Removal,
    Run,
)
from evaluation.runs.background import runs
from evaluation.runs.imports import import_model_answers
from tests.evaluation.deletion.test_undoing import FIRST, brought, notes_of, rana, rivers, work
from tests.evaluation.eloquent.test_evaluate import prompts_text
from tests.evaluation.maqa.test_run_type import published
from tests.evaluation.umwp.world import lines

__all__ = ["brought", "rana", "rivers"]

QUICK = AqerParameters(embedder="tfidf-word", bootstrap=0)
MODELS = "model,question,answer\nsmall,q1,in the hills\nsmall,q2,at sea\nlarge,q1,in hills\n"
MORE = "model,question,answer\nsmall,q1,in the hills\nlarge,q2,the sea\n"
PASSAGES = "passage,text,text.de\np1,The river rises.,Der Fluss steigt.\np2,The sea.,Das Meer.\n"
QUESTIONS = (
    "question,text,text.de,passage\n"
    "q1,Where does it rise?,Wo steigt er?,p1\nq2,Where does it end?,Wo endet er?,\n"
)


@pytest.fixture
def taken(rivers, rana, tmp_path):
    """Take a file of any kind in and return its import."""

    def take(load, text, name):
        file = tmp_path / name
        file.write_text(text)
        load(rivers, file, imported_by=rana.pk)
        return Import.objects.latest("pk")

    return take


@pytest.fixture
def passages(taken):
    return taken(import_passages, PASSAGES, "passages.csv")


@pytest.fixture
def questions(passages, taken):
    return taken(import_questions, QUESTIONS, "questions.csv")


def undone(one, user):
    undoing.request_undo(one, user.pk)
    work()
    one.refresh_from_db()
    return one.undone_at is not None


def test_answers_of_models_go_with_the_models_they_made_and_no_others(brought, taken, rana):
    brought(FIRST)
    LanguageModel.objects.create(owner=rana, name="large", family="gpt")
    first = taken(import_model_answers, MODELS, "models.csv")
    again = taken(import_model_answers, MORE, "more.csv")
    assert (first.what, first.n_new, first.n_unchanged, first.n_models) == (
        "model_answers", 3, 0, 1,
    )  # fmt: skip
    assert (again.n_new, again.n_unchanged, again.n_models) == (1, 1, 0)
    assert (first.imported_by, first.publishes) == (rana, False)
    told = undoing.find_import_dependents(first)
    assert told.counts == {"answers of models": 3, undoing.MODELS_MADE: 1}
    assert notes_of(told)["repeated_later"] == {"files": "more.csv (1 rows)"}
    assert undone(first, rana)
    assert [one.text for one in LLMResponse.objects.all()] == ["the sea"]
    # Large was there before; people's answers and their questions are another import's.
    assert [one.name for one in LanguageModel.objects.all()] == ["large"]
    assert (Response.objects.count(), Question.objects.count()) == (4, 2)
    entries = AuditEntry.objects.order_by("pk").values_list("action", "name")
    assert list(entries) == [("undo", "rivers: models.csv"), ("undone", "rivers: models.csv")]


def test_models_that_somebody_described_and_replies_asked_for_anew_stay(brought, taken, rana):
    brought(FIRST)
    first = taken(import_model_answers, MODELS, "models.csv")
    LanguageModel.objects.filter(name="small").update(notice="Ours.")
    LLMResponse.objects.filter(model__name="large").update(key="f" * 64)
    notes = notes_of(undoing.find_import_dependents(first))
    assert (notes["asked_anew"], notes["models_in_use"]) == ({"n": 1}, {"n": 2})
    assert undone(first, rana)
    assert LLMResponse.objects.get().model.name == "large"
    assert LanguageModel.objects.count() == 2


def test_runs_made_of_models_answers_are_told_and_cannot_be_reproduced(
    client, brought, taken, rivers, rana, monkeypatch
):
    brought(FIRST)
    first = taken(import_model_answers, MODELS, "models.csv")
    run = runs.queue_run(rivers.latest_version(), rana.pk, QUICK)
    removal = undoing.request_undo(first, rana.pk)
    assert "import_in_use" in notes_of(undoing.find_import_dependents(first))
    assert undoing.undo_batch(removal) is record.StepResult.WAITS
    Removal.objects.all().delete()
    work()
    assert Run.objects.get(pk=run.pk).state == "done"
    LLMComparison.objects.all().delete()  # the scores alone keep the models
    HumanJudgement.objects.create(llm_response=LLMResponse.objects.first(), expert=rana, grade=4)
    told = undoing.find_import_dependents(first)
    assert told.counts["judgements"] == 1
    assert told.counts[undoing.MODEL_SCORES] == 3
    assert undoing.MODELS_MADE not in told.counts
    assert "import_in_use" not in notes_of(told)
    assert notes_of(told)["import_runs"]["n"] == 1
    monkeypatch.setattr(record, "BATCH", 2)
    assert undone(first, rana)
    run.refresh_from_db()
    assert run.n_withdrawn == 3
    assert not LLMResponse.objects.exists()
    # Both stand in the run: their rows stay, under their names.
    assert LLMScore.objects.filter(run=run).count() == 2


def test_questions_and_passages_of_a_draft_go_with_their_translations(
    passages, questions, rivers, rana, monkeypatch
):
    assert (questions.what, questions.n_new, questions.n_questions) == ("questions", 2, 2)
    assert (passages.what, passages.n_new, passages.n_passages) == ("passages", 2, 2)
    told = undoing.find_import_dependents(passages)
    assert told.counts == {"passages": 1, "translations": 1}
    assert notes_of(told)["passages_needed"] == {"n": 1}
    assert undoing.find_import_dependents(questions).counts == {"questions": 2, "translations": 2}
    monkeypatch.setattr(record, "BATCH", 1)
    assert undone(questions, rana)
    assert undone(passages, rana)
    for model in (Question, Passage, Translation):
        assert not model.objects.exists()
    assert rivers.versions.count() == 1


def test_what_was_changed_since_or_came_otherwise_stays(passages, questions, taken, rivers, rana):
    version = rivers.latest_version()
    Question.objects.create(version=version, external_id="own", text="Mine?")
    Question.objects.filter(external_id="q2").update(text="Where does it really end?")
    german = Translation.objects.get(passage__external_id="p2")
    german.texts = {"text": "Die See."}
    german.save()
    notes = notes_of(undoing.find_import_dependents(questions))
    assert notes["changed"] == {"n": 1, "noun": "questions"}
    assert undone(questions, rana)
    assert set(Question.objects.values_list("external_id", flat=True)) == {"own", "q2"}
    assert undone(passages, rana)
    assert [one.external_id for one in Passage.objects.all()] == ["p2"]


def test_a_change_between_the_asking_and_the_taking_out_counts(passages, rana):
    undoing.request_undo(passages, rana.pk)
    Passage.objects.filter(external_id="p1").update(title="Mine")
    work()
    assert [one.external_id for one in Passage.objects.all()] == ["p1"]


def test_what_is_published_is_not_undone_and_the_page_says_what_to_do(
    client, questions, rivers, rana
):
    removal = undoing.request_undo(questions, rana.pk)
    rivers.latest_version().publish()
    # Published after it was asked for: nothing goes, and it counts as never begun.
    work()
    questions.refresh_from_db()
    assert (Question.objects.count(), questions.undone_at) == (2, None)
    assert not Removal.objects.filter(pk=removal.pk).exists()
    page = reverse("admin:import-undo", args=[rivers.public_id, questions.public_id])
    shown = client.get(page)
    (obstacle,) = shown.context["hanging"].obstacles
    assert (obstacle.code, obstacle.values) == ("published", {"number": 1, "noun": "questions"})
    assert obstacle in shown.content.decode()
    assert "cg-danger" not in shown.content.decode()
    assert client.post(page).status_code == 200
    address = reverse("api:import-undoing", args=[rivers.public_id, questions.public_id])
    assert client.get(address).json()["can_go"] is False
    refused = client.post(address)
    assert refused.status_code == 409
    assert obstacle in refused.json()["detail"]
    assert not Removal.objects.exists()


def test_texts_that_a_file_gave_to_questions_that_were_there_stay(brought, taken, rana):
    answers = brought(FIRST)
    completed = taken(
        import_questions, "question,text\nq1,Where is it?\nq2,Where to?\n", "texts.csv"
    )
    assert (completed.n_new, completed.n_questions) == (2, 0)
    rest = undoing.find_import_dependents(completed)
    assert not rest.can_go
    assert [obstacle.code for obstacle in rest.obstacles] == ["published"]
    # What the file of answers made has words of another file now.
    assert undone(answers, rana)
    assert [one.text for one in Question.objects.order_by("pk")] == ["Where is it?", "Where to?"]


def test_undone_twice_is_told_and_done_once(client, questions, rivers, rana):
    address = reverse("api:import-undoing", args=[rivers.public_id, questions.public_id])
    first, second = client.post(address), client.post(address)
    assert (first.status_code, second.status_code) == (202, 202)
    assert first.json()["created_at"] == second.json()["created_at"]
    work()
    assert AuditEntry.objects.filter(action="undone").count() == 1
    page = reverse("admin:import-undo", args=[rivers.public_id, questions.public_id])
    told = client.get(page, follow=True).content.decode()
    assert "questions.csv was undone before" in told
    assert client.post(address).json()["finished_at"]
    assert AuditEntry.objects.count() == 2


def test_nobody_else_sees_or_undoes_somebodys_import(client, questions, rivers, django_user_model):
    other = django_user_model.objects.create_user("omar", is_staff=True)
    client.force_login(other)
    for name in ("admin:import-undo", "api:import-undoing"):
        address = reverse(name, args=[rivers.public_id, questions.public_id])
        assert [client.get(address).status_code, client.post(address).status_code] == [404, 404]
    # Nor under the address of a set of their own.
    own = QuestionSet.objects.create(owner=other, name="lakes")
    address = reverse("api:import-undoing", args=[own.public_id, questions.public_id])
    assert client.post(address).status_code == 404
    assert (Removal.objects.count(), Question.objects.count()) == (0, 2)


def test_commands_pages_and_the_api_keep_their_imports_alike(client, rivers, rana, tmp_path):
    (tmp_path / "p.csv").write_text(PASSAGES)
    (tmp_path / "q.csv").write_text(QUESTIONS)
    (tmp_path / "m.csv").write_text(MODELS)
    arguments = ["rivers", str(tmp_path / "q.csv"), "--passages", str(tmp_path / "p.csv")]
    call_command("import_questions", *arguments, "--dry-run")
    assert not Import.objects.exists()
    call_command("import_questions", *arguments)
    call_command("import_questions", *arguments)
    sent = client.post(
        reverse("api:passage-list", args=[rivers.public_id]),
        {"rows": [{"passage": "p3", "text": "A lake."}]},
        content_type="application/json",
    )
    assert sent.status_code == 200
    call_command("import_model_answers", "rivers", str(tmp_path / "m.csv"))
    listed = client.get(reverse("api:imports", args=[rivers.public_id])).json()["results"]
    assert [(one["what"], one["n_new"], one["n_left"], one["imported_by"]) for one in listed] == [
        ("model_answers", 3, 3, ""),
        ("passages", 1, 1, "rana"),
        ("questions", 2, 2, ""),
        ("passages", 2, 2, ""),
    ]
    assert (listed[0]["n_models"], listed[3]["n_passages"]) == (2, 2)
    page = client.get(reverse("admin:imports", args=[rivers.public_id])).content.decode()
    for words in ("3 models’ answers", "1 passage<", "2 questions<"):
        assert words in page
    # It published the version, which its undoing leaves.
    one = Import.objects.get(what="model_answers")
    assert notes_of(undoing.find_import_dependents(one))["version_stays"] == {"number": 1}


def test_copies_in_the_next_version_are_not_what_the_import_brought(client, questions, rivers):
    version = rivers.latest_version()
    version.publish()
    assert version.copy_as_draft().questions.count() == 2
    listed = client.get(reverse("api:imports", args=[rivers.public_id])).json()["results"]
    assert [(one["what"], one["n_left"]) for one in listed] == [("questions", 2), ("passages", 2)]
    # Not even where the version into which it came is gone.
    questions.version = None
    told = undoing.find_import_dependents(questions)
    assert (told.counts, told.can_go) == ({}, False)
    (obstacle,) = told.obstacles
    assert obstacle.code == "none_can_go"
    assert obstacle.values["why"] == f" {Note('deleted_before', n=2, noun='questions')}"


def test_questions_wait_for_a_run_that_is_queued_on_their_draft(questions, rivers, rana):
    version = rivers.latest_version()
    run = Run.objects.create(
        version=version, owner=rana, kind="aqer", parameters={}, state="queued"
    )
    removal = undoing.request_undo(questions, rana.pk)
    assert undoing.undo_batch(removal) is record.StepResult.WAITS
    assert "draft_in_use" in notes_of(undoing.find_import_dependents(questions))
    assert Question.objects.count() == 2
    Run.objects.filter(pk=run.pk).update(state="cancelled", finished_at=run.created_at)
    work()
    assert not Question.objects.exists()


@pytest.mark.parametrize(
    ("take", "source"),
    [
        (import_prompts, lambda: make_bytes_source("w.json", prompts_text().encode())),
        (import_word_problems, lambda: make_bytes_source("p.jsonl", lines())),
        (import_several_answers, published),
    ],
    ids=["prompts", "problems", "several answers"],
)
def test_files_of_the_evaluations_are_imports_too_and_go_unless_they_were_changed(
    rivers, rana, take, source
):
    take(rivers, source(), imported_by=rana.pk)
    one = Import.objects.get()
    made = Question.objects.count()
    assert (one.what, one.n_questions, one.n_new, one.imported_by) == (
        "questions", made, made, rana,
    )  # fmt: skip
    take(rivers, source(), imported_by=rana.pk)
    assert Import.objects.count() == 1
    changed = Question.objects.latest("pk")
    wordings = Variant.objects.count()
    told = undoing.find_import_dependents(one).counts
    assert (told["questions"], told.get("other wordings", 0)) == (made, wordings)
    Variant.objects.create(question=changed, external_id="mine", text="Otherwise?")
    kept = changed.variants.count()
    assert undone(one, rana)
    assert Question.objects.get() == changed
    assert Variant.objects.count() == kept


def test_a_problem_completed_by_a_later_file_is_not_the_first_imports(brought, rivers, rana):
    answers = brought("worker,question,answer\nada,1,55\n")
    rivers.latest_version().publish()
    import_word_problems(rivers, make_bytes_source("p.jsonl", lines()), imported_by=rana.pk)
    later = Import.objects.latest("pk")
    assert later.n_new == later.n_questions + 1
    assert undone(answers, rana)
    first = rivers.versions.get(number=1).questions.get(external_id="1")
    assert first.text
