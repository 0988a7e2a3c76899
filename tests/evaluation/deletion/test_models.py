"""Archiving, restoring and deleting language models, and notes about them."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils.timezone import now
from rest_framework.test import APIClient

from annotations.exchange.problems import InputError
from annotations.models import AuditEntry, Membership, Team
from evaluation.deletion.storage import record, removals
from evaluation.deletion.storage.record import Note
from evaluation.language_models.report import build_model_history
from evaluation.models import (
    LanguageModel,
    LanguageModelNote,
    LLMAnswerScore,
    LLMComparison,
    LLMResponse,
    LLMScore,
    Removal,
    Run,
)
from evaluation.runs.forms import select_askable_models
from evaluation.runs.imports import import_model_answers
from evaluation.runs.steps.asking.registration import find_model_problems
from tests.annotations import world as crowd
from tests.evaluation.site.handles import notices, states

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def silent(monkeypatch):
    """No bell rings."""
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)


@pytest.fixture
def version(rana):
    return crowd.version(rana)


@pytest.fixture
def model(version):
    """A model with two answers, scored and compared with another one in a run."""
    model, other = (
        LanguageModel.objects.create(owner=version.question_set.owner, name=name, spec="local:x")
        for name in ("Small", "Large")
    )
    run = Run.objects.create(
        owner=model.owner,
        version=version,
        state="done",
        finished_at=now(),
        input_hash="abc123",
    )
    for one in (model, other):
        for question in version.questions.all():
            answer = one.responses.create(question=question, text="north", status="text")
            LLMAnswerScore.objects.create(run=run, llm_response=answer, score=0.5)
        LLMScore.objects.create(run=run, model=one, score=0.5, n=2, n_answered=2, rank=1)
    LLMComparison.objects.create(run=run, model_a=model, model_b=other, n=2, test="t")
    return model


def address(name, *ids):
    return reverse(f"admin:{name}", args=ids)


def all_gone():
    for _ in range(100):
        if not removals.work_on_oldest_deletion():
            return
    raise AssertionError("it never ends")


def test_an_archived_model_leaves_lists_and_choices_and_its_answers_stay(site, rana, model):
    options = type("Options", (), {"models": [str(model.public_id)]})()
    assert [one.name for one in select_askable_models(rana)] == ["Large", "Small"]
    archived = site.post(address("model-archive", model.public_id), follow=True)
    ((level, notice),) = notices(archived)
    assert (level, "Small" in notice) == ("success", True)
    said = archived.content.decode()
    assert address("model", model.public_id) in said
    listed = site.get(address("models")).content.decode()
    assert address("model", model.public_id) not in listed
    assert [one.name for one in select_askable_models(rana)] == ["Large"]
    (problem,) = find_model_problems(rana, options)
    assert problem.code == "model_archived"
    assert model.responses.count() == 2
    page = site.get(address("model", model.public_id)).content.decode()
    assert address("model-restore", model.public_id) in page
    assert address("model-try", model.public_id) not in page
    site.post(address("model-restore", model.public_id))
    assert address("model", model.public_id) in site.get(address("models")).content.decode()
    done = AuditEntry.objects.order_by("pk").values_list("action", "kind", "name")
    assert list(done) == [
        ("archive", "language_model", "Small"),
        ("restore", "language_model", "Small"),
    ]


def test_a_model_goes_once_its_name_is_typed_and_the_others_keep_all(
    site, rana, model, monkeypatch
):
    monkeypatch.setattr(record, "BATCH", 1)
    delete = address("model-delete", model.public_id)
    told = site.get(delete).content.decode()
    for words in (
        "Answers</dt><dd>2",
        "Scores of answers</dt><dd>2",
        "Scores in runs</dt><dd>1",
        "Comparisons in runs</dt><dd>1",
        Note("runs_scored", n=1, lose="loses"),
        Note("answers_in_sets", n=1, sets="1 question set"),
    ):
        assert words in told
    refused = site.post(delete, {"name": "Large"})
    assert refused.status_code == 400
    assert list(refused.context["form"].errors) == ["name"]
    assert not Removal.objects.exists()
    site.post(delete, {"name": "Small"})
    assert address("model", model.public_id) not in site.get(address("models")).content.decode()
    page = site.get(address("model", model.public_id)).content.decode()
    assert "being_deleted" in states(page)
    site.post(address("model-restore", model.public_id))
    model.refresh_from_db()
    assert model.archived_at is not None
    all_gone()
    assert [one.name for one in LanguageModel.objects.all()] == ["Large"]
    kept = (LLMResponse, LLMAnswerScore, LLMScore, LLMComparison)
    assert [one.objects.count() for one in kept] == [2, 2, 1, 0]
    assert Run.objects.get().n_withdrawn == 2  # its two scored answers
    removal = Removal.objects.get()
    assert removal.done == removal.total == 7  # 2 answers, 2 + 1 scores, 1 comparison, itself
    entries = AuditEntry.objects.order_by("pk")
    assert [(one.action, one.done_by) for one in entries] == [("delete", rana), ("deleted", rana)]
    assert entries[1].counts["answers"] == 2
    assert entries[1].inputs == ["abc123"]


@pytest.mark.parametrize("named", [True, False])
def test_it_waits_for_a_run_that_names_it_or_reads_its_answers(rana, model, version, named):
    other = crowd.version(rana, "lakes")
    run = Run.objects.create(
        owner=rana,
        version=other if named else version,
        state="queued",
        parameters={"models": [str(model.public_id)]} if named else {},
    )
    assert Note("model_in_use") in removals.find_dependents(model).notes
    removals.request_deletion(model, rana.pk)
    assert not removals.work_on_oldest_deletion()
    assert model.responses.count() == 2
    Run.objects.filter(pk=run.pk).update(state="cancelled", finished_at=now())
    all_gone()
    assert not LanguageModel.objects.filter(name="Small").exists()


def test_answers_in_sets_of_others_keep_a_model_and_it_can_be_archived(site, model):
    otto = crowd.user("otto", is_staff=True)
    question = crowd.version(otto, "lakes").questions.first()
    model.responses.create(question=question, text="south", status="text")
    delete = address("model-delete", model.public_id)
    told = site.get(delete).content.decode()
    assert Note("other_owners", n=1, sets="1 question set") in told
    assert address("model-archive", model.public_id) in told
    assert site.post(delete, {"name": "Small"}).status_code == 409
    with pytest.raises(record.ForbiddenRemovalError):
        removals.request_deletion(model, model.owner_id)
    assert not Removal.objects.exists()


def test_answers_of_a_model_that_is_being_deleted_are_refused(tmp_path, rana, model, version):
    file = tmp_path / "answers.csv"
    file.write_text("question,model,answer\nr1,Small,east\n")
    removals.request_deletion(model, rana.pk)
    with pytest.raises(InputError, match="the model Small is being deleted"):
        import_model_answers(version.question_set, file)
    all_gone()
    import_model_answers(version.question_set, file)
    assert LLMResponse.objects.get(model__name="Small").text == "east"


def test_rest_archives_restores_tells_and_deletes(rana, model):
    api = APIClient()
    api.force_authenticate(rana)
    of = f"/api/v1/language-models/{model.public_id}/"

    def names(**asked):
        rows = api.get("/api/v1/language-models/", asked).json()["results"]
        return [row["name"] for row in rows]

    assert api.post(f"{of}archive/").json()["archived_at"]
    assert (names(), names(archived="true")) == (["Large"], ["Small"])
    assert api.post(f"{of}restore/").json() == {"archived_at": None}
    assert names() == ["Large", "Small"]
    assert api.get(f"{of}deletion/").json()["counts"]["answers"] == 2
    assert api.delete(of).status_code == 409
    assert api.post(f"{of}deletion/", {"name": "Large"}, format="json").status_code == 400
    asked = api.post(f"{of}deletion/", {"name": "Small"}, format="json")
    assert (asked.status_code, asked.json()["total"]) == (202, 7)
    assert api.post(f"{of}restore/").status_code == 409
    all_gone()
    assert api.get(of).status_code == 404


def test_notes_are_read_by_who_may_change_a_set_and_taken_back_by_their_author(
    client, rana, model, version
):
    tara, vera = crowd.user("tara", is_staff=True), crowd.user("vera")
    team = Team.objects.create(owner=rana, name="team")
    Membership.objects.create(team=team, user=tara)
    version.question_set.team = team
    version.question_set.save()
    version.question_set.shares.create(user=vera, role="viewer")
    page, note = address("model", model.public_id), address("model-note", model.public_id)
    client.force_login(tara)
    assert client.post(note, {"text": ""}).status_code == 400
    client.post(note, {"text": "Asks back instead of answering"})
    for user, reads in ((tara, True), (rana, True), (vera, False)):
        client.force_login(user)
        assert ("Asks back instead" in client.get(page).content.decode()) is reads
    assert client.post(note, {"text": "me too"}).status_code == 403
    kept = LanguageModelNote.objects.get()
    remove = address("model-note-remove", model.public_id, kept.public_id)
    client.force_login(rana)
    assert client.post(remove).status_code == 403
    client.force_login(User.objects.get(username="tara"))
    client.post(remove)
    assert not LanguageModelNote.objects.exists()


def test_rest_keeps_and_lists_notes_and_reads_the_history(rana, model):
    api = APIClient()
    api.force_authenticate(rana)
    of = f"/api/v1/language-models/{model.public_id}/"
    made = api.post(f"{of}notes/", {"text": "slow"}, format="json")
    assert (made.status_code, made.json()["author"]) == (201, "rana")
    (note,) = api.get(f"{of}notes/").json()["results"]
    assert (note["text"], note["author"]) == ("slow", "rana")
    assert api.delete(f"{of}notes/{note['id']}/").status_code == 204
    assert api.get(f"{of}notes/").json()["results"] == []
    told = api.get(f"{of}history/").json()
    assert [entry["n"] for entry in told["sets"]] == [2]
    assert len(build_model_history(rana, model).sets) == 1
