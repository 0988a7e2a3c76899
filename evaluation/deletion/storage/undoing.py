"""Undo an import: of answers, of facts about workers, or of items into a draft."""

from __future__ import annotations

from typing import Any, Final

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Least
from django.utils import timezone

from annotations.exchange.importing.import_records import RELATED_ROWS, hash_item
from annotations.models import (
    Assignment,
    AuditEntry,
    BonusPayment,
    Decision,
    Import,
    Passage,
    Question,
    QuestionSet,
    QuestionSetVersion,
    Response,
    Submission,
    Translation,
    Variant,
)
from evaluation.deletion.storage import record
from evaluation.deletion.storage.joined_facts import find_join_dependents, undo_join_step
from evaluation.deletion.storage.record import (
    DependentRows,
    ForbiddenRemovalError,
    Note,
    Parts,
    StepResult,
    ask,
    counted,
    delete_batch,
    end,
    known,
    note_withdrawn,
    runs_made_of,
    runs_were,
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
from evaluation.models.collecting import IMPORT

ITEMS: Final[dict[str, type[Passage] | type[Question]]] = {
    Import.What.QUESTIONS: Question,
    Import.What.PASSAGES: Passage,
}
"""Model of the rows that a file of each kind creates."""


def hanging(brought: Import) -> DependentRows:
    """Return what would be deleted with an import of items, what stays, and what prevents it."""
    noun = brought.get_what_display()
    version = brought.version
    if version is not None and version.is_published:
        reason = Note("published", number=version.number, noun=noun)
        return DependentRows({}, [brought.sha256], (reason,))
    rows = _items(brought)
    left, bound = rows.count(), rows.exclude(pk__in=_free(brought).values("pk")).count()
    going = [
        item.pk
        for item in _free(brought).prefetch_related(*_beside(brought)).iterator(record.BATCH)
        # An item that a user has edited since stays.
        if hash_item(item) == item.brought_as
    ]
    n_changed = left - bound - len(going)
    notes = _item_notes(brought, left=left, bound=bound, changed=n_changed)
    if not going:
        why = "".join(f" {note}" for note in notes)
        return DependentRows({}, [brought.sha256], (Note("none_can_go", noun=noun, why=why),))
    counts = {noun: len(going)}
    for name, rows in _hanging(brought).items():
        if n := sum(rows.filter(**{_key(brought): some}).count() for some in _chunks(going)):
            counts[name] = n
    if works_on([brought.version_id] if brought.version_id else []):
        notes.append(Note("draft_in_use"))
    notes.append(Note("draft_stays"))
    return DependentRows(counts, [brought.sha256], notes=tuple(notes))


def undo_items_step(removal: Removal, brought: Import) -> StepResult:
    """Delete a batch of items by key; keep those changed or used meanwhile."""
    with transaction.atomic():
        # Editing and publishing wait for the batch, or happened before it. `no_key` lets other
        # transactions insert rows that refer to the set meanwhile.
        QuestionSet.objects.select_for_update(no_key=True).get(pk=brought.question_set_id)
        versions = QuestionSetVersion.objects.select_for_update(no_key=True, of=("self",))
        version = versions.filter(imports=brought).first()
        if version is not None and version.is_published:
            # Published since the request. Without this row the next request states the reason.
            removal.delete()
            return StepResult.ALL
        # By key, unlike `delete_batch`: changed items stay, and would be found again for ever.
        after = removal.pending.get("after", 0)
        rows = _items(brought).filter(pk__gt=after).order_by("pk")
        keys = list(rows.values_list("pk", flat=True)[: record.BATCH])
        if keys:
            _take(removal, brought, keys)
            return StepResult.SOME
        Import.objects.filter(pk=brought.pk).update(undone_at=timezone.now())
        end(removal, AuditEntry.Action.UNDONE)
    return StepResult.ALL


def _take(removal: Removal, brought: Import, keys: list[int]) -> None:
    rows = _free(brought).filter(pk__in=keys).prefetch_related(*_beside(brought))
    going = [item for item in rows if hash_item(item) == item.brought_as]
    ITEMS[brought.what]._default_manager.filter(pk__in=[item.pk for item in going]).delete()
    n = len(going) + sum(
        len(getattr(item, name).all()) for item in going for name in _beside(brought)
    )
    removal.pending = {"after": keys[-1]}
    removal.save(update_fields=["pending"])
    Removal.objects.filter(pk=removal.pk).update(done=Least(F("done") + n, F("total")))


def _items(brought: Import) -> QuerySet[Any, Any]:
    """Select the remaining items of the import in its version, not their copies."""
    rows: QuerySet[Any, Any] = ITEMS[brought.what]._default_manager.filter(
        brought_by=brought, version=brought.version_id
    )
    return rows


def _free(brought: Import) -> QuerySet[Any, Any]:
    """Select the import's items on which no other data depends."""
    if brought.what == Import.What.PASSAGES:
        return _items(brought).filter(questions=None, readings=None)
    lookup = {"question": OuterRef("pk")}
    return _items(brought).filter(
        ~Exists(Response.objects.filter(**lookup)),
        ~Exists(LLMResponse.objects.filter(**lookup)),
        ~Exists(ExemplaryAnswer.objects.filter(**lookup)),
        ~Exists(Assignment.objects.filter(**lookup)),
        written=None,
    )


def _beside(brought: Import) -> tuple[str, ...]:
    return RELATED_ROWS[ITEMS[brought.what]]


def _hanging(brought: Import) -> dict[str, QuerySet[Any, Any]]:
    result: dict[str, QuerySet[Any, Any]] = {"translations": Translation.objects.all()}
    if brought.what == Import.What.QUESTIONS:
        result["other wordings"] = Variant.objects.all()
    return result


def _key(brought: Import) -> str:
    return "passage__in" if brought.what == Import.What.PASSAGES else "question__in"


def _chunks(keys: list[int]) -> list[list[int]]:
    return [keys[first : first + record.BATCH] for first in range(0, len(keys), record.BATCH)]


def _item_notes(brought: Import, *, left: int, bound: int, changed: int) -> list[Note]:
    noun, notes = brought.get_what_display(), []
    made = brought.n_passages if brought.what == Import.What.PASSAGES else brought.n_questions
    if changed:
        notes.append(Note("changed", n=changed, noun=noun))
    if bound and brought.what == Import.What.PASSAGES:
        notes.append(Note("passages_needed", n=bound))
    elif bound:
        notes.append(Note("questions_answered", n=bound))
    if made > left:
        notes.append(Note("deleted_before", n=made - left, noun=noun))
    if completed := brought.n_new - made:
        notes.append(Note("texts_stay", n=completed, noun=noun))
    return notes


MODELS_MADE, MODEL_SCORES = "models that it made", "scores of models' answers"
"""Labels of deleted rows in `counts`."""
NAMED = 5
"""Largest number of runs or files that a message names."""


def hanging_on_import(brought: Import) -> DependentRows:
    """Return what would be deleted with an import, and which changes stay."""
    if brought.what in ITEMS:
        return hanging(brought)
    if brought.what == Import.What.DEMOGRAPHICS:
        return find_join_dependents(brought)
    counts = counted([*_parts(brought), *_leftovers(brought)])
    return DependentRows(counts, [brought.sha256], notes=tuple(_notes(brought)))


@transaction.atomic
def undo(brought: Import, user_id: int) -> Removal:
    """Request the undo of an import; repeating returns the same request.

    Raises `ForbiddenRemovalError` if nothing can be deleted, such as from a published version.
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


def step(removal: Removal) -> StepResult:
    """Delete a batch of an import's rows; wait while a run uses the version."""
    brought = Import.objects.filter(pk=removal.target).first()
    versions = [brought.version_id] if brought and brought.version_id else []
    if works_on(versions):
        return StepResult.WAITS
    if brought is not None and brought.what in ITEMS:
        return undo_items_step(removal, brought)
    if brought is not None and brought.what == Import.What.DEMOGRAPHICS:
        return undo_join_step(removal, brought)
    with transaction.atomic():
        if brought is not None:
            if "runs" not in removal.pending:
                # Before the first batch: afterwards the scores that tell the runs are gone.
                removal.pending = {"runs": _runs(brought)}
                removal.save(update_fields=["pending"])
            if delete_batch(removal, [*_parts(brought), *_leftovers(brought)]):
                return StepResult.SOME
            _drop_empty_version(brought)
            Import.objects.filter(pk=brought.pk).update(undone_at=timezone.now())
        if end(removal, AuditEntry.Action.UNDONE):
            note_withdrawn(removal.pending.get("runs", {}))
    return StepResult.ALL


def _runs(brought: Import) -> dict[str, int]:
    """Return by finished run the number of the import's answers it used."""
    if brought.version_id is None:
        return {}
    if brought.what == Import.What.MODEL_ANSWERS:
        scores = LLMAnswerScore.objects.filter(llm_response__in=_model_answers(brought))
        by_run = scores.order_by().values("run").annotate(n=Count("pk"))
        return {str(run): n for run, n in by_run.values_list("run", "n")}
    condition = Q(brought_by=brought)
    n_of = runs_made_of(condition, [brought.version_id], brought.created_at)
    return {str(run): n for run, n in n_of.items()}


def _model_answers(brought: Import) -> QuerySet[LLMResponse, LLMResponse]:
    """Select the model answers of an import; errors that were requested again are excluded."""
    return LLMResponse.objects.filter(brought_by=brought, run=None, key="")


def _parts(brought: Import) -> Parts:
    if brought.what == Import.What.MODEL_ANSWERS:
        answers = _model_answers(brought)
        lookup = {"llm_response__in": answers}
        return [
            ("judgements", HumanJudgement.objects.filter(**lookup)),
            ("requests to judge", JudgementRequest.objects.filter(**lookup)),
            ("answers in samples for experts", AuditItem.objects.filter(**lookup)),
            (MODEL_SCORES, LLMAnswerScore.objects.filter(**lookup)),
            ("facts of models' answers", AnswerFact.objects.filter(**lookup)),
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
        ~Exists(_select_rows(Decision, **theirs)),
        ~Exists(_select_rows(BonusPayment, **theirs)),
        version=brought.version_id,
        source=Submission.Source.IMPORTED,
        withdrawn_at=None,
    )
    lookup = {"question": OuterRef("pk")}
    questions = Question.objects.filter(
        ~Exists(others.filter(**lookup)),
        ~Exists(LLMResponse.objects.filter(**lookup)),
        ~Exists(ExemplaryAnswer.objects.filter(**lookup)),
        ~Exists(Assignment.objects.filter(**lookup)),
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
    # A model that a user has described or set up is more than a by-product of the import.
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


def _select_rows(model: type[Decision | BonusPayment], **conditions: Any) -> QuerySet[Any, Any]:
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
        labels = ", ".join(
            run.name or f"run of {run.created_at:%-d %B %Y, %H:%M} UTC"
            for run in Run.objects.filter(pk__in=list(map(int, runs))).order_by("-pk")[:NAMED]
        )
        more = f" and {len(runs) - NAMED} more" if len(runs) > NAMED else ""
        n, named = len(runs), f"{labels}{more}"
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
    if n_submissions := Submission.objects.filter(
        Exists(Response.objects.filter(submission=OuterRef("pk"), brought_by=brought)),
        Exists(_select_rows(Decision, submission=OuterRef("pk")))
        | Exists(_select_rows(BonusPayment, submission=OuterRef("pk"))),
    ).count():
        notes.append(Note("workers_stay", n=n_submissions))
    notes.append(Note("workers_go"))
    return notes


def _notes_on_models(brought: Import) -> list[Note]:
    notes = []
    n_remaining = (
        LLMResponse.objects.filter(brought_by=brought).count() - _model_answers(brought).count()
    )
    if n_remaining:
        notes.append(Note("asked_anew", n=n_remaining))
    made = LanguageModel.objects.filter(brought_by=brought).count()
    if staying := made - _models(brought).count():
        notes.append(Note("models_in_use", n=staying))
    if brought.publishes:
        notes.append(Note("version_stays", number=brought.number))
    return notes
