"""Reports of experts' judgements of a run, and their correlation with scores.

Report experts' judgements of a run: progress, counts by choice, and agreement. Correlate a run's
scores with experts' grades of the same answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import combinations, groupby
from operator import itemgetter
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotations.models import Share
from annotations.web.numbers import Numbers, TableCounts
from evaluation.core.stats.inference.clustered import NO_ROWS, ClusteredEstimate
from evaluation.core.stats.inference.correlations import (
    compute_weighted_pearson,
    estimate_correlation,
)
from evaluation.core.stats.inference.raters import RaterAgreement, compute_rater_agreement
from evaluation.core.stats.statistics.descriptive import compute_partial_correlation
from evaluation.core.text.quality import compute_log_words
from evaluation.models import Audit, AuditItem, Exhibit, HumanJudgement, Run, WorkerGrade
from evaluation.runs.judging import ExpertJudgement, Judging, list_expert_progress, load_judgements
from evaluation.runs.judging.declaration import Choice, ExpertProgress, Key
from evaluation.runs.reports.lists import Table

# Experts that the page lists.
MOST_EXPERTS = 100


@dataclass(frozen=True)
class Pair:
    """The agreement of two judges (experts or programs) on the items that both judged."""

    renamed_keys: ClassVar = {"one": "expert", "found": "agreement"}

    one: str
    other: str
    found: RaterAgreement


@dataclass(frozen=True)
class ChoiceCount:
    """How many judgements chose one choice of the scale, and their share of all."""

    choice: Choice
    n: int
    share: float


@dataclass(frozen=True)
class JudgingReport:
    """Experts' judgements of a run's sample: progress, counts by choice, and agreement.

    Attributes
    ----------
    n_drawn : number of items in the sample. seed : seed of its order; None before the first draw.
    n_judged : number of items with a judgement. n_by_two : number with two or more.
    others : experts of the set who have no request yet.
    between, with_machines : agreement of experts with each other, and with programs.
    """

    judging: Judging
    n_drawn: int
    seed: int | None
    n_judged: int
    n_by_two: int
    n_given: int
    experts: list[ExpertProgress]
    others: list[tuple[int, str]]
    counts: list[ChoiceCount]
    between: list[Pair]
    with_machines: list[Pair]


def build_judging_report(run: Run, judging: Judging) -> JudgingReport:
    """Return the report on experts' judgements of a run, by six queries or more."""
    judgements = load_judgements(run, judging)
    seeds = Exhibit.objects.filter(run=run, judging=judging.name).values_list("seed", flat=True)
    experts = list_expert_progress(run, judging)
    users = {expert.user for expert in experts}
    shares = Share.objects.filter_experts(run.version.question_set).values_list(
        "user", "user__username"
    )[:MOST_EXPERTS]
    by_thing = Counter(judgement.key for judgement in judgements)
    by_expert_name = group_judgements_by_expert(judgements)
    by_machine = judging.machines(run) if judgements else {}
    return JudgingReport(
        judging,
        len(seeds),
        next(iter(seeds), None),
        len(by_thing),
        sum(n > 1 for n in by_thing.values()),
        len(judgements),
        experts,
        [(user, name) for user, name in shares if user not in users],
        list(_count_choices(judging, judgements)),
        [
            _compare_judges(
                judging, judgement, other, by_expert_name[judgement], by_expert_name[other]
            )
            for judgement, other in combinations(by_expert_name, 2)
        ],
        [
            _compare_judges(judging, expert, machine, by_expert_name[expert], by_machine[machine])
            for machine in by_machine
            for expert in by_expert_name
        ],
    )


def group_judgements_by_expert(
    judgements: Sequence[ExpertJudgement],
) -> dict[str, dict[Key, float | str]]:
    """Return the judgements by expert name, then by the key of the judged item."""
    grades: dict[str, dict[Key, float | str]] = {}
    for judgement in judgements:
        grades.setdefault(judgement.expert, {})[judgement.key] = judgement.value
    return dict(sorted(grades.items()))


def _count_choices(
    judging: Judging, judgements: Sequence[ExpertJudgement]
) -> Iterator[ChoiceCount]:
    """Yield each choice of the scale with the number and share of its judgements."""
    n = Counter(
        judging.find_code(value, "") if isinstance(value, float) else value
        for value in (judgement.value for judgement in judgements)
    )
    for choice in judging.choices:
        times = n[choice.code]
        yield ChoiceCount(choice, times, times / len(judgements) if judgements else 0.0)


def _compare_judges(
    judging: Judging,
    one: str,
    other: str,
    of_one: Mapping[Key, float | str],
    of_other: Mapping[Key, float | str],
) -> Pair:
    """Return the agreement of two judges on the items that both judged."""
    shared_keys = [key for key in of_one if key in of_other]
    agreement = compute_rater_agreement(
        [of_one[key] for key in shared_keys],  # type: ignore[arg-type]
        [of_other[key] for key in shared_keys],  # type: ignore[arg-type]
        [key[judging.cluster] for key in shared_keys],
        graded=judging.graded,
    )
    return Pair(one, other, agreement)


def build_judgement_table(run: Run, judging: Judging) -> Table:
    """Return the table of experts' judgements, one row for each judgement."""
    header = (*judging.columns, "judge", "repeat", judging.column, "judged_at")
    return Table(
        header,
        (
            (*judgement.key, judgement.judge, 1, judgement.value, judgement.updated_at.isoformat())
            for judgement in load_judgements(run, judging)
        ),
    )


# Samples of other runs that are looked at for one that is judged.
MOST_AUDITS = 100
# Whether it is a model's answer, and its primary key.
Thing = tuple[bool, int]
# Grades by expert, when the first was given, when the last was given or changed.
Graded = tuple[dict[str, float], datetime, datetime]
# Fewer graded answers say nothing about agreement with experts: with 20 a correlation of .7 is
# known to about a quarter. The levels are a rule of thumb; that of good also asks of the interval
# to be above the level of bad.
FEWEST_JUDGED = 20
AGREES, DISAGREES = 0.5, 0.2


@dataclass(frozen=True)
class JudgedAnswer:
    """An answer with its experts' grades and its score in the run.

    Attributes
    ----------
    stratum : stratum of the sample; "" for an answer that was judged without being sampled.
    worker, model : public id of the author, one of the two; author : name.
    score : of a worker's answer the leave-one-out score. grades : independent grades, by expert.
    settled, settled_by : grade and name of the adjudicator of a disagreement; None and "" without.
    given_at, judged_at : time of the first grade, and of the last new or changed one.
    """

    key: int
    question: UUID
    question_name: str
    question_text: str
    text: str
    stratum: str
    worker: UUID | None
    model: UUID | None
    author: str
    score: float
    grades: Mapping[str, float]
    given_at: datetime
    judged_at: datetime
    settled: float | None = None
    settled_by: str = ""

    @property
    def grade(self) -> float:
        """The valid grade: of the expert who settled a disagreement, else the mean."""
        if self.settled is not None:
            return self.settled
        return sum(self.grades.values()) / len(self.grades)

    @property
    def of_model(self) -> bool:
        """Whether a language model wrote the answer."""
        return self.model is not None


@dataclass(frozen=True)
class ExpertsCheck:
    """How well experts' grades agree with the scores of a run.

    Attributes
    ----------
    answers : correlation over workers' answers, weighted to represent all of them.
    n_experts : experts who graded any of these. agreement : of the two with most answers in common.
    sampled : whether the answers were drawn at random, not selected because camps differ on them.
    chose : whether there are grades, and all of them were used to select this run's ranking.
    at_equal_length : partial correlation of the same answers, given the logarithm of their number
        of words; None with fewer than 20 answers, or if all are equally long.
    """

    answers: ClusteredEstimate
    n_experts: int
    agreement: Pair | None
    sampled: bool
    chose: bool
    at_equal_length: float | None = None

    @property
    def confirms(self) -> bool:
        """Whether enough grades, not used to select the ranking, agree with the scores."""
        answers = self.answers
        if self.chose or answers.n < FEWEST_JUDGED or answers.value is None or answers.low is None:
            return False
        return answers.value >= AGREES and answers.low >= DISAGREES


def find_audit(run: Run) -> Audit | None:
    """Return the graded sample of answers that applies to a run; None without any sample.

    The run's own sample; if that has no grades, the newest graded one of the version's runs.
    """
    audits = Audit.objects.filter(run__version=run.version_id).select_related("run")
    items = AuditItem.objects.filter(audit=OuterRef("pk"))
    is_judged = Exists(items.filter(response__judgements__isnull=False)) | Exists(
        items.filter(llm_response__judgements__isnull=False)
    )
    rows = list(audits.annotate(is_judged=is_judged).order_by("-pk")[:MOST_AUDITS])
    own_audit = next((audit for audit in rows if audit.run_id == run.pk), None)
    candidates = [
        *([own_audit] if own_audit else ()),
        *(audit for audit in rows if audit != own_audit),
    ]
    return next((audit for audit in candidates if audit.is_judged), own_audit)


def build_experts_check_counts(run: Run) -> dict[str, TableCounts]:
    """Return the counts of samples and graded answers, by name, for `load_table_counts`."""
    judged = HumanJudgement.objects.filter(
        response__submission__version=run.version_id, grade__isnull=False
    )
    return {
        "audits": TableCounts(Audit.objects.filter(run__version=run.version_id), (Count("pk"),)),
        "judged": TableCounts(judged, (Count("pk"),)),
    }


def load_experts_check(
    run: Run, numbers: Mapping[str, list[Numbers]] | None = None
) -> ExpertsCheck:
    """Return how well a run's scores agree with experts' grades, of a sample if there is one.

    `numbers` is the result of `build_experts_check_counts`, if it was read: it can save queries.
    """
    audit = find_audit(run) if numbers is None or numbers["audits"] != [(0,)] else None
    if audit is None and numbers is not None and numbers["judged"] == [(0,)]:
        return check_experts(run, None, [])
    return check_experts(run, audit, load_judged_answers(run, audit))


def load_judged_answers(run: Run, audit: Audit | None) -> list[JudgedAnswer]:
    """Return the answers with experts' grades and a score: those of the sample, else workers'.

    Answers of workers left out by the run are not among them.
    """
    items, strata = [], None
    if audit is not None:
        items = _load_audit_items(run, audit)
        strata = {thing: stratum for thing, audit_id, stratum, _ in items if audit_id == audit.pk}
    judged = [
        *_load_worker_answers(run, strata),
        *(_load_model_answers(run, strata) if strata else ()),
    ]
    if judged and audit is None:
        items = _load_audit_items(run, audit)
    settlers: dict[Thing, set[str]] = {}
    for thing, _, _, name in items:
        if name:
            settlers.setdefault(thing, set()).add(name)
    judged = [
        _separate_settled(one, settlers.get((one.of_model, one.key), set())) for one in judged
    ]
    if strata is None:
        return judged
    position = {key: index for index, key in enumerate(strata)}
    return sorted(judged, key=lambda one: position[one.of_model, one.key])


def _load_audit_items(run: Run, audit: Audit | None) -> list[tuple[Thing, int, str, str | None]]:
    """Return the answers of a sample, and those that an adjudicator was asked to settle.

    Each row has the answer, the key of its sample, its stratum and the name of its adjudicator.
    """
    wanted = Q(audit__run__version=run.version_id, adjudicator__isnull=False) | Q(audit=audit)
    columns = ("response", "llm_response", "audit", "stratum", "adjudicator__username")
    return [
        ((llm is not None, int(response or llm or 0)), audit_id, stratum, name)
        for response, llm, audit_id, stratum, name in AuditItem.objects.filter(wanted)
        .order_by("place")
        .values_list(*columns)
    ]


def _separate_settled(judged_answer: JudgedAnswer, thirds: set[str]) -> JudgedAnswer:
    """Return the answer with the grades of its adjudicators separated from the others."""
    settlers = sorted(thirds & judged_answer.grades.keys())
    if not settlers:
        return judged_answer
    own_grades = {
        expert: grade for expert, grade in judged_answer.grades.items() if expert not in thirds
    }
    settled = sum(judged_answer.grades[name] for name in settlers) / len(settlers)
    return replace(
        judged_answer, grades=own_grades, settled=settled, settled_by=", ".join(settlers)
    )


def _load_worker_answers(run: Run, strata: Mapping[Thing, str] | None) -> Iterator[JudgedAnswer]:
    """Yield workers' graded answers that have a leave-one-out score in the run."""
    judgements = HumanJudgement.objects.filter(
        response__submission__version=run.version_id,
        grade__isnull=False,
        response__scores__run=run,
        response__scores__score_leave_one_out__isnull=False,
    ).exclude(
        response__submission__worker__in=WorkerGrade.select_excluded(run).values_list(
            "worker_id", flat=True
        )
    )
    columns = (
        *("response__scores__score_leave_one_out", "response__text"),
        *("response__question__public_id", "response__question__external_id"),
        *("response__question__text", "response__submission__worker__public_id"),
        "response__submission__worker__external_id",
    )
    for key, values, graded in _group_grades(judgements, "response_id", columns):
        if strata is not None and (False, key) not in strata:
            continue
        score, text, question, name, wording, worker, author = values
        stratum = strata[False, key] if strata else ""
        yield JudgedAnswer(
            *(key, question, name, wording, text, stratum, worker, None, author, score or 0.0),
            *graded,
        )


def _load_model_answers(run: Run, strata: Mapping[Thing, str]) -> Iterator[JudgedAnswer]:
    """Yield models' graded answers of the sample that have a score in the run."""
    judgements = HumanJudgement.objects.filter(
        llm_response__question__version=run.version_id,
        grade__isnull=False,
        llm_response__scores__run=run,
        llm_response__scores__score__isnull=False,
    )
    columns = (
        *("llm_response__scores__score", "llm_response__text"),
        *("llm_response__question__public_id", "llm_response__question__external_id"),
        *("llm_response__question__text", "llm_response__model__public_id"),
        "llm_response__model__name",
    )
    for key, values, graded in _group_grades(judgements, "llm_response_id", columns):
        if (True, key) not in strata:
            continue
        score, text, question, name, wording, model, author = values
        yield JudgedAnswer(
            *(key, question, name, wording, text, strata[True, key], None, model, author),
            *(score or 0.0, *graded),
        )


def _group_grades(
    judgements: QuerySet[HumanJudgement], field: str, columns: Sequence[str]
) -> Iterator[tuple[int, Sequence[Any], Graded]]:
    """Yield (answer key, its columns, its grades with first and last time); one query."""
    of_grade = (field, "expert__username", "grade", "created_at", "updated_at")
    rows = judgements.order_by(field, "pk").values_list(*of_grade, *columns)
    for key, of_answer in groupby(rows, key=itemgetter(0)):
        answer_rows = list(of_answer)
        grades = {expert: grade for _, expert, grade, *_ in answer_rows}
        first, last = min(row[3] for row in answer_rows), max(row[4] for row in answer_rows)
        yield key, answer_rows[0][len(of_grade) :], (grades, first, last)


def check_experts(run: Run, audit: Audit | None, judged: Sequence[JudgedAnswer]) -> ExpertsCheck:
    """Return the agreement of a run's scores with the grades of judged answers."""
    worker_answers = [answer for answer in judged if not answer.of_model]
    chose = False
    if run.parameters.get("anchors") and run.started_at is not None:
        # What was there when the run began chose its ranking; what came later may confirm it.
        later = [answer for answer in worker_answers if answer.given_at > run.started_at]
        chose, worker_answers = bool(worker_answers) and not later, later or worker_answers
    # The check shows one pair: the one with the most answers in common is known best.
    pairs = sorted(compare_expert_pairs(worker_answers), key=lambda pair: -pair.found.n)
    experts = {expert for answer in worker_answers for expert in answer.grades}
    return ExpertsCheck(
        correlate_experts(worker_answers, audit),
        len(experts),
        pairs[0] if pairs else None,
        sampled=audit is not None,
        chose=chose,
        at_equal_length=correlate_at_equal_length(worker_answers, audit),
    )


def correlate_experts(judged: Sequence[JudgedAnswer], audit: Audit | None) -> ClusteredEstimate:
    """Return the correlation of scores with experts' grades, weighted by the sample's strata."""
    if not judged:
        return ClusteredEstimate(reason=NO_ROWS)
    return estimate_correlation(
        [answer.score for answer in judged],
        [answer.grade for answer in judged],
        [str(answer.question) for answer in judged],
        compute_sample_weights(judged, audit),
    )


def correlate_at_equal_length(judged: Sequence[JudgedAnswer], audit: Audit | None) -> float | None:
    """Return the partial correlation of scores with experts' grades, given the answers' length.

    Length is log words. None with fewer than 20 graded answers, or if it is undefined.
    """
    if len(judged) < FEWEST_JUDGED:
        return None
    scores, grades = [answer.score for answer in judged], [answer.grade for answer in judged]
    length = compute_log_words([answer.text for answer in judged])
    weights = compute_sample_weights(judged, audit)
    return compute_partial_correlation(
        compute_weighted_pearson(scores, grades, weights),
        compute_weighted_pearson(scores, length, weights),
        compute_weighted_pearson(grades, length, weights),
    )


def compute_sample_weights(judged: Sequence[JudgedAnswer], audit: Audit | None) -> list[float]:
    """Return for each judged answer how many answers of its stratum it represents."""
    if audit is None:
        return [1.0] * len(judged)
    counts: dict[str, int] = {}
    for answer in judged:
        counts[answer.stratum] = counts.get(answer.stratum, 0) + 1
    # A sample by thirds holds as many answers of each, however many each has: without weights small
    # strata would count too much.
    return [audit.strata.get(answer.stratum, 0) / counts[answer.stratum] for answer in judged]


def compare_expert_pairs(judged: Sequence[JudgedAnswer]) -> list[Pair]:
    """Return the agreement of each pair of experts on the answers that both graded."""
    names = sorted({expert for judged_answer in judged for expert in judged_answer.grades})
    pairs = []
    for one, other in combinations(names, 2):
        both = [answer for answer in judged if {one, other} <= answer.grades.keys()]
        if both:
            agreement = compute_rater_agreement(
                [answer.grades[one] for answer in both],
                [answer.grades[other] for answer in both],
                [str(answer.question) for answer in both],
                graded=True,
            )
            pairs.append(Pair(one, other, agreement))
    return pairs
