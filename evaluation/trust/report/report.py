"""Build the trust report of a run, by a constant number of queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.db.models import Count

from annotations.web.numbers import Numbers, TableCounts, read_numbers
from evaluation.core.messages.message import Message
from evaluation.grading.alarms.report import count_alarms
from evaluation.grading.results.report.changes import DataChange
from evaluation.grading.results.report.run import RunReport, build_report_parts, build_run_report
from evaluation.grading.summary import read_summary
from evaluation.models import ExemplaryAnswer, Run
from evaluation.runs.reports.about import RunAbout, build_about
from evaluation.runs.reports.judged_answers import (
    ExpertsCheck,
    build_check_counts,
    load_experts_check,
)
from evaluation.trust.report import facts
from evaluation.trust.report.facts import WORST_FIRST, Fact, Verdict

# These compare words or letters: they know no language, and need to know none.
OF_WORDS = ("tfidf-word", "tfidf-char", "bow")


@dataclass(frozen=True)
class TrustReport:
    """Trust report of a run, facts worst first; `changed` tells whether its data changed since."""

    about: RunAbout
    verdict: Verdict
    facts: list[Fact]
    changed: DataChange


def trust_parts(run: Run) -> dict[str, TableCounts]:
    """Return the counting queries of the trust report, by name, for `read_numbers`."""
    questions = TableCounts(
        ExemplaryAnswer.objects.filter(run=run), (Count("pk"),), by=("n_answers",)
    )
    return {"questions": questions, **build_report_parts(run), **build_check_counts(run)}


def trust_report(run: Run) -> TrustReport:
    """Return the trust report of a finished run."""
    return trust_of(run, read_numbers(trust_parts(run)), count_alarms(run)[0])


def trust_of(
    run: Run, numbers: Mapping[str, list[Numbers]], alarms: dict[str, int] | None
) -> TrustReport:
    """Return the trust report from the numbers of `trust_parts` and the run's alarm counts."""
    report = build_run_report(run, numbers)
    answers = {row[0]: row[1] for row in numbers["questions"]}
    rows = _facts(run, report, answers, alarms, load_experts_check(run, numbers))
    found = sorted(rows, key=lambda fact: WORST_FIRST.index(fact.level))
    return TrustReport(build_about(run), Verdict.of(found), found, report.changed)


def _facts(
    run: Run,
    report: RunReport,
    answers: dict[int, int],
    alarms: dict[str, int] | None,
    experts: ExpertsCheck,
) -> Iterator[Fact]:
    """Yield the facts of a run; `answers` counts questions by their number of answers."""
    n_workers = report.counts.get("workers", 0)
    yield facts.of_alarms(alarms, read_summary(run).alarm_checks or ())
    yield facts.of_workers(n_workers, bool(run.parameters.get("leave_one_out")))
    yield facts.of_answers(answers)
    yield facts.of_support(n_workers, report.n_supported)
    converged = None if report.too_few_workers else report.converged
    yield facts.of_convergence(converged, report.iterations)
    yield facts.of_stability(read_summary(run).draw_agreement)
    yield _language(run, report)
    shortness = _warning(report, "short_answers") or _warning(report, "short_answers_unmeasured")
    yield facts.of_shortness(shortness)
    yield fact_of_experts(experts)
    for fact in (
        facts.of_length(read_summary(run).length, experts.at_equal_length, experts.answers.n),
        facts.of_truncation(_warning(report, "truncated")),
        facts.of_changes(report.changed.of_people),
    ):
        if fact is not None:
            yield fact


def _language(run: Run, report: RunReport) -> Fact:
    spec = str(run.parameters.get("embedder", ""))
    return facts.of_language(
        str(report.embedding.get("model", spec)),
        _warning(report, "english_only"),
        _warning(report, "language_not_checked"),
        is_known=bool(report.embedding.get("languages")),
        of_words=spec in OF_WORDS,
    )


def _warning(report: RunReport, code: str) -> Message | None:
    """Return the run's warning with this code; None if it has none."""
    return next((warning for warning in report.warnings if warning.code == code), None)


def fact_of_experts(check: ExpertsCheck) -> Fact:
    """Return the fact on the agreement of a run with experts' grades."""
    pair = check.agreement
    kappa = pair.found.kappa.value if pair else None
    return facts.of_experts(check.answers, check.chose, check.n_experts, kappa, check.sampled)
