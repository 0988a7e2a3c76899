"""What stands in the addresses of `tests.desk.routes`: ids of things that are one owner's."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django.core.files.base import ContentFile
from django.utils.timezone import now

from annotations.answering import collecting
from annotations.answering.links import Visitor, build_submission_token
from annotations.answering.places import reserve_place
from annotations.exchange.presets import Mapping
from annotations.exchange.presets.demographics import DemographicMapping
from annotations.ledger import bonuses
from annotations.models import BonusPayment, Collection, Import, Upload, WorkerNote, WritingProject
from crowdgrade.invitation_links.links import create_invitation_link
from crowdgrade.models.tokens import create_token
from evaluation.models import (
    Alarm,
    Delivery,
    JudgementRequest,
    LanguageModel,
    LanguageModelNote,
    LLMComparison,
    LLMScore,
    Run,
    Webhook,
)
from evaluation.models import Prompt as StoredPrompt
from evaluation.runs.flow.asking.plan import TEMPLATES, Prompt
from evaluation.runs.steps.asking.registration import create_prompt
from evaluation.triage import storage as triaging
from evaluation.webhooks.storage import create_webhook, queue_test_event
from tests.annotations import world as crowd

MAIL = "ada@example.org"


def _image(of: Any) -> Any:
    found = of.set.images.first()
    return (found or crowd.image(of.set)).public_id


def _alarm_place(of: Any) -> int:
    if not Alarm.objects.filter(run=of.run, place=0).exists():
        Alarm.objects.create(run=of.run, place=0, kind="leverage", severity="alarm", message="!")
    return 0


def compared_models(of: Any) -> tuple[Any, Any]:
    """Return the ids of an owner's model and of another that the run compared it with."""
    first = LanguageModel.objects.filter(owner=of.owner).order_by("pk").first()
    second, _ = LanguageModel.objects.get_or_create(owner=of.owner, name="compared with")
    if not LLMComparison.objects.filter(run=of.run).exists():
        LLMComparison.objects.create(run=of.run, model_a=first, model_b=second, n=0)
        LLMScore.objects.create(run=of.run, model=second, n=0, n_answered=0, reason="no_exemplar")
    return first.public_id, second.public_id


def other_run(of: Any) -> Any:
    """Return the id of another run of an owner's set that is done."""
    other, _ = Run.objects.exclude(pk=of.run.pk).get_or_create(
        owner=of.owner, version=of.run.version, state="done", defaults={"finished_at": now()}
    )
    return other.public_id


def _judgement_task(of: Any) -> Any:
    share = of.set.shares.order_by("role").first()  # of Otto's set, which has no expert: a viewer
    expert = of.owner if share is None else share.user
    response = of.version.questions.first().responses.first()
    asked, _ = JudgementRequest.objects.get_or_create(
        response=response, expert=expert, defaults={"place": 0, "run": of.run}
    )
    return asked.public_id


def begun_writing(of: Any) -> WritingProject:
    """Return the writing for an owner's set: a requester of its team writes, an expert checks."""
    made, is_new = WritingProject.objects.get_or_create(version=of.version)
    if is_new:
        share = of.set.shares.order_by("role").first()
        writer = of.team.memberships.first().user if of.team else of.owner
        made.members.create(user=writer, role="writer")
        if share and share.user != writer:  # not so of Otto's
            made.members.create(user=share.user, role="validator")
        question = of.version.questions.first()
        text, when = f"{question.text} And when?", now()
        common = {"project": made, "original": question, "text": text, "category": 1}
        made.problems.create(**common, author=writer, number=1)
        # Another's: nobody checks their own.
        common |= {"state": "checking", "submitted_at": when}
        made.problems.create(**common, author=of.owner, number=2)
        for number, state in enumerate(("checking", "accepted"), 1):
            made.candidates.create(
                number=number, run=uuid.uuid4(), text=f"{question.text} Which {number}?",
                answers=[["one"], ["other"]], generated_by="small", state=state,
            )  # fmt: skip
    return made


def _candidate(of: Any) -> Any:
    return begun_writing(of).candidates.get(number=1).public_id


def _written(of: Any, number: int) -> Any:
    return begun_writing(of).problems.get(number=number).public_id


def collecting_of(of: Any) -> Collection:
    """Return the collecting of an owner's set, open book, so that all pages can be asked for."""
    found = Collection.objects.filter(version=of.version).first()
    if found is None:
        of.version.questions.filter(text="").update(text="And why?")
        found = collecting.publish_question_set(of.set, places=5, protocol="open").collection
    return found


def _import(of: Any) -> Any:
    made, _ = Import.objects.get_or_create(
        question_set=of.set, version=of.version, number=1, file="a.csv", n_new=1, n_unchanged=0
    )
    return made.public_id


def _prompt(of: Any) -> Any:
    stored = StoredPrompt.objects.filter(owner=of.owner).first()
    if stored is None:
        stored = create_prompt(of.owner.pk, "ours", Prompt("closed", TEMPLATES["closed"])).prompt
    return stored.public_id


def _webhook(of: Any) -> Webhook:
    found = Webhook.objects.filter(owner=of.owner).first()
    if found is None:
        found, _ = create_webhook(of.owner, "lab", "https://example.org/hook", ["run.finished"])
    return found


def _delivery(of: Any) -> Any:
    delivery = queue_test_event(_webhook(of))
    Delivery.objects.filter(pk=delivery.pk).update(
        state="failed", next_at=None, attempts=1, tries=1, error="status", status=500,
        last_at=now(), seconds=0.1,
    )  # fmt: skip
    return delivery.public_id


def _noted_worker(of: Any) -> Any:
    return of.version.submissions.earliest("pk").worker.public_id


def _note(of: Any) -> Any:
    worker = of.version.submissions.earliest("pk").worker
    note, _ = WorkerNote.objects.get_or_create(worker=worker, author=of.owner, text="look again")
    return note.public_id


def _model_note(of: Any) -> Any:
    model = LanguageModel.objects.filter(owner=of.owner).earliest("pk")
    note, _ = LanguageModelNote.objects.get_or_create(
        model=model, author=of.owner, text="ask it again"
    )
    return note.public_id


def _taken_list(of: Any) -> Any:
    """The id of a list of bonuses that was taken."""
    taken = BonusPayment.objects.filter(submission__version=of.version, event="sent").first()
    if taken is not None:
        return taken.batch
    person = of.version.submissions.earliest("pk")
    bonuses.plan_bonuses(of.version, {person.pk: Decimal(1)}, of.owner, "taken")
    bonuses.confirm_payments(of.version, of.owner, "taken")
    return bonuses.claim_payments(of.version, of.owner).id


def _together(of: Any) -> Any:
    """What one press accepted, so that it can be taken back; made anew where it was."""
    found = triaging.list_accepted_batches(of.run)
    if found:
        return found[0].id
    workers = of.run.worker_grades.values_list("worker__public_id", flat=True)
    return triaging.accept_batch(of.run, list(workers), of.owner)


def _language(of: Any) -> str:
    latest = of.set.latest_version()
    draft = latest.copy_as_draft() if latest.is_published else latest
    draft.languages = ["ar"]
    draft.save(update_fields=["languages"])
    return "ar"


def _staged(of: Any) -> str:
    upload = Upload(
        owner=of.owner,
        question_set=of.set,
        kind="import",
        name="answers.csv",
        options={
            "preset": "own",
            "mapping": Mapping("worker", "question", ("answer",)).as_dict(),
            "panel": "",
            "duplicates": "refuse",
            "question_template": "",
            "create_questions": True,
            "update_flags": False,
        },
        state=Upload.State.CHECKED,
        report={"version": 1, "what": "answers", "n_rows": 1, "n_new": 1, "changed": True},
    )
    upload.file.save("", ContentFile(b"worker,question,answer\nada,q1,hills"))
    return str(upload.public_id)


def _staged_export(of: Any) -> str:
    content = b"Participant id,Age,Sex\nada,30,Female\n"
    upload = Upload(
        owner=of.owner,
        question_set=of.set,
        kind="demographics",
        name="demographics.csv",
        options={
            "arrangement": {},
            "mapping": DemographicMapping("Participant id", "", ("Age", "Sex")).as_dict(),
            "statuses": "refuse",
        },
        state=Upload.State.MAPPING,
    )
    upload.file.save("", ContentFile(content))
    return str(upload.public_id)


# The value of a parameter, out of what is one owner's: `owner`, `set`, `version`, `run`, `team`.
VALUES: dict[str, Callable[[Any], Any]] = {
    "set_id": lambda of: of.set.public_id,
    "question_id": lambda of: of.version.questions.first().public_id,
    "model_id": lambda of: LanguageModel.objects.filter(owner=of.owner).earliest("pk").public_id,
    "worker_id": _noted_worker,
    "note_id": _note,
    "model_note_id": _model_note,
    "prompt_id": _prompt,
    "webhook_id": lambda of: _webhook(of).public_id,
    "delivery_id": _delivery,
    "import_id": _import,
    "run_id": lambda of: of.run.public_id,
    "token": _staged,
    "export_token": _staged_export,
    "upload_id": _staged_export,
    "token_id": lambda of: create_token(of.owner, str(uuid.uuid4()), 1)[0].public_id,
    "passage_id": lambda of: of.version.passages.first().public_id,
    "image_id": _image,
    "answer_id": lambda of: of.version.questions.first().responses.first().public_id,
    "model_answer_id": lambda of: of.version.questions.first().llm_responses.first().public_id,
    "run": lambda of: of.run.public_id,
    "model": lambda of: compared_models(of)[0],
    "worker": lambda of: of.version.submissions.first().worker.public_id,
    "batch_id": _taken_list,
    "together": _together,
    "question": lambda of: of.version.questions.first().public_id,
    "team_id": lambda of: of.team.public_id,
    "membership_id": lambda of: of.team.memberships.first().public_id,
    "submission_id": lambda of: of.version.submissions.earliest("pk").public_id,
    "project_id": lambda of: begun_writing(of).public_id,
    "problem_id": lambda of: _written(of, 2),
    "own_id": lambda of: _written(of, 1),
    "check_id": lambda of: _written(of, 2),
    "candidate_id": _candidate,
    "verify_id": _candidate,
    "member_id": lambda of: begun_writing(of).members.first().public_id,
    "share_id": lambda of: of.set.shares.first().public_id,
    "link_id": lambda of: (
        create_invitation_link(of.owner.pk, "viewer", question_set=of.set, email=MAIL)[0].public_id
    ),
    "requester_link_id": lambda of: (
        create_invitation_link(of.owner.pk, "requester", email=MAIL)[0].public_id
    ),
    "invitation_id": lambda of: of.set.shares.first().public_id,
    "collection_id": lambda of: collecting_of(of).public_id,
    "seat": lambda of: build_submission_token(reserve_place(collecting_of(of), Visitor("walker"))),
    # Django's own pages about users, by their keys
    "id": lambda of: of.owner.pk,
    "object_id": lambda of: of.owner.pk,
    # Of no one
    "task_id": _judgement_task,
    "kind": lambda of: "answers",
    "language": _language,
    "place": _alarm_place,
    "first": lambda of: compared_models(of)[0],
    "second": lambda of: compared_models(of)[1],
    "other_id": other_run,
}
