"""Delete a language model with its answers; runs keep the results of other models."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Count, Q

from annotations.models import AuditEntry, QuestionSet
from evaluation.core.messages.message import format_count as number_of
from evaluation.deletion.storage.hanging import Hanging, counted
from evaluation.deletion.storage.notes import Note
from evaluation.deletion.storage.record import Parts, Went, end, note_withdrawn, take_some, works_on
from evaluation.models import (
    AnswerFact,
    AuditItem,
    HumanJudgement,
    JudgementRequest,
    LanguageModel,
    LanguageModelNote,
    LLMAnswerScore,
    LLMComparison,
    LLMResponse,
    LLMScore,
    RawReply,
    Removal,
    Run,
)
from evaluation.models.runs import UNFINISHED

MODEL = "language_model"
SCORES = "scores in runs"


def hanging_on_model(model: LanguageModel) -> Hanging:
    """Return what is deleted with a model, and what prevents it: answers in other users' sets."""
    answers = LLMResponse.objects.filter(model=model).order_by()
    in_set = "question__version__question_set"
    own = QuestionSet.objects.editable_by(model.owner).values("pk")
    n_sets, others = answers.aggregate(
        all=Count(in_set, distinct=True),
        others=Count(in_set, distinct=True, filter=~Q(**{f"{in_set}__in": own})),
    ).values()
    counts = counted(_parts(model.pk))
    obstacles = []
    if others:
        obstacles.append(Note("other_owners", n=others, sets=number_of(others, "question set")))
    notes = []
    if n := n_sets:
        notes.append(Note("answers_in_sets", n=n, sets=number_of(n, "question set")))
    if n := counts.get(SCORES, 0):
        notes.append(Note("runs_scored", n=n, lose="loses" if n == 1 else "lose"))
    notes.append(Note("files_name_it"))
    if _is_needed(model.pk, str(model.public_id)):
        notes.append(Note("model_in_use"))
    scored_in = Run.objects.filter(llm_scores__model=model).exclude(input_hash="")
    inputs = sorted(set(scored_in.values_list("input_hash", flat=True)))
    return Hanging(counts, inputs, tuple(obstacles), tuple(notes))


def step(removal: Removal) -> Went:
    """Delete a batch of a model's rows; wait while a run uses the model or its answers."""
    if _is_needed(removal.target, str(removal.target_id)):
        return Went.WAITS
    with transaction.atomic():
        if "runs" not in removal.pending:
            removal.pending = {"runs": _runs(removal.target)}
            removal.save(update_fields=["pending"])
        if take_some(removal, _parts(removal.target)):
            return Went.SOME
        LanguageModel.objects.filter(pk=removal.target).delete()
        if end(removal, AuditEntry.Action.DELETED):
            note_withdrawn(removal.pending["runs"])
    return Went.ALL


def _runs(model: int) -> dict[str, int]:
    """Return by run the number of this model's answers that it used."""
    scored = LLMAnswerScore.objects.filter(llm_response__model=model).order_by().values("run")
    return {str(run): n for run, n in scored.annotate(n=Count("pk")).values_list("run", "n")}


def _is_needed(model: int, public_id: str) -> bool:
    """Return whether an unfinished run uses the model's answers or names it in its options."""
    answered = LLMResponse.objects.filter(model=model).order_by()
    if works_on(answered.values("question__version")):
        return True
    waiting = Run.objects.filter(state__in=UNFINISHED).values_list("parameters", flat=True)
    return any(public_id in str(parameters) for parameters in waiting.iterator())


def _parts(model: int) -> Parts:
    of = {"llm_response__model": model}
    return [
        ("judgements", HumanJudgement.objects.filter(**of)),
        ("requests to judge", JudgementRequest.objects.filter(**of)),
        ("answers in samples for experts", AuditItem.objects.filter(**of)),
        ("scores of answers", LLMAnswerScore.objects.filter(**of)),
        ("facts of answers", AnswerFact.objects.filter(**of)),
        ("raw replies", RawReply.objects.filter(response__model=model)),
        ("answers", LLMResponse.objects.filter(model=model)),
        ("comparisons in runs", LLMComparison.objects.filter(Q(model_a=model) | Q(model_b=model))),
        (SCORES, LLMScore.objects.filter(model=model)),
        ("notes", LanguageModelNote.objects.filter(model=model)),
    ]
