"""Deleting a language model with its answers; the runs in which it stood keep everybody else."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Count, Q

from annotations.models import AuditEntry, QuestionSet
from evaluation.background.record import (
    Parts,
    Went,
    end,
    note_withdrawn,
    take_some,
    works_on,
)
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
from evaluation.reports.removal import Hanging, counted

MODEL = "language_model"
SENTENCES = {
    "in_sets_of_others": "It answered in {sets} that its owner may not change: the answers there "
    "belong to these. Archive it instead.",
    "in_sets": "Its answers stand in {sets}, and go from there.",
    "scored_in": "{runs} scored it and {lose} its row. All others keep their grades, and the "
    "results say from then on: not reproducible, so many answers withdrawn. Grade again "
    "afterwards.",
    "named_in_files": "Pictures, tables and exports that name it stay as they were made.",
    "waits_for_run": "A run works with it or its answers: it goes once that run has ended.",
}
"""What is said before a language model is deleted, by code."""


def hanging_on_model(model: LanguageModel) -> Hanging:
    """Return what goes with a model, and what forbids to delete it: answers in sets of others."""
    answers = LLMResponse.objects.filter(model=model).order_by()
    in_sets = answers.values("question__version__question_set").distinct()
    others = in_sets.exclude(
        question__version__question_set__in=QuestionSet.objects.editable_by(model.owner).values(
            "pk"
        )
    ).count()
    obstacles = []
    if others:
        obstacles.append(
            SENTENCES["in_sets_of_others"].format(sets=_several(others, "question set"))
        )
    notes = []
    if n := in_sets.count():
        notes.append(SENTENCES["in_sets"].format(sets=_several(n, "question set")))
    if n := LLMScore.objects.filter(model=model).count():
        notes.append(
            SENTENCES["scored_in"].format(
                runs=_several(n, "run"), lose="loses" if n == 1 else "lose"
            )
        )
    notes.append(SENTENCES["named_in_files"])
    if _is_needed(model.pk, str(model.public_id)):
        notes.append(SENTENCES["waits_for_run"])
    scored_in = Run.objects.filter(llm_scores__model=model).exclude(input_hash="")
    inputs = sorted(set(scored_in.values_list("input_hash", flat=True)))
    return Hanging(counted(_parts(model.pk)), inputs, tuple(obstacles), tuple(notes))


def step(removal: Removal) -> Went:
    """Delete some rows; waits while a run works with the model, or where it answered."""
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
    """How many of its answers each run was made of."""
    scored = LLMAnswerScore.objects.filter(llm_response__model=model).order_by().values("run")
    return {str(run): n for run, n in scored.annotate(n=Count("pk")).values_list("run", "n")}


def _is_needed(model: int, public_id: str) -> bool:
    """Whether a run that is not over reads its answers, or names it in its options."""
    answered = LLMResponse.objects.filter(model=model).order_by()
    if works_on(sorted(set(answered.values_list("question__version", flat=True)))):
        return True
    waiting = Run.objects.filter(state__in=UNFINISHED).values_list("parameters", flat=True)
    return any(public_id in str(parameters) for parameters in waiting.iterator())


def _several(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


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
        ("scores in runs", LLMScore.objects.filter(model=model)),
        ("notes", LanguageModelNote.objects.filter(model=model)),
    ]
