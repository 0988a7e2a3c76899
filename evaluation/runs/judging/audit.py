"""Draw a random sample of a grading run's answers, which experts grade blindly.

Workers' answers are drawn at random, spread evenly over the questions, or in equal numbers from
workers with low, middle and high grades. With models every fourth answer is a model's. The order of
all answers is drawn once with a seed, and the sample is its beginning, so that a larger sample
contains the smaller one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotations.models import Response
from evaluation.core.stats.statistics.descriptive import draw_stratified_order
from evaluation.models import (
    AnswerScore,
    Audit,
    AuditItem,
    HumanJudgement,
    JudgementRequest,
    LLMAnswerScore,
    Run,
    WorkerGrade,
    WorkerVerdict,
)
from evaluation.models.judgements import PLACES
from evaluation.runs.judging.declaration import ExpertProgress
from evaluation.runs.judging.tasks import drop_requests_on_excluded_workers

COUNT, MOST = 20, 2_000
# A model's answer stands at every so many places.
EVERY = 4
PEOPLE, MODELS = "people", "models"
THIRDS = ("low", "middle", "high")
STRATA = (PEOPLE, *THIRDS, MODELS)


class CannotDrawError(ValueError):
    """Error: no such sample can be drawn from the run; the message is for people."""


# As many as the papers had experts grade: a tenth of all answers, or 200.
TENTH, TWO_HUNDRED = "tenth", "200"
PRESETS = (TENTH, TWO_HUNDRED)


def compute_preset_size(name: str, n_answers: int) -> int:
    """Return how many answers a preset draws: a tenth of them for "tenth", else 200."""
    return max(1, math.ceil(n_answers / 10)) if name == TENTH else 200


@dataclass(frozen=True)
class DrawableAnswers:
    """The answers of a run from which samples for experts are drawn, in a fixed order.

    Attributes
    ----------
    answers : (primary key, question, worker) of workers' answers. models : primary keys of models'
        answers. grades : workers' grades, by primary key.
    """

    answers: Sequence[tuple[int, int, int]]
    models: Sequence[int]
    grades: dict[int, float]

    def compute_sample_size(self, preset: str, with_models: bool) -> int:
        """Return the number of answers that a preset draws, with models' answers or without."""
        return compute_preset_size(
            preset, len(self.answers) + (len(self.models) if with_models else 0)
        )

    @property
    def n_questions(self) -> int:
        """Number of questions with at least one worker's answer."""
        return len({question for _, question, _ in self.answers})


def load_drawable_answers(run: Run) -> DrawableAnswers:
    """Return the run's answers from which a sample for experts can be drawn; four queries.

    Answers whose grades chose the ranking of the run are left out: they cannot confirm it. So are
    those of workers left out by the run, and of workers excluded from the set.
    """
    answers = AnswerScore.objects.filter(run=run, score_leave_one_out__isnull=False)
    excluded_workers = {
        verdict.worker_id
        for verdict in WorkerVerdict.list_exclusion_verdicts(run.version.question_set)
    }
    excluded_workers.update(WorkerGrade.select_excluded(run).values_list("worker_id", flat=True))
    if excluded_workers:
        answers = answers.exclude(response__submission__worker__in=excluded_workers)
    # Anchors chose among rankings by these grades, so agreement with them would prove nothing.
    if run.parameters.get("anchors") and run.started_at is not None:
        ranking_grades = HumanJudgement.objects.filter(
            response__submission__version=run.version_id,
            grade__isnull=False,
            created_at__lte=run.started_at,
        )
        answers = answers.exclude(response__in=ranking_grades.values("response"))
    models = LLMAnswerScore.objects.filter(
        run=run, score__isnull=False, llm_response__status=Response.Status.TEXT
    )
    grades = WorkerGrade.objects.filter(run=run, grade__isnull=False)
    rows = grades.values_list("worker_id", "grade")
    columns = ("response_id", "response__question_id", "response__submission__worker_id")
    return DrawableAnswers(
        list(answers.order_by("response_id").values_list(*columns)),
        list(models.order_by("llm_response_id").values_list("llm_response_id", flat=True)),
        {worker: grade for worker, grade in rows if grade is not None},
    )


@transaction.atomic
def draw_audit_sample(
    run: Run, count: int, design: str, with_models: bool, seed: int, step: float | None = None
) -> Audit:
    """Draw answers until the run's sample has at least `count`; return the sample (`Audit`).

    Answers drawn before stay. If the run has fewer, the sample holds all. `design`, `with_models`
    and `seed` have an effect in the first draw only; a `step` (grades that differ by more disagree)
    replaces the stored one. Raises `CannotDrawError`.
    """
    # The run's row makes two who draw at once wait for each other.
    Run.objects.select_for_update().get(pk=run.pk)
    audit = Audit.objects.filter(run=run).first()
    if audit is None:
        audit = Audit(run=run, design=design, with_models=with_models, seed=seed)
    if step is not None:
        audit.step = step
    drawable_answers = load_drawable_answers(run)
    # Of the stored seed, and workers before models: a later, larger draw must repeat this order.
    rng = np.random.default_rng(audit.seed)
    worker_order = _order_worker_answers(drawable_answers, audit.design, rng)
    model_order = rng.permutation(np.array(drawable_answers.models, dtype=np.int64)).tolist()
    order = _interleave_models(worker_order, model_order if audit.with_models else [])
    if not order:
        raise CannotDrawError("This run has no answer to judge.")
    audit.strata = dict(Counter(stratum for stratum, _ in order))
    audit.save()
    drawn = list(audit.items.order_by("place").values_list("response_id", "llm_response_id"))
    # With the kind, because keys of workers' and of models' answers come from two tables.
    drawn_keys = {(llm is not None, response or llm) for response, llm in drawn}
    new_items = [
        (stratum, key) for stratum, key in order if (stratum == MODELS, key) not in drawn_keys
    ]  # an answer that was withdrawn since leaves its place empty
    place = 1 + max(audit.items.values_list("place", flat=True), default=-1)
    AuditItem.objects.bulk_create(
        AuditItem(
            audit=audit,
            place=place + index,
            stratum=stratum,
            **{"llm_response_id" if stratum == MODELS else "response_id": key},
        )
        for index, (stratum, key) in enumerate(new_items[: max(0, count - len(drawn))])
    )
    return audit


def request_audit_grades(audit: Audit, expert: int) -> None:
    """Ask an expert to grade the answers of a sample, in an order drawn for the expert.

    The seed is that of the sample together with the expert, so that a repetition changes nothing.
    """
    items = list(
        audit.items.annotate(of_author=WorkerVerdict.build_author_verdict())
        .exclude(of_author=WorkerVerdict.Kind.EXCLUDE)
        .order_by("place")
    )
    if not items:
        return
    # Seeded by the sample and the expert: an order of their own, and the same one if asked again.
    rng = np.random.default_rng([audit.seed, expert])
    places = rng.integers(0, PLACES, max(item.place for item in items) + 1)
    # Only a sample that hangs on what the run found is one that "a run led to".
    run = audit.run_id if audit.design == Audit.Design.GRADE else None
    JudgementRequest.objects.bulk_create(
        [
            JudgementRequest(
                run_id=run,
                response_id=item.response_id,
                llm_response_id=item.llm_response_id,
                expert_id=expert,
                place=int(places[item.place]),
            )
            for item in items
        ],
        ignore_conflicts=True,
    )


def list_audit_progress(audit: Audit) -> list[ExpertProgress]:
    """Return the progress of each expert who was asked to grade a sample, by name; one query."""
    done_by_expert: dict[tuple[str, int], list[bool]] = {}
    rows = select_audit_requests(audit).values_list("expert__username", "expert", "is_done")
    for name, user, done in rows:
        done_by_expert.setdefault((name, user), []).append(done)
    return [
        ExpertProgress(user, name, len(done), sum(done))
        for (name, user), done in sorted(done_by_expert.items())
    ]


def withdraw_requests(audit: Audit, expert: int) -> int:
    """Delete an expert's unanswered requests in a sample; return their number."""
    open_requests = list(select_audit_requests(audit).filter(expert=expert, is_done=False))
    # What this one was to settle is to be settled by somebody else.
    for field in ("response_id", "llm_response_id"):
        keys = [
            key
            for open_request in open_requests
            if (key := getattr(open_request, field)) is not None
        ]
        items = audit.items.filter(**{f"{field}__in": keys}, adjudicator=expert)
        items.update(adjudicator=None)
    JudgementRequest.objects.filter(
        pk__in=[open_request.pk for open_request in open_requests]
    ).delete()
    return len(open_requests)


def select_audit_requests(audit: Audit) -> QuerySet[Any, Any]:
    """Return the requests to experts about a sample's answers, annotated with `is_done`.

    Requests about answers of workers who have been excluded since are left out.
    """
    items = AuditItem.objects.filter(audit=audit)
    judgements = HumanJudgement.objects.filter(expert=OuterRef("expert"))
    done = [
        Exists(judgements.filter(**{thing: OuterRef(thing)}))
        for thing in ("response", "llm_response")
    ]
    rows = JudgementRequest.objects.filter(
        Q(response__in=items.filter(response__isnull=False).values("response"))
        | Q(llm_response__in=items.filter(llm_response__isnull=False).values("llm_response"))
    )
    return drop_requests_on_excluded_workers(rows.annotate(is_done=done[0] | done[1]))


def _order_worker_answers(
    drawable_answers: DrawableAnswers, design: str, rng: np.random.Generator
) -> list[tuple[str, int]]:
    """Return the (stratum, primary key) of workers' answers, in random order by the design."""
    keys = [key for key, _, _ in drawable_answers.answers]
    if design == Audit.Design.RANDOM:
        return [(PEOPLE, keys[index]) for index in rng.permutation(len(keys)).tolist()]
    if design == Audit.Design.QUESTION:
        strata = [question for _, question, _ in drawable_answers.answers]
        return [(PEOPLE, keys[index]) for index in draw_stratified_order(strata, rng).tolist()]
    if len(drawable_answers.grades) < len(THIRDS):
        raise CannotDrawError(
            "Fewer than 3 workers have a grade: draw at random, or spread over the questions."
        )
    third_by_worker = split_into_thirds(drawable_answers.grades)
    lists: dict[str, list[int]] = {name: [] for name in THIRDS}
    for index in rng.permutation(len(keys)).tolist():
        worker = drawable_answers.answers[index][2]
        if worker in third_by_worker:
            lists[third_by_worker[worker]].append(keys[index])
    turns = [
        (turn, place, (name, key))
        for place, name in enumerate(THIRDS)
        for turn, key in enumerate(lists[name])
    ]
    # The thirds take turns, so that every beginning of the order has them in equal numbers.
    return [one for _, _, one in sorted(turns)]


def split_into_thirds(grades: dict[int, float]) -> dict[int, str]:
    """Return each worker's third by grade ("low", "middle" or "high"), by worker key."""
    order = sorted(grades, key=lambda worker: (grades[worker], worker))
    return {
        int(worker): name
        for name, part in zip(THIRDS, np.array_split(np.array(order), len(THIRDS)), strict=True)
        for worker in part
    }


def _interleave_models(people: list[tuple[str, int]], models: list[int]) -> list[tuple[str, int]]:
    """Return workers' and models' answers in one order, in which every fourth is a model's."""
    remaining_workers, remaining_models = iter(people), iter(models)
    order: list[tuple[str, int]] = []
    for _ in range(len(people) + len(models)):
        model_next = (len(order) + 1) % EVERY == 0
        model_key = next(remaining_models, None) if model_next else None
        worker_item = None if model_key is not None else next(remaining_workers, None)
        if model_key is None and worker_item is None:
            model_key = next(remaining_models, None)
        order.append((MODELS, model_key) if model_key is not None else worker_item)  # type: ignore[arg-type]
    return order
