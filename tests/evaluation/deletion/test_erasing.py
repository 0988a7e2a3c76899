"""Erasing a worker: after it the text is in no column of the database, and numbers stay."""

import html
import json
from dataclasses import replace

import pytest
from django.apps import apps
from django.core.files.base import ContentFile
from django.db import models
from django.urls import reverse
from django.utils import timezone

from annotations.answering import collecting, finishing
from annotations.exchange.importing import import_answers
from annotations.exchange.problems import InputError
from annotations.ledger import decisions as deciding
from annotations.ledger.appeals import answer_appeal, create_appeal
from annotations.models import (
    Appeal,
    AuditEntry,
    OtherText,
    PanelFile,
    PanelRow,
    Response,
    Submission,
    Upload,
    Worker,
    WorkerNote,
)
from evaluation.consensus.parameters import AqerParameters
from evaluation.crowd_vs_llm.run.comparison import PanelsParameters
from evaluation.deletion.storage import erasing
from evaluation.deletion.storage.erasing import Texts
from evaluation.models import (
    EmbedderVersion,
    Embedding,
    LanguageModel,
    LLMResponse,
    Run,
    RunData,
    WorkerGrade,
    text_hash,
)
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.judging.audit import draw_audit_sample, request_audit_grades
from tests.evaluation.core.backends.chat.fake import FakeChat, said
from tests.evaluation.llm_judge.test_run_type import QUICK
from tests.evaluation.runs.run_types.crowds import crowd_set

OWN = "a marmoset whistled “across” the lagoon\nat dawn"
OTHER = "zebras iron their stripes on Sundays only"
# Of each some words that no escaping changes.
WORDS = ("marmoset whistled", "at dawn", "iron their stripes")


@pytest.fixture
def chat():
    server = FakeChat(lambda body: said("4"))
    yield server
    server.close()


@pytest.fixture
def rivers(db, settings, django_user_model, monkeypatch, tmp_path):
    """A crowd, and zoe, who answers two questions in words of her own and one as others do."""
    settings.MODEL_NETWORKS = ["127.0.0.0/8", "::1/128"]
    made = crowd_set(django_user_model, monkeypatch, tmp_path)
    version = made.latest_version()
    zoe = Worker.objects.create(owner=made.owner, external_id="zoe")
    submission = Submission.objects.create(
        version=version, worker=zoe, state="submitted", source="imported"
    )
    shared = Response.objects.exclude(text="").first()
    others = version.questions.exclude(pk=shared.question_id)[:2]
    for question, text in zip([*others, shared.question], [OWN, OTHER, shared.text], strict=True):
        Response.objects.create(
            submission=submission, question=question, text=text, status="text", state="submitted"
        )
    return made


@pytest.fixture
def zoe(rivers):
    return Worker.objects.get(external_id="zoe")


def work():
    while work_one_turn():
        pass


def held(*texts):
    """Every column of text or JSON of every table in which one of the texts stands."""
    kinds = (models.TextField, models.CharField, models.JSONField)
    found = []
    for model in apps.get_models(include_auto_created=True):
        for field in model._meta.concrete_fields:
            if not isinstance(field, kinds):
                continue
            values = model._base_manager.values_list(field.attname, flat=True)
            whole = "\n".join(str(value) for value in values.iterator())
            found += [f"{model.__name__}.{field.name}" for text in texts if text in whole]
    return sorted(set(found))


def wrote_back(submission, owner, text):
    """Reject, let the worker write back, and approve with an answer."""
    deciding.decide(submission, owner, "reject", "OTHER", "x" * 100)
    answer_appeal(create_appeal(submission, text), owner, "So you did", approve=True)


@pytest.mark.slow
def test_after_the_erasure_the_text_is_found_in_no_table(client, rivers, zoe, chat):
    owner, version = rivers.owner, rivers.latest_version()
    client.force_login(owner)
    model = LanguageModel.objects.create(owner=owner, name="kind one", spec=chat.spec)
    question = version.questions.first()
    prompt = json.dumps([{"role": "user", "content": f"Grade this: {OWN}"}])
    LLMResponse.objects.create(
        model=model, question=question, prompt=prompt, text="hills", status="text"
    )
    aqer = runs.queue_run(version, owner.pk, AqerParameters(embedder="tfidf-word", bootstrap=0))
    judge = runs.queue_run(version, owner.pk, replace(QUICK, judge=str(model.public_id)), "judge")
    panels = runs.queue_run(
        version, owner.pk, PanelsParameters(embedder="tfidf-word", bootstrap=20), "panels"
    )
    work()
    for run in (aqer, judge, panels):
        run.refresh_from_db()
        assert run.state == "done", run.error
    audit = draw_audit_sample(aqer, 200, "random", with_models=False, seed=1)
    request_audit_grades(audit, owner.pk)
    file = PanelFile.objects.create(version=version, name="batch.csv", header=["Answer.text"])
    PanelRow.objects.create(file=file, submission=zoe.submissions.get(), position=0, cells=[OTHER])
    WorkerNote.objects.create(worker=zoe, author=owner, text=f"wrote {OTHER}")
    wrote_back(zoe.submissions.get(), owner, OTHER)
    # Copies as kinds, people and messages may leave them.
    data = {"best": [OWN, {"said": f"Somebody wrote: {OTHER}!"}], "n": 3}
    kept = RunData.objects.create(run=panels, name="quoted", data=data)
    Run.objects.filter(pk=aqer.pk).update(notes=f"Look: {OTHER}")
    upload = Upload(owner=owner, question_set=rivers, kind="answers", name="a.csv", lines=[OTHER])
    upload.file.save("", ContentFile(OTHER.encode()))
    embedder = EmbedderVersion.objects.create(model="small", precision="float32", dimension=1)
    texts = [OWN, OTHER, zoe.submissions.get().responses.latest("pk").text]
    for text in texts:
        Embedding.objects.create(
            embedder=embedder, text_hash=text_hash(text), dimension=1, vector=bytes(4)
        )
    assert {"Response.text", "LLMResponse.prompt", "RunData.data", "Run.notes"} <= set(held(*WORDS))
    grade = WorkerGrade.objects.get(run=aqer, worker=zoe)
    page = reverse("admin:worker-erase", args=[zoe.public_id])
    told = client.get(page)
    assert "Answers</dt><dd>3" in told.content.decode()
    notes = {note.code: note for note in told.context["hanging"].notes}
    assert (notes["runs_made"].values["n"], notes["appeals_go"].values["n"]) == (3, 1)
    assert all(note in html.unescape(told.content.decode()) for note in notes.values())
    assert client.post(page, {"name": "zo"}).status_code == 400
    assert client.post(page, {"name": "zoe"}).status_code == 302
    work()
    assert held(*WORDS) == []
    # One vector is left: that of the text that somebody else wrote too.
    assert bytes(Embedding.objects.get().text_hash) == text_hash(texts[2])
    kept.refresh_from_db()
    assert kept.data == {
        "best": ["(erased)", {"said": "Somebody wrote: (erased)!"}], "n": 3,
    }  # fmt: skip
    assert WorkerGrade.objects.get(run=aqer, worker=zoe).grade == grade.grade
    for run in (aqer, judge, panels):
        run.refresh_from_db()
        assert run.n_withdrawn == 3
    for name in ("results-people", "results-summary", "run"):
        shown = client.get(reverse(f"admin:{name}", args=[aqer.public_id])).content.decode()
        assert "Not reproducible" in shown
    shown = client.get(reverse("admin:worker", args=[zoe.public_id])).content.decode()
    assert 'data-state="erased"' in shown
    entries = AuditEntry.objects.order_by("pk").values_list("action", "kind", "name")
    assert list(entries) == [("erase", "worker", "worker zoe"), ("erased", "worker", "worker zoe")]


def test_who_was_erased_is_not_taken_in_again(rivers, zoe, tmp_path):
    erasing.request_erasure(zoe, rivers.owner_id)
    work()
    file = tmp_path / "again.csv"
    name = rivers.latest_version().questions.first().external_id
    file.write_text(f"worker,question,answer\nann,{name},x\nzoe,{name},back again\n")
    with pytest.raises(InputError, match=r"line 3[\s\S]*the answers of zoe were erased on"):
        import_answers(rivers, file)
    assert not Response.objects.filter(text="back again").exists()


def test_the_device_and_assistive_technology_of_who_was_erased_are_emptied(rivers, zoe):
    zoe.submissions.update(
        source="collected", submitted_at=timezone.now(), device="phone", assistive=True
    )
    erasing.request_erasure(zoe, rivers.owner_id)
    kept = zoe.submissions.get()
    assert kept.withdrawn_at is not None
    assert (kept.device, kept.assistive) == ("", False)


def test_who_takes_their_own_answers_back_leaves_no_copies_either(rivers, zoe):
    version = rivers.latest_version()
    submission = zoe.submissions.get()
    run = runs.queue_run(
        version, rivers.owner_id, AqerParameters(embedder="tfidf-word", bootstrap=0)
    )
    work()
    RunData.objects.create(run=run, name="quoted", data=[f"{OTHER}, she says"])
    response = submission.responses.first()
    OtherText.objects.create(response=response, text="a draft in another tab")
    wrote_back(submission, rivers.owner, "I did read it all")
    version.questions.filter(text="").update(text="And why?")
    collecting.publish(rivers, places=5)
    assert held("I did read it all", "So you did") == ["Appeal.text", "AppealAnswer.text"]
    finishing.withdraw(submission)
    assert not submission.responses.exists()
    assert not Appeal.objects.exists()
    work()
    assert held(*WORDS, "a draft in another tab", "I did read it all", "So you did") == []
    assert submission.decisions.count() == 2  # what was decided stays
    run.refresh_from_db()
    assert run.n_withdrawn == 3
    entry = AuditEntry.objects.get(action="erased")
    assert (entry.kind, entry.done_by, entry.counts["answers"]) == ("submission", None, 3)
    finishing.withdraw(submission)  # a second time changes nothing
    assert AuditEntry.objects.count() == 2


def test_short_texts_go_where_they_stand_alone_and_not_out_of_sentences():
    texts = Texts(["no", "over the hills and far"])
    assert texts.remove_from("no") == "(erased)"
    assert texts.remove_from("There is no river.") == "There is no river."
    assert texts.remove_from("Answer:\nno\nGrade it.") == "Answer:\n(erased)\nGrade it."
    assert texts.remove_from(["He went over the hills and far away."]) == ["He went (erased) away."]
    untouched = {"a": [1, None, "x"]}
    assert texts.remove_from(untouched) is untouched


def test_the_api_tells_and_erases_what_is_confirmed(client, rivers, zoe):
    client.force_login(rivers.owner)
    address = reverse("api:worker-erasure", args=[zoe.public_id])
    assert client.get(address).json()["counts"]["answers"] == 3
    wrong = client.post(address, {"worker": "ann"}, content_type="application/json")
    assert wrong.status_code == 400
    sent = client.post(address, {"worker": "zoe"}, content_type="application/json")
    assert sent.status_code == 202
    work()
    assert not zoe.submissions.get().responses.exists()
    assert zoe.submissions.get().withdrawn_at is not None
