"""A run on paper: everything a reader without an account needs to judge it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evaluation.flow.parameters import AqerParameters
from evaluation.models import Run
from evaluation.options import Setting
from evaluation.reports.comparisons import ComparisonsReport, comparisons_report
from evaluation.reports.models import ModelsReport, models_report
from evaluation.reports.planner import PlannerReport, planner_report
from evaluation.reports.questions import QuestionRow, question_rows
from evaluation.reports.remedies import NAMES
from evaluation.reports.run import RunReport, run_report
from evaluation.reports.workers import WorkerRow, worker_rows

# Rows on paper; the files have all.
WORKERS_SHOWN, QUESTIONS_SHOWN, MODELS_SHOWN = 200, 100, 60

LIMITS = (
    "Nobody gave right answers. A grade says how near a worker comes to what the crowd agrees on; "
    "where most people err in the same way, copy each other or paste the same machine's answer, "
    "the consensus is wrong and the grades with it. Read the warnings, and read answers.",
    "Grades are stretched from 0 (the worst of this run) to 1 (the best). They rank the workers of "
    "this run; they are no share of right answers and cannot be compared with those of another.",
    "An interval says how much hangs on which questions happened to be asked. It is an interval "
    "for the value of this method, not for the truth: with a group that agrees beforehand it is "
    "narrow around a wrong value.",
    "Likeness is that of the embedding. It sees what a text is about better than whether it is "
    "negated or which number stands in it, and an English model reads other languages badly.",
    "One consensus a question: where several answers are right, it is the most common one, and "
    "good minority answers look bad.",
    "A model's score is its likeness to this crowd's consensus, with these questions. It is not "
    "how often the model is right.",
    "Nobody should be rejected or left unpaid for a grade alone.",
)


@dataclass(frozen=True)
class SummaryReport:
    """A run that is done, for paper.

    Attributes
    ----------
    method : how the numbers were made, in sentences. settings : every option, in words.
    limits : what they cannot tell.
    workers, questions : the first 200 and the first 100; `run.n_workers` and the counts tell of
        how many. pairs : None without models.
    """

    run: RunReport
    method: list[str]
    settings: list[Setting]
    limits: tuple[str, ...]
    workers: list[WorkerRow]
    questions: list[QuestionRow]
    models: ModelsReport
    pairs: ComparisonsReport | None
    plan: PlannerReport

    @property
    def workers_left_out(self) -> int:
        """How many workers the table leaves out."""
        return self.run.n_workers - len(self.workers)

    @property
    def questions_left_out(self) -> int:
        """How many questions the table leaves out."""
        return max(0, self.run.counts.get("questions", 0) - len(self.questions))


def summary_report(run: Run) -> SummaryReport:
    """Return the summary of a run that is done, by twelve queries."""
    report = run_report(run)
    return SummaryReport(
        run=report,
        method=method_in_words(run, report),
        settings=AqerParameters.settings(run.parameters),
        limits=LIMITS,
        workers=worker_rows(run, size=WORKERS_SHOWN).rows,
        questions=question_rows(run, by="dispersion", size=QUESTIONS_SHOWN).rows,
        models=models_report(run, size=MODELS_SHOWN),
        pairs=comparisons_report(run) if report.counts.get("models") else None,
        plan=planner_report(run),
    )


def method_in_words(run: Run, report: RunReport) -> list[str]:
    """Return how a run made its numbers, a sentence each, with its own parameters."""
    known = AqerParameters.completed(run.parameters)
    embedding = report.embedding
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
        f"Every answer became a vector by {embedding.get('model') or known['embedder']}"
        + (f" ({embedding['precision']})." if embedding.get("precision") else "."),
        f"The answers to a question were blended into an exemplary answer: {blended}.",
        f"The score of an answer is its likeness to the exemplary one, {compared}; a worker's "
        "similarity is the mean of these scores, and the grade is that mean stretched from 0 to 1.",
        f"Weights began {_start(known)}, then followed the grades, round by round: {_end(report)}.",
        _switches(known),
        _intervals(known),
        "Leave-one-out scores compare an answer with the exemplary answer of the others; the human "
        "ceiling and the models' percentiles rest on them. Models' answers never enter an "
        "exemplary answer.",
        "Method: AQER (Yahav, Goldstein, Geva, Meir and Shehory 2025, Information Systems "
        "Research).",
    ]


def _start(known: dict[str, Any]) -> str:
    if known["init"] == "random":
        return f"at random (seed {known['seed']})"
    return "equal" if known["init"] == "equal" else "by which answers entail the others"


def _end(report: RunReport) -> str:
    if report.too_few_workers:
        return "here only once, because fewer than 3 people answered"
    settled = "they settled" if report.converged else "they had not settled when it was ended"
    return f"after {report.iterations} iterations {settled}"


def _switches(known: dict[str, Any]) -> str:
    on = [
        words
        for name, words in (
            ("leave_one_out", "answers compared with the others' exemplary answer throughout"),
            ("difficulty", "questions' difficulty taken out"),
            ("discrimination", "questions weighted by how well they tell workers apart"),
        )
        if known.get(name)
    ]
    on += [words for name, words in NAMES.items() if known.get(name)]
    if not on:
        return "Nothing beyond the published method was switched on."
    return f"Beyond the published method: {', '.join(on)}."


def _intervals(known: dict[str, Any]) -> str:
    if not known["bootstrap"]:
        return "Bootstrap intervals were switched off."
    whom = "questions and workers" if known.get("bootstrap_workers") else "questions"
    return (
        f"95% intervals are by {known['bootstrap']} bootstrap draws of {whom} "
        f"(seed {known['seed']}), with the weights estimated anew in every draw."
    )
