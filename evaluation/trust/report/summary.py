"""Printable summary of a run, for readers without an account."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeVar

from django.db.models import Q, QuerySet

from annotations.web.numbers import build_group_count
from evaluation.consensus.methods.estimator import FEWEST_WORKERS
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.messages.message import Message, format_count
from evaluation.core.messages.reasons import describe_reason
from evaluation.core.options import Setting
from evaluation.grading.alarms.report import (
    AlarmsReport,
    OutcomesReport,
    build_alarms_report,
    build_outcomes_report,
)
from evaluation.grading.alarms.report.marks import Marks, build_marks_of_report
from evaluation.grading.remedies.report import NAMES, RemediesReport, build_remedies_report
from evaluation.grading.results.report.models import ModelRow, read_model_rows
from evaluation.grading.results.report.questions import (
    QuestionRow,
    build_row_builder,
    query_disputed_questions,
)
from evaluation.grading.results.report.run import Ceiling, count_crowd
from evaluation.grading.results.report.workers import (
    WorkerRow,
    query_ranked_workers,
    query_unranked_workers,
)
from evaluation.grading.summary import AqerSummary, read_summary
from evaluation.models import Run
from evaluation.trust.report.decision import Decision, build_decision_with_workers

T = TypeVar("T")

# Rows on paper, of the beginning and of the end of a list; the site and the files have all.
BEST_WORKERS, WORST_WORKERS, UNRANKED_WORKERS = 40, 20, 10
WORST_QUESTIONS, BEST_QUESTIONS = 15, 5
MODELS_SHOWN = 20
ALARMS_SHOWN = 6

LIMITS = (
    "There is no answer key. A grade measures how near a worker is to the crowd's consensus; "
    "where most people err in the same way, copy each other or paste the same machine's answer, "
    "the consensus is wrong and the grades with it. Read the warnings, and read answers.",
    "Grades are stretched from 0 (the worst of this run) to 1 (the best). They rank the workers of "
    "this run; they are no share of right answers and cannot be compared with those of another.",
    "An interval shows how much depends on which questions happened to be asked. It is an interval "
    "for the value of this method, not for the truth: with a group that agrees beforehand it is "
    "narrow around a wrong value.",
    "A model measures how similar two answers are. It sees the topic of a text better than a "
    "yes or no or a number in it. A model for English reads other languages badly.",
    "One consensus a question: where several answers are right, it is the most common one, and "
    "good minority answers look bad.",
    "A model's score is its likeness to this crowd's consensus, with these questions. It is not "
    "how often the model is right.",
    "Do not reject a worker or withhold pay for a grade alone.",
)


BEYOND = {
    "leave_one_out": "answers compared with the others' exemplary answer throughout",
    "difficulty": "questions' difficulty taken out",
    "discrimination": "questions weighted by how well they separate workers",
    "question_contrast": "agreement with other questions' exemplary answers subtracted",
    **NAMES,
}
"""What options that are beyond the published method do, by their names."""
NOTHING_BEYOND = "Nothing beyond the published method was switched on."
NO_INTERVALS = "Bootstrap intervals were switched off."


@dataclass(frozen=True)
class ListEnds(Generic[T]):
    """First and last rows of a long list, and the number of rows left out between them."""

    first: list[T]
    between: int
    last: list[T]

    @classmethod
    def from_rows(cls, rows: list[T], n: int, first: int, last: int) -> ListEnds[T]:
        """Return the ends of a list of `n` rows from the fetched `rows`; all of a short list."""
        if n <= first + last:
            return cls(rows, 0, [])
        return cls(rows[:first], n - first - last, rows[-last:])

    def __len__(self) -> int:
        return len(self.first) + self.between + len(self.last)


@dataclass(frozen=True)
class SummaryReport:
    """Content of the printable summary of a finished run.

    Attributes
    ----------
    decision : content of the run's first page.
    alarms : the 6 most severe alarms. outcomes, remedies : None in a run without remedies.
    marks : alarms and notices by the workers that they name.
    method : description of the method, as sentences; `beyond` lists the deviations from the
        published method. settings : all options as text. limits : limits of the results.
    workers : by rank, best first; of more than 60, the 40 best and the 20 worst.
    unranked : at most 10 of the `n_unranked` workers without a rank.
    questions : most disagreement first; of more than 20, the first 15 and the last 5.
    models : the best 20 of `n_models`.
    undefined : empty cells: where, how many, why.
    """

    decision: Decision
    marks: Marks
    alarms: AlarmsReport
    outcomes: OutcomesReport | None
    remedies: RemediesReport | None
    method: list[str]
    beyond: str
    settings: list[Setting]
    warnings: list[Message]
    limits: tuple[str, ...]
    workers: ListEnds[WorkerRow]
    unranked: list[WorkerRow]
    n_unranked: int
    questions: ListEnds[QuestionRow]
    models: list[ModelRow]
    ceiling: Ceiling
    counts: dict[str, int]
    embedding: dict[str, Any]
    versions: dict[str, str]
    undefined: list[tuple[str, int, str]]

    @property
    def notices(self) -> list[str]:
        """Notices about the models, without duplicates."""
        return list(dict.fromkeys(model.notice for model in self.models if model.notice))

    @property
    def models_left_out(self) -> int:
        """Number of models that the table leaves out."""
        return self.decision.n_models - len(self.models)

    @property
    def questions_without(self) -> int:
        """Number of questions with too few answers to measure their disagreement."""
        return max(0, self.counts.get("questions", 0) - len(self.questions))

    @property
    def unranked_left_out(self) -> int:
        """Number of unranked workers that the table leaves out."""
        return self.n_unranked - len(self.unranked)


def build_summary_report(run: Run) -> SummaryReport:
    """Return the printable summary of a finished run, by a constant number of queries."""
    stored = read_summary(run)
    # All alarms with all names, though few are printed: the marks are made of them, not read anew.
    alarms = build_alarms_report(run, most=None, names=None)
    marks, models = (
        build_marks_of_report(alarms),
        read_model_rows(run, size=MODELS_SHOWN, counted=True),
    )
    decided, people = build_decision_with_workers(
        run, (marks, alarms.open_counts), models, listed=_build_listed_workers_filter(run)
    )
    ranked = [row for row in people.listed if row.rank is not None]
    unranked = [row for row in people.listed if row.rank is None]
    return SummaryReport(
        decision=decided,
        marks=marks,
        alarms=alarms.select_first_alarms(ALARMS_SHOWN),
        outcomes=build_outcomes_report(run),
        remedies=build_remedies_report(run),
        method=describe_method(run, stored),
        beyond=describe_method_changes(run),
        settings=AqerParameters.list_settings(run.parameters),
        warnings=[Message.from_stored(warning) for warning in run.warnings],
        limits=LIMITS,
        workers=ListEnds.from_rows(ranked, decided.n_ranked, BEST_WORKERS, WORST_WORKERS),
        unranked=sorted(unranked, key=lambda row: (-row.n_answers, row.worker)),
        n_unranked=people.n_unranked,
        questions=_load_disputed_questions(run),
        models=models.rows,
        ceiling=Ceiling.from_run(run),
        counts=count_crowd(run),
        embedding=asdict(stored.embedding),
        versions=dict(stored.versions),
        undefined=[
            (
                f"{entry['file'].removesuffix('.csv')}, {entry['column']}",
                entry["count"],
                describe_reason(entry["reason"]),
            )
            for entry in run.reasons
        ],
    )


def _build_listed_workers_filter(run: Run) -> Q:
    """Return the filter for the table's workers: both ends of the ranking, some unranked."""
    unranked = query_unranked_workers(run).values("pk")[:UNRANKED_WORKERS]
    return _build_ends_filter(query_ranked_workers(run), BEST_WORKERS, WORST_WORKERS) | Q(
        pk__in=unranked
    )


def _load_disputed_questions(run: Run) -> ListEnds[QuestionRow]:
    """Return the questions on which answers differ most and least, or all of a short list."""
    rows = query_disputed_questions(run)
    ends = rows.filter(_build_ends_filter(rows, WORST_QUESTIONS, BEST_QUESTIONS))
    questions = list(ends.annotate(n_rows=build_group_count(rows, "run")))
    made = list(map(build_row_builder(run), questions))
    return ListEnds.from_rows(
        made, questions[0]["n_rows"] if questions else 0, WORST_QUESTIONS, BEST_QUESTIONS
    )


def _build_ends_filter(rows: QuerySet[Any, dict[str, Any]], first: int, last: int) -> Q:
    """Return the filter for the first and last rows of an ordered list."""
    return Q(pk__in=rows.values("pk")[:first]) | Q(pk__in=rows.reverse().values("pk")[:last])


def describe_method(run: Run, stored: AqerSummary) -> list[str]:
    """Return sentences that describe the method of a run with the values of its options."""
    known = AqerParameters.add_defaults(run.parameters)
    compared = (
        "the cosine of the two vectors"
        if known["similarity"] == "cosine"
        else "the negative Euclidean distance of the two vectors"
    )
    blended = (
        "a bag of words in which the weighted majority decides on every word"
        if known["aggregation"] == "majority"
        else "the weighted mean of their vectors"
    )
    return [
        f"Every answer became a vector by {stored.embedding.model or known['embedder']}"
        + (f" ({stored.embedding.precision})." if stored.embedding.precision else "."),
        f"The answers to a question were blended into an exemplary answer: {blended}.",
        f"The score of an answer is its likeness to the exemplary one, {compared}; a worker's "
        "in-sample score is the mean of these scores, and the grade is that mean stretched from 0 "
        "to 1.",
        f"Weights began {_describe_initial_weights(known)}, then followed the grades, round by "
        f"round: {_describe_convergence(stored)}.",
        _describe_intervals(known),
        "Leave-one-out scores compare an answer with the exemplary answer of the others; the human "
        "ceiling and the models' percentiles rest on them. The best workers of the ceiling are "
        "chosen on one half of the questions and measured on the other, and a percentile needs 10 "
        "workers with enough answers. Models' answers never enter an "
        "exemplary answer.",
        "Method: AQER (Yahav, Goldstein, Geva, Meir and Shehory 2025, Information Systems "
        "Research).",
    ]


def _describe_initial_weights(known: dict[str, Any]) -> str:
    """Return the phrase on the voting weights with which the iteration started."""
    if known["init"] == "random":
        return f"at random (seed {known['seed']})"
    return "equal" if known["init"] == "equal" else "by which answers entail the others"


def _describe_convergence(stored: AqerSummary) -> str:
    """Return the phrase on the number of rounds, and whether the weights settled."""
    if stored.counts.workers < FEWEST_WORKERS:
        return "here only once, because fewer than 3 people answered"
    settled = "they settled" if stored.converged else "they had not settled when it was ended"
    return f"after {format_count(stored.iterations, 'round')} {settled}"


def list_method_changes(run: Run) -> list[str]:
    """Return the names of a run's options that deviate from the published method."""
    known = AqerParameters.add_defaults(run.parameters)
    return [name for name in BEYOND if known.get(name)]


def describe_method_changes(run: Run) -> str:
    """Return a sentence that lists the deviations of a run from the published method."""
    on = [BEYOND[name] for name in list_method_changes(run)]
    return f"Beyond the published method: {', '.join(on)}." if on else NOTHING_BEYOND


def _describe_intervals(known: dict[str, Any]) -> str:
    """Return the sentence on how the intervals were computed, or that there are none."""
    if not known["bootstrap"]:
        return NO_INTERVALS
    resampled = "questions and workers" if known.get("bootstrap_workers") else "questions"
    return (
        f"95% intervals are by {known['bootstrap']} bootstrap draws of {resampled} "
        f"(seed {known['seed']}), with the weights estimated anew in every draw."
    )
