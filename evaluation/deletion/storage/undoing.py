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
from evaluation.deletion.storage.joined_facts import find_join_dependents, undo_join_batch
from evaluation.deletion.storage.record import (
    DependentRows,
    ForbiddenRemovalError,
    Note,
    Parts,
    StepResult,
    add_withdrawn_counts,
    count_answers_by_run,
    count_rows,
    delete_batch,
    find_request,
    finish_removal,
    format_runs_were,
    is_in_use,
    store_request,
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


def find_item_dependents(brought: Import) -> DependentRows:
    """Return what undoing an import of questions or passages deletes and leaves, and obstacles."""
    noun = brought.get_what_display()
    version = brought.version
    if version is not None and version.is_published:
        reason = Note("published", number=version.number, noun=noun)
        return DependentRows({}, [brought.sha256], (reason,))
    rows = _select_items(brought)
    left, bound = (
        rows.count(),
        rows.exclude(pk__in=_select_unused_items(brought).values("pk")).count(),
    )
    going = [
        item.pk
        for item in _select_unused_items(brought)
        .prefetch_related(*_get_related_names(brought))
        .iterator(record.BATCH)
        # An item that a user has edited since stays.
        if hash_item(item) == item.brought_as
    ]
    n_changed = left - bound - len(going)
    notes = _build_item_notes(brought, left=left, bound=bound, changed=n_changed)
    if not going:
        why = "".join(f" {note}" for note in notes)
        return DependentRows({}, [brought.sha256], (Note("none_can_go", noun=noun, why=why),))
    counts = {noun: len(going)}
    for name, rows in _select_dependent_rows(brought).items():
        if n := sum(
            rows.filter(**{_get_lookup(brought): some}).count() for some in _split_keys(going)
        ):
            counts[name] = n
    if is_in_use([brought.version_id] if brought.version_id else []):
        notes.append(Note("draft_in_use"))
    notes.append(Note("draft_stays"))
    return DependentRows(counts, [brought.sha256], notes=tuple(notes))


def undo_items_batch(removal: Removal, brought: Import) -> StepResult:
    """Delete a batch of an import's items, except those that were changed or used since."""
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
        rows = _select_items(brought).filter(pk__gt=after).order_by("pk")
        keys = list(rows.values_list("pk", flat=True)[: record.BATCH])
        if keys:
            _delete_items(removal, brought, keys)
            return StepResult.SOME
        Import.objects.filter(pk=brought.pk).update(undone_at=timezone.now())
        finish_removal(removal, AuditEntry.Action.UNDONE)
    return StepResult.ALL


def _delete_items(removal: Removal, brought: Import, keys: list[int]) -> None:
    """Delete those of the items that are unchanged since the import, with their related rows."""
    rows = (
        _select_unused_items(brought)
        .filter(pk__in=keys)
        .prefetch_related(*_get_related_names(brought))
    )
    going = [item for item in rows if hash_item(item) == item.brought_as]
    ITEMS[brought.what]._default_manager.filter(pk__in=[item.pk for item in going]).delete()
    n = len(going) + sum(
        len(getattr(item, name).all()) for item in going for name in _get_related_names(brought)
    )
    removal.pending = {"after": keys[-1]}
    removal.save(update_fields=["pending"])
    Removal.objects.filter(pk=removal.pk).update(done=Least(F("done") + n, F("total")))


def _select_items(brought: Import) -> QuerySet[Any, Any]:
    """Return the queryset of the import's items that are left in its version."""
    rows: QuerySet[Any, Any] = ITEMS[brought.what]._default_manager.filter(
        brought_by=brought, version=brought.version_id
    )
    return rows


def _select_unused_items(brought: Import) -> QuerySet[Any, Any]:
    """Return the queryset of the import's items on which no other data depends."""
    if brought.what == Import.What.PASSAGES:
        return _select_items(brought).filter(questions=None, readings=None)
    lookup = {"question": OuterRef("pk")}
    return _select_items(brought).filter(
        ~Exists(Response.objects.filter(**lookup)),
        ~Exists(LLMResponse.objects.filter(**lookup)),
        ~Exists(ExemplaryAnswer.objects.filter(**lookup)),
        ~Exists(Assignment.objects.filter(**lookup)),
        written=None,
    )


def _get_related_names(brought: Import) -> tuple[str, ...]:
    """Return the names of the relations that are deleted with an item of this import."""
    return RELATED_ROWS[ITEMS[brought.what]]


def _select_dependent_rows(brought: Import) -> dict[str, QuerySet[Any, Any]]:
    """Return the querysets of translations and wordings, deleted with items, by label."""
    result: dict[str, QuerySet[Any, Any]] = {"translations": Translation.objects.all()}
    if brought.what == Import.What.QUESTIONS:
        result["other wordings"] = Variant.objects.all()
    return result


def _get_lookup(brought: Import) -> str:
    """Return the look-up by which dependent rows are filtered by the import's items."""
    return "passage__in" if brought.what == Import.What.PASSAGES else "question__in"


def _split_keys(keys: list[int]) -> list[list[int]]:
    """Return the keys in batches of at most `record.BATCH`."""
    return [keys[first : first + record.BATCH] for first in range(0, len(keys), record.BATCH)]


def _build_item_notes(brought: Import, *, left: int, bound: int, changed: int) -> list[Note]:
    """Return the messages about items that stay: still in use, or changed since the import."""
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


def find_import_dependents(brought: Import) -> DependentRows:
    """Return what undoing an import would delete, and what would stay or prevents it."""
    if brought.what in ITEMS:
        return find_item_dependents(brought)
    if brought.what == Import.What.DEMOGRAPHICS:
        return find_join_dependents(brought)
    counts = count_rows([*_list_rows(brought), *_list_unused_rows(brought)])
    return DependentRows(counts, [brought.sha256], notes=tuple(_build_notes(brought)))


@transaction.atomic
def request_undo(brought: Import, user_id: int) -> Removal:
    """Store the request to undo an import; return the earlier request if there is one.

    Raises `ForbiddenRemovalError` if nothing can be deleted, such as from a published version.
    """
    if (before := find_request(IMPORT, brought)) is not None:
        return before
    hanging = find_import_dependents(brought)
    if not hanging.can_go:
        raise ForbiddenRemovalError(hanging.obstacles)
    return store_request(
        IMPORT,
        brought,
        AuditEntry.Action.UNDO,
        hanging,
        name=f"{brought.question_set.name}: {brought.file}",
        owner_id=brought.question_set.owner_id,
        asked_by=user_id,
    )


def undo_batch(removal: Removal) -> StepResult:
    """Delete a batch of an import's rows; WAITS while a run uses the version."""
    brought = Import.objects.filter(pk=removal.target).first()
    versions = [brought.version_id] if brought and brought.version_id else []
    if is_in_use(versions):
        return StepResult.WAITS
    if brought is not None and brought.what in ITEMS:
        return undo_items_batch(removal, brought)
    if brought is not None and brought.what == Import.What.DEMOGRAPHICS:
        return undo_join_batch(removal, brought)
    with transaction.atomic():
        if brought is not None:
            if "runs" not in removal.pending:
                # Before the first batch: afterwards the scores that tell the runs are gone.
                removal.pending = {"runs": _count_answers_by_run(brought)}
                removal.save(update_fields=["pending"])
            if delete_batch(removal, [*_list_rows(brought), *_list_unused_rows(brought)]):
                return StepResult.SOME
            _delete_empty_version(brought)
            Import.objects.filter(pk=brought.pk).update(undone_at=timezone.now())
        if finish_removal(removal, AuditEntry.Action.UNDONE):
            add_withdrawn_counts(removal.pending.get("runs", {}))
    return StepResult.ALL


def _count_answers_by_run(brought: Import) -> dict[str, int]:
    """Return the number of the import's answers that each finished run used, by run key as text."""
    if brought.version_id is None:
        return {}
    if brought.what == Import.What.MODEL_ANSWERS:
        scores = LLMAnswerScore.objects.filter(llm_response__in=_select_model_answers(brought))
        by_run = scores.order_by().values("run").annotate(n=Count("pk"))
        return {str(run): n for run, n in by_run.values_list("run", "n")}
    condition = Q(brought_by=brought)
    n_of = count_answers_by_run(condition, [brought.version_id], brought.created_at)
    return {str(run): n for run, n in n_of.items()}


def _select_model_answers(brought: Import) -> QuerySet[LLMResponse, LLMResponse]:
    """Return the queryset of an import's model answers that no run has requested again."""
    return LLMResponse.objects.filter(brought_by=brought, run=None, key="")


def _list_rows(brought: Import) -> Parts:
    """Return the rows that undoing an import deletes, by label, in a valid order of deletion."""
    if brought.what == Import.What.MODEL_ANSWERS:
        answers = _select_model_answers(brought)
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


def _list_unused_rows(brought: Import) -> Parts:
    """Return the import's submissions, questions or models that nothing else uses, by label."""
    if brought.what == Import.What.MODEL_ANSWERS:
        return [(MODELS_MADE, _select_unused_models(brought))]
    others = Response.objects.exclude(brought_by=brought)
    theirs = {"submission": OuterRef("pk")}
    submissions = Submission.objects.filter(
        ~Exists(others.filter(**theirs)),
        ~Exists(_select_all_rows(Decision, **theirs)),
        ~Exists(_select_all_rows(BonusPayment, **theirs)),
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


def _select_unused_models(brought: Import) -> QuerySet[LanguageModel, LanguageModel]:
    """Return the queryset of the import's language models without use or description."""
    others = LLMResponse.objects.exclude(pk__in=_select_model_answers(brought).values("pk"))
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


def _select_all_rows(model: type[Decision | BonusPayment], **conditions: Any) -> QuerySet[Any, Any]:
    """Return the rows of a table that meet conditions, also those that its manager hides."""
    rows: QuerySet[Any, Any] = model._base_manager.filter(**conditions)
    return rows


def _delete_empty_version(brought: Import) -> None:
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


def _build_notes(brought: Import) -> list[Note]:
    """Return the messages about what undoing an import changes or leaves."""
    notes = []
    if brought.version_id and is_in_use([brought.version_id]):
        notes.append(Note("import_in_use"))
    runs = _count_answers_by_run(brought)
    if runs:
        labels = ", ".join(
            run.name or f"run of {run.created_at:%-d %B %Y, %H:%M} UTC"
            for run in Run.objects.filter(pk__in=list(map(int, runs))).order_by("-pk")[:NAMED]
        )
        more = f" and {len(runs) - NAMED} more" if len(runs) > NAMED else ""
        n, named = len(runs), f"{labels}{more}"
        notes.append(Note("import_runs", n=n, runs_were=format_runs_were(n), named=named))
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
        return [*notes, *_build_model_notes(brought)]
    made = Question.objects.filter(brought_by=brought, version=brought.version_id).count()
    free = dict(_list_unused_rows(brought))["questions that it made"].count()
    if made > free:
        notes.append(Note("questions_stay", n=made - free))
    if n_submissions := Submission.objects.filter(
        Exists(Response.objects.filter(submission=OuterRef("pk"), brought_by=brought)),
        Exists(_select_all_rows(Decision, submission=OuterRef("pk")))
        | Exists(_select_all_rows(BonusPayment, submission=OuterRef("pk"))),
    ).count():
        notes.append(Note("workers_stay", n=n_submissions))
    notes.append(Note("workers_go"))
    return notes


def _build_model_notes(brought: Import) -> list[Note]:
    """Return the messages about models and model answers that stay after an undo."""
    notes = []
    n_remaining = (
        LLMResponse.objects.filter(brought_by=brought).count()
        - _select_model_answers(brought).count()
    )
    if n_remaining:
        notes.append(Note("asked_anew", n=n_remaining))
    made = LanguageModel.objects.filter(brought_by=brought).count()
    if staying := made - _select_unused_models(brought).count():
        notes.append(Note("models_in_use", n=staying))
    if brought.publishes:
        notes.append(Note("version_stays", number=brought.number))
    return notes
