"""Reports on a sample of answers for experts and on the experts' grades, as plain records.

Report whether experts who graded a sample of answers blindly agree with a run's scores. Report on
experts' grades of a run's sample: agreement, difficulty, correlations, true means.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np
from scipy import stats

from annotations.models import Share
from evaluation.core.stats.inference.clustered import ClusteredEstimate
from evaluation.core.stats.inference.correlations import estimate_correlation, forecast_interval
from evaluation.experts.run import (
    AGREEMENT,
    DIFFICULTY,
    ESTIMATES,
    ExpertFindings,
    ExpertsParameters,
    GradedAnswer,
    ScoredAnswer,
    compute_expert_findings,
    iterate_agreement_rows,
    iterate_difficulty_rows,
    iterate_estimate_rows,
)
from evaluation.models import AnswerScore, Audit, LLMAnswerScore, Run, WorkerGrade
from evaluation.runs.judging.audit import (
    STRATA,
    DrawableAnswers,
    list_audit_progress,
    load_drawable_answers,
)
from evaluation.runs.judging.declaration import ExpertProgress
from evaluation.runs.judging.tasks import list_disputes, list_disputing_experts
from evaluation.runs.reports.about import RunAbout, build_run_about
from evaluation.runs.reports.judging import (
    MOST_EXPERTS,
    ExpertsCheck,
    JudgedAnswer,
    Pair,
    check_experts,
    compare_expert_pairs,
    compute_sample_weights,
    correlate_experts,
    find_audit,
    load_judged_answers,
)
from evaluation.runs.reports.lists import Table

# A worker's mean grade is of so many judged answers at least, and their order of so many workers.
FEWEST_OF_WORKER, FEWEST_WORKERS = 3, 10
# Answers that the page shows on which grades and scores differ most.
MAX_SHOWN = 6
# By more than this part of all their places.
FAR = 0.2
# Sizes of which is told beforehand what they will show, and for which true correlation.
SIZES, FORESEEN_FOR = (10, 20, 50, 100, 200), 0.7
# Fewer show no order that differs.
FEW = 4


@dataclass(frozen=True)
class GradeSummary:
    """Mean of experts' grades, and their correlation with scores; None if undefined.

    Attributes
    ----------
    expert : who gave them; "" for the mean of all who graded an answer.
    """

    expert: str
    n: int
    mean: float | None
    answers: ClusteredEstimate


@dataclass(frozen=True)
class StratumCounts:
    """Answers of one stratum: numbers in total, drawn and judged, and the mean grade of those."""

    code: str
    n: int
    n_drawn: int
    n_judged: int
    mean: float | None


@dataclass(frozen=True)
class IntervalForecast:
    """Expected interval of the correlation for a sample size; ends are None if it is too small.

    Attributes
    ----------
    half : half of the interval's width.
    """

    n: int
    low: float | None
    high: float | None

    @property
    def half(self) -> float | None:
        """Half the width of the expected interval; None if the sample is too small."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


@dataclass(frozen=True)
class AuditReport:
    """Expert check of a run: the sample, the experts assigned, and the agreement with scores.

    Attributes
    ----------
    design, seed, with_models : options of the sample; None before the first draw.
    drawn_for : id of the run for which the sample was drawn, if it is another run.
    n_answers, n_model_answers, n_questions : numbers from which a sample can be drawn.
    n_judged : drawn answers with a grade; n_by_two : those with two or more; n_given : all grades.
    step : largest accepted difference of two grades; None before the first draw. n_disputed :
        answers with a larger difference; n_settling : those of them assigned to a third expert;
        n_settled : those settled. parties : experts who graded an unsettled one, and so cannot
        settle it.
    waiting : invited experts who have not signed in yet.
    check : agreement on workers' answers, for the trust report.
    people, models : grades of workers' answers, weighted to represent all, and of models' answers.
    by_expert : grades of workers' answers, for each expert alone.
    workers : correlation of workers' mean grades with their raw scores, over the `n_covered`
        workers with 3 judged answers or more; None below 10 such workers.
    differ : answers on which grades and scores differ most by their ranks.
    """

    about: RunAbout
    design: str | None
    seed: int | None
    with_models: bool | None
    drawn_for: UUID | None
    n_answers: int
    n_model_answers: int
    n_questions: int
    strata: list[StratumCounts]
    n_drawn: int
    n_judged: int
    n_by_two: int
    n_given: int
    step: float | None
    n_disputed: int
    n_settling: int
    n_settled: int
    parties: set[int]
    experts: list[ExpertProgress]
    of_set: list[tuple[int, str]]
    others: list[tuple[int, str]]
    waiting: list[str]
    check: ExpertsCheck
    people: GradeSummary
    models: GradeSummary
    by_expert: list[GradeSummary]
    workers: ClusteredEstimate | None
    n_covered: int
    between: list[Pair]
    differ: list[JudgedAnswer]
    foreseen: list[IntervalForecast]


def build_audit_report(run: Run) -> AuditReport:
    """Return the expert check of a finished grading."""
    audit = find_audit(run)
    judged = load_judged_answers(run, audit) if audit else []
    people = [answer for answer in judged if not answer.of_model]
    drawable = load_drawable_answers(run)
    own = audit if audit and audit.run_id == run.pk else None
    experts = list_audit_progress(own) if own else []
    users = {expert.user for expert in experts}
    question_set = run.version.question_set
    invited = Share.objects.filter(
        question_set=question_set, role=Share.Role.EXPERT, user__is_active=True
    ).order_by("user__username")
    shares = list(invited.values_list("user", "user__username", "pending"))
    accepted = [(user, name) for user, name, pending in shares if not pending]
    covered, workers = _correlate_workers(run, people)
    disputed = list_disputes(own) if own else []
    open_ones = [dispute for dispute in disputed if dispute.settled is None]
    return AuditReport(
        about=build_run_about(run),
        design=audit.design if audit else None,
        seed=audit.seed if audit else None,
        with_models=audit.with_models if audit else None,
        drawn_for=audit.run.public_id if audit and own is None else None,
        n_answers=len(drawable.answers),
        n_model_answers=len(drawable.models),
        n_questions=drawable.n_questions,
        strata=list(_iterate_stratum_counts(audit, judged)) if audit else [],
        n_drawn=audit.items.count() if audit else 0,
        n_judged=len(judged),
        n_by_two=sum(len(answer.grades) > 1 for answer in judged),
        n_given=sum(len(answer.grades) + (answer.settled is not None) for answer in judged),
        step=audit.step if audit else None,
        n_disputed=len(disputed),
        n_settling=sum(dispute.adjudicator is not None for dispute in open_ones),
        n_settled=len(disputed) - len(open_ones),
        parties=list_disputing_experts(disputed),
        experts=experts,
        of_set=accepted,
        others=[(user, name) for user, name in accepted[:MOST_EXPERTS] if user not in users],
        waiting=[name for _, name, pending in shares if pending][:MOST_EXPERTS],
        check=check_experts(run, audit, judged),
        people=_summarise_grades("", people, audit),
        models=_summarise_grades("", [answer for answer in judged if answer.of_model], audit),
        by_expert=list(_iterate_expert_summaries(people, audit)),
        workers=workers,
        n_covered=covered,
        between=compare_expert_pairs(judged),
        differ=_find_largest_differences(people),
        foreseen=forecast_intervals(drawable),
    )


def forecast_intervals(
    drawable: DrawableAnswers, sizes: Sequence[int] = SIZES
) -> list[IntervalForecast]:
    """Return the expected intervals for several sample sizes and for a tenth of the answers."""
    most = len(drawable.answers)
    wanted = sorted({n for n in (*sizes, max(min(sizes), round(most / 10))) if n <= most})
    rows = []
    for n in wanted:
        interval = forecast_interval(n, min(n, drawable.n_questions), FORESEEN_FOR)
        rows.append(IntervalForecast(n, interval.low, interval.high))
    return rows


def build_audit_table(run: Run) -> Table:
    """Return the table of sample grades: one row per grade of an expert, in sampling order."""
    header = (
        *("question", "worker", "model", "stratum", "weight", "score", "judge", "grade"),
        *("judged_at", "settles"),
    )
    audit = find_audit(run)
    judged = load_judged_answers(run, audit) if audit else []
    weights = compute_sample_weights(judged, audit)
    return Table(
        header,
        (
            (
                answer.question_name,
                *(("", answer.author) if answer.of_model else (answer.author, "")),
                *(answer.stratum, weights[index], answer.score),
                *(f"human:{expert}", grade, answer.judged_at.isoformat(), settles),
            )
            for index, answer in enumerate(judged)
            for expert, grade, settles in _iterate_grades(answer)
        ),
    )


def _iterate_grades(judged_answer: JudgedAnswer) -> Iterator[tuple[str, float, int]]:
    """Yield each grade of an answer: expert, grade, and 1 if it settles a disagreement."""
    for expert in sorted(judged_answer.grades):
        yield expert, judged_answer.grades[expert], 0
    if judged_answer.settled is not None:
        yield judged_answer.settled_by, judged_answer.settled, 1


def _summarise_grades(
    expert: str, judged: Sequence[JudgedAnswer], audit: Audit | None
) -> GradeSummary:
    """Return the mean of the grades and their correlation with scores, weighted by the sample."""
    mean = None
    if judged:
        grades = [answer.grade for answer in judged]
        mean = float(np.average(grades, weights=compute_sample_weights(judged, audit)))
    return GradeSummary(expert, len(judged), mean, correlate_experts(judged, audit))


def _iterate_expert_summaries(
    people: Sequence[JudgedAnswer], audit: Audit | None
) -> Iterator[GradeSummary]:
    """Yield the summary of each expert's grades alone, by name."""
    for name in sorted({expert for person in people for expert in person.grades}):
        mine = [person for person in people if name in person.grades]
        alone = [
            replace(person, grades={name: person.grades[name]}, settled=None) for person in mine
        ]
        yield _summarise_grades(name, alone, audit)


def _correlate_workers(
    run: Run, people: Sequence[JudgedAnswer]
) -> tuple[int, ClusteredEstimate | None]:
    """Return the number of workers with 3 judged answers or more, and the correlation or None."""
    grades: dict[UUID, list[float]] = {}
    for person in people:
        assert person.worker is not None
        grades.setdefault(person.worker, []).append(person.grade)
    means = {
        worker: float(np.mean(expert_grades))
        for worker, expert_grades in grades.items()
        if len(expert_grades) >= FEWEST_OF_WORKER
    }
    raw = dict(
        WorkerGrade.objects.filter(run=run, worker__public_id__in=list(means), raw__isnull=False)
        .order_by("pk")
        .values_list("worker__public_id", "raw")
    )
    if len(raw) < FEWEST_WORKERS:
        return len(raw), None
    both = [(score or 0.0, means[worker], str(worker)) for worker, score in raw.items()]
    scores, expert_grades, names = zip(*both, strict=True)
    return len(raw), estimate_correlation(scores, expert_grades, names)


def _iterate_stratum_counts(
    audit: Audit, judged: Sequence[JudgedAnswer]
) -> Iterator[StratumCounts]:
    """Yield the counts and the mean grade of each stratum of the sample."""
    drawn = list(audit.items.values_list("stratum", flat=True))
    for code in (code for code in STRATA if code in audit.strata):
        grades = [answer.grade for answer in judged if answer.stratum == code]
        mean = float(np.mean(grades)) if grades else None
        yield StratumCounts(code, audit.strata[code], drawn.count(code), len(grades), mean)


def _find_largest_differences(people: Sequence[JudgedAnswer]) -> list[JudgedAnswer]:
    """Return at most 6 answers whose rank by grade differs most from that by score."""
    if len(people) < FEW:
        return []
    # By ranks, because grades and scores are on different scales.
    apart = np.abs(
        stats.rankdata([person.grade for person in people])
        - stats.rankdata([person.score for person in people])
    )
    order = np.argsort(-apart, kind="stable")[:MAX_SHOWN]
    return [people[index] for index in order.tolist() if apart[index] > FAR * len(people)]


@dataclass(frozen=True)
class ExpertsReport:
    """Findings from the experts' grades of a run's answers.

    `sampled` is whether answers were drawn at random.
    """

    about: RunAbout
    sampled: bool
    findings: ExpertFindings


def build_experts_report(run: Run) -> ExpertsReport:
    """Return the expert findings of a finished grading.

    True means rest on a random sample: grades of answers that were chosen otherwise have none.
    """
    audit = find_audit(run)
    judged = load_judged_answers(run, audit)
    weights = compute_sample_weights(judged, audit)
    graded = [
        GradedAnswer(_convert_to_scored_answer(answer), answer.grades, answer.settled, weight)
        for answer, weight in zip(judged, weights, strict=True)
    ]
    answers = list(_load_answers(run, judged)) if judged else []
    findings = compute_expert_findings(
        graded, answers, ExpertsParameters(), random=audit is not None
    )
    # Ids of workers repeat among panels, so that they are told apart by their own here.
    names = {_get_author_id(answer): answer.author for answer in judged}
    means = [replace(mean, name=names[mean.name]) for mean in findings.means]
    findings = replace(findings, means=means)
    return ExpertsReport(build_run_about(run), audit is not None, findings)


def _convert_to_scored_answer(judged_answer: JudgedAnswer) -> ScoredAnswer:
    """Return a judged answer as an answer with author, question and score."""
    return ScoredAnswer(
        _get_author_id(judged_answer),
        judged_answer.of_model,
        judged_answer.question_name,
        judged_answer.score,
    )


def _get_author_id(judged_answer: JudgedAnswer) -> str:
    """Return the public id of the answer's model or worker as text."""
    return str(judged_answer.model or judged_answer.worker)


def _load_answers(run: Run, judged: Sequence[JudgedAnswer]) -> Iterator[ScoredAnswer]:
    """Yield all scored answers of the workers and models that have a judged answer."""
    workers = {answer.worker for answer in judged if answer.worker is not None}
    of_people = AnswerScore.objects.filter(
        run=run,
        response__submission__worker__public_id__in=workers,
        score_leave_one_out__isnull=False,
    )
    for author, question, score in of_people.order_by("response_id").values_list(
        "response__submission__worker__public_id",
        "response__question__external_id",
        "score_leave_one_out",
    ):
        yield ScoredAnswer(str(author), False, question, score)
    models = {answer.model for answer in judged if answer.model is not None}
    of_models = LLMAnswerScore.objects.filter(
        run=run, llm_response__model__public_id__in=models, score__isnull=False
    )
    for author, question, score in of_models.order_by("llm_response_id").values_list(
        "llm_response__model__public_id", "llm_response__question__external_id", "score"
    ):
        yield ScoredAnswer(str(author), True, question, score)


def build_agreement_table(run: Run) -> Table:
    """Return the agreement table: one row per agreement coefficient or correlation with scores."""
    return Table(AGREEMENT, iterate_agreement_rows(build_experts_report(run).findings))


def build_difficulty_table(run: Run) -> Table:
    """Return the difficulty table: one row per question with a graded answer, hardest first."""
    return Table(DIFFICULTY, iterate_difficulty_rows(build_experts_report(run).findings))


def build_estimates_table(run: Run) -> Table:
    """Return the table of estimated mean grades: one row per worker or model."""
    return Table(ESTIMATES, iterate_estimate_rows(build_experts_report(run).findings))
