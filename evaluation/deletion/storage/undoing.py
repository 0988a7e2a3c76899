"""Undo an import: delete what it brought and created, unless used elsewhere."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from annotations.models import (
    Assignment,
    AuditEntry,
    BonusPayment,
    Decision,
    Import,
    Question,
    QuestionSetVersion,
    Response,
    Submission,
)
from evaluation.deletion.storage import undoing_items
from evaluation.deletion.storage.hanging import Hanging, counted
from evaluation.deletion.storage.notes import Note, runs_were
from evaluation.deletion.storage.record import (
    ForbiddenRemovalError,
    Parts,
    Went,
    ask,
    end,
    known,
    note_withdrawn,
    runs_made_of,
    take_some,
    works_on,
)
from evaluation.models import (
    AnswerFact,
    AnswerScore,
    AuditItem,
    ExemplaryAnswer,
    HumanJudgement,
    JudgementRequest,
    LanguageModel,
    LLMAnswerScore,
    LLMComparison,
    LLMResponse,
    RawReply,
    Removal,
    Run,
)
from evaluation.models.removals import IMPORT

MODELS_MADE, MODEL_SCORES = "models that it made", "scores of models' answers"
"""Names of what goes, as counts have them."""
NAMED = 5
"""Runs and files that are called by their names."""


def hanging_on_import(brought: Import) -> Hanging:
    """Return what would be deleted with an import, and which changes stay."""
    if brought.what in undoing_items.ITEMS:
        return undoing_items.hanging(brought)
    counts = counted([*_parts(brought), *_leftovers(brought)])
    return Hanging(counts, [brought.sha256], notes=tuple(_notes(brought)))


@transaction.atomic
def undo(brought: Import, user_id: int) -> Removal:
    """Request the undo of an import; repeating returns the same request.

    Raises `ForbiddenRemovalError` where nothing of it can go, such as out of a published version.
    """
    if (before := known(IMPORT, brought)) is not None:
        return before
    hanging = hanging_on_import(brought)
    if not hanging.can_go:
        raise ForbiddenRemovalError(hanging.obstacles)
    return ask(
        IMPORT,
        brought,
        AuditEntry.Action.UNDO,
        hanging,
        name=f"{brought.question_set.name}: {brought.file}",
        owner_id=brought.question_set.owner_id,
        asked_by=user_id,
    )


def step(removal: Removal) -> Went:
    """Delete a batch of an import's rows; wait while a run uses the version."""
    brought = Import.objects.filter(pk=removal.target).first()
    versions = [brought.version_id] if brought and brought.version_id else []
    if works_on(versions):
        return Went.WAITS
    if brought is not None and brought.what in undoing_items.ITEMS:
        return undoing_items.step(removal, brought)
    with transaction.atomic():
        if brought is not None:
            if "runs" not in removal.pending:
                removal.pending = {"runs": _runs(brought)}
                removal.save(update_fields=["pending"])
            if take_some(removal, [*_parts(brought), *_leftovers(brought)]):
                return Went.SOME
            _drop_empty_version(brought)
            Import.objects.filter(pk=brought.pk).update(undone_at=timezone.now())
        if end(removal, AuditEntry.Action.UNDONE):
            note_withdrawn(removal.pending.get("runs", {}))
    return Went.ALL


def _runs(brought: Import) -> dict[str, int]:
    """Return by finished run the number of the import's answers it used."""
    if brought.version_id is None:
        return {}
    if brought.what == Import.What.MODEL_ANSWERS:
        scores = LLMAnswerScore.objects.filter(llm_response__in=_model_answers(brought))
        by_run = scores.order_by().values("run").annotate(n=Count("pk"))
        return {str(run): n for run, n in by_run.values_list("run", "n")}
    of = Q(brought_by=brought)
    n_of = runs_made_of(of, [brought.version_id], brought.created_at)
    return {str(run): n for run, n in n_of.items()}


def _model_answers(brought: Import) -> QuerySet[LLMResponse, LLMResponse]:
    """Select the model answers of an import; errors that were requested again are excluded."""
    return LLMResponse.objects.filter(brought_by=brought, run=None, key="")


def _parts(brought: Import) -> Parts:
    if brought.what == Import.What.MODEL_ANSWERS:
        answers = _model_answers(brought)
        of = {"llm_response__in": answers}
        return [
            ("judgements", HumanJudgement.objects.filter(**of)),
            ("requests to judge", JudgementRequest.objects.filter(**of)),
            ("answers in samples for experts", AuditItem.objects.filter(**of)),
            (MODEL_SCORES, LLMAnswerScore.objects.filter(**of)),
            ("facts of models' answers", AnswerFact.objects.filter(**of)),
            ("raw replies", RawReply.objects.filter(response__in=answers)),
            ("answers of models", answers),
        ]
    return [
        ("judgements", HumanJudgement.objects.filter(response__brought_by=brought)),
        ("requests to judge", JudgementRequest.objects.filter(response__brought_by=brought)),
        ("answers in samples for experts", AuditItem.objects.filter(response__brought_by=brought)),
        ("scores of answers", AnswerScore.objects.filter(response__brought_by=brought)),
        ("facts of answers", AnswerFact.objects.filter(response__brought_by=brought)),
        ("answers", Response.objects.filter(brought_by=brought)),
    ]


def _leftovers(brought: Import) -> Parts:
    """Return rows the import created that nothing else uses once its answers are gone."""
    if brought.what == Import.What.MODEL_ANSWERS:
        return [(MODELS_MADE, _models(brought))]
    others = Response.objects.exclude(brought_by=brought)
    theirs = {"submission": OuterRef("pk")}
    submissions = Submission.objects.filter(
        ~Exists(others.filter(**theirs)),
        ~Exists(_of(Decision, **theirs)),
        ~Exists(_of(BonusPayment, **theirs)),
        version=brought.version_id,
        source=Submission.Source.IMPORTED,
        withdrawn_at=None,
    )
    asked = {"question": OuterRef("pk")}
    questions = Question.objects.filter(
        ~Exists(others.filter(**asked)),
        ~Exists(LLMResponse.objects.filter(**asked)),
        ~Exists(ExemplaryAnswer.objects.filter(**asked)),
        ~Exists(Assignment.objects.filter(**asked)),
        brought_by=brought,
        version=brought.version_id,
        variants=None,
        written=None,
    )
    return [("submissions", submissions), ("questions that it made", questions)]


def _models(brought: Import) -> QuerySet[LanguageModel, LanguageModel]:
    """Select the language models created by the import without notes, and in no run."""
    others = LLMResponse.objects.exclude(pk__in=_model_answers(brought).values("pk"))
    one = {"model": OuterRef("pk")}
    compared = LLMComparison.objects.filter(
        Q(model_a=OuterRef("pk")) | Q(model_b=OuterRef("pk")),
    )
    plain = dict.fromkeys(
        ("family", "version", "size", "tuning", "strategy", "spec", "key_variable", "notice"), ""
    )
    return LanguageModel.objects.filter(
        ~Exists(others.filter(**one)),
        ~Exists(compared),
        brought_by=brought,
        scores=None,
        notes=None,
        parameters={},
        price_in=None,
        price_out=None,
        archived_at=None,
        **plain,
    )


def _of(model: type[Decision | BonusPayment], **conditions: Any) -> QuerySet[Any, Any]:
    rows: QuerySet[Any, Any] = model._base_manager.filter(**conditions)
    return rows


def _drop_empty_version(brought: Import) -> None:
    """Delete the version that the import published, if it is empty now."""
    if not brought.publishes or brought.version_id is None:
        return
    QuestionSetVersion.objects.filter(
        pk=brought.version_id,
        questions=None,
        passages=None,
        submissions=None,
        runs=None,
        collection=None,
        writing=None,
    ).delete()


def _notes(brought: Import) -> list[Note]:
    notes = []
    if brought.version_id and works_on([brought.version_id]):
        notes.append(Note("import_in_use"))
    runs = _runs(brought)
    if runs:
        called = ", ".join(
            run.name or f"run of {run.created_at:%-d %B %Y, %H:%M} UTC"
            for run in Run.objects.filter(pk__in=list(map(int, runs))).order_by("-pk")[:NAMED]
        )
        more = f" and {len(runs) - NAMED} more" if len(runs) > NAMED else ""
        n, named = len(runs), f"{called}{more}"
        notes.append(Note("import_runs", n=n, runs_were=runs_were(n), named=named))
    later = Import.objects.filter(
        what=brought.what,
        version=brought.version_id,
        pk__gt=brought.pk,
        n_unchanged__gt=0,
        undone_at=None,
    )
    if repeated := list(later.order_by("pk").values_list("file", "n_unchanged")[:NAMED]):
        files = ", ".join(f"{file} ({n:,} rows)" for file, n in repeated)
        notes.append(Note("repeated_later", files=files))
    if brought.what == Import.What.MODEL_ANSWERS:
        return [*notes, *_notes_on_models(brought)]
    made = Question.objects.filter(brought_by=brought, version=brought.version_id).count()
    free = dict(_leftovers(brought))["questions that it made"].count()
    if made > free:
        notes.append(Note("questions_stay", n=made - free))
    if kept := Submission.objects.filter(
        Exists(Response.objects.filter(submission=OuterRef("pk"), brought_by=brought)),
        Exists(_of(Decision, submission=OuterRef("pk")))
        | Exists(_of(BonusPayment, submission=OuterRef("pk"))),
    ).count():
        notes.append(Note("workers_stay", n=kept))
    notes.append(Note("workers_go"))
    return notes


def _notes_on_models(brought: Import) -> list[Note]:
    notes = []
    kept = LLMResponse.objects.filter(brought_by=brought).count() - _model_answers(brought).count()
    if kept:
        notes.append(Note("asked_anew", n=kept))
    made = LanguageModel.objects.filter(brought_by=brought).count()
    if staying := made - _models(brought).count():
        notes.append(Note("models_in_use", n=staying))
    if brought.publishes:
        notes.append(Note("version_stays", number=brought.number))
    return notes
