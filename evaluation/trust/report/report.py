"""Trust report of a run, and the measured evidence for the method.

Measured evidence for the method: the figures that pages cite, each defined once.

Every figure stands in platform/docs/evidence.md as well, which a test compares; the commands there
compute it anew.

Build the trust report of a run, by a constant number of queries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from django.db.models import Count

from annotations.web.numbers import Numbers, TableCounts, read_numbers
from evaluation.core.messages.message import Message
from evaluation.grading.alarms.report import (
    Check,
    ChecksOfResult,
    build_checks,
    count_alarms,
    group_checks,
    read_checks,
)
from evaluation.grading.results.report.changes import DataChange
from evaluation.grading.results.report.run import RunReport, build_report_parts, build_run_report
from evaluation.grading.summary import read_summary
from evaluation.models import ExemplaryAnswer, Run
from evaluation.runs.reports.about import RunAbout, build_run_about
from evaluation.runs.reports.judging import (
    ExpertsCheck,
    build_experts_check_counts,
    load_experts_check,
)
from evaluation.trust.report import facts
from evaluation.trust.report.facts import WORST_FIRST, Fact, Verdict


@dataclass(frozen=True)
class Figure:
    """A cell of a table in evidence.md that a page cites.

    Attributes
    ----------
    section : heading of the table. row : first cells of its row. column : column name. value : text
        of the cell. label : description for readers.
    """

    section: str
    row: tuple[str, ...]
    column: str
    value: str
    label: str


@dataclass(frozen=True)
class Proof:
    """Evidence on one claim: what was tested, the outcome, and its limits.

    Attributes
    ----------
    holds : whether grades were right in these data: "yes", "partly" or "no".
    """

    title: str
    holds: Literal["yes", "partly", "no"]
    text: str
    figures: tuple[Figure, ...]
    limit: str

    @property
    def word(self) -> str:
        """Outcome of the test in a word."""
        return {"yes": "It held", "partly": "It held in part", "no": "It broke"}[self.holds]


_STUDENTS = "Real students as workers"
_MOHLER = "Simulated workers from graded student answers"
_CROWD = "Real crowds"
_SINGLE = "What scores of students' single answers are worth"
_STRESS = "Stress tests on simulated crowds"
_PAIRS = "Can vectors see one wrong fact?"

PROVEN = (
    Proof(
        "Real students",
        "partly",
        "73 students who answered 56 questions on electricity, one course of lessons at a "
        "computer. Tutors marked every answer as correct or not. Their grades, found without "
        "the tutors, were compared with the share of their answers that is correct; 1 is perfect.",
        (
            Figure(_STUDENTS, ("aqer",), "all answers", "0.751", "as published, MiniLM"),
            Figure(_STUDENTS, ("tfidf_char",), "all answers", "0.784", "groups of letters"),
            Figure(_STUDENTS, ("f1",), "all answers", "0.791", "only counting words in common"),
            Figure(_STUDENTS, ("aqer",), "40%", "0.692", "MiniLM, some 20 answers a student"),
        ),
        "These are real people, so read these figures first. With other students the "
        "first could be anything from .65 to .83. Counting words in common did no worse. An "
        "answer that contradicts the right one scores as high as one that is partly "
        "right.",
    ),
    Proof(
        "One university course, with workers put together from its answers",
        "yes",
        "Student answers to 87 questions of one computer science course, which two experts had "
        "graded. The grades found without the experts were compared with theirs; 1 is perfect.",
        (
            Figure(_MOHLER, ("aqer",), "10x2", "0.919", "as published, MiniLM"),
            Figure(_MOHLER, ("tfidf_char",), "10x2", "0.947", "groups of letters"),
            Figure(_MOHLER, ("aqer",), "noisy", "0.847", "MiniLM, workers less different"),
        ),
        "One course, in English. The workers were composed from the answers, so everybody "
        "answered everything and no one copied: a regular crowd, in which grades look better "
        "than with real people.",
    ),
    Proof(
        "One translation crowd",
        "partly",
        "Two real crowds of some 40 people who translated 100 sentences each; every sentence has 6 "
        "to 10 answers. Their likeness to the right translation is taken for the truth, by words "
        "in common (GLEU) or by meaning.",
        (
            Figure(_CROWD, ("aqer",), "T1", "0.469", "first crowd, by words"),
            Figure(_CROWD, ("aqer",), "T1-cosine", "0.703", "first crowd, by meaning"),
            Figure(_CROWD, ("aqer",), "T2", "0.615", "second crowd, by words"),
            Figure(_CROWD, ("aqer",), "T2-cosine", "0.860", "second crowd, by meaning"),
        ),
        "In a real crowd, where people answer few questions each, grades without a key agree "
        "clearly less with the truth, and simpler measures of overlap did as well or better.",
    ),
    Proof(
        "Groups who err together, in simulation",
        "no",
        "Twenty simulated workers, half of them weak and giving more and more the same wrong "
        "answers. At first nothing happens; then the ranking turns upside down at once (-1), and "
        "the grades look as sure as before.",
        (
            Figure(_STRESS, ("rho=0.6",), "aqer", "1.000", "the weak half alike to degree .6"),
            Figure(_STRESS, ("rho=0.65",), "aqer", "-0.600", "to degree .65"),
            Figure(_STRESS, ("rho=0.7",), "aqer", "-1.000", "to degree .7"),
            Figure(
                _STRESS,
                ("weak_share_at_rho_0.7=0.4",),
                "aqer",
                "1.000",
                "four in ten of them, to degree .7",
            ),
        ),
        "No variant of the method prevents it. That is what the alarms are for.",
    ),
    Proof(
        "Very small and very noisy crowds, in simulation",
        "partly",
        "Workers who err independently of each other, some more and some less.",
        (
            Figure(_STRESS, ("workers=12",), "aqer", "0.993", "12 workers"),
            Figure(_STRESS, ("workers=6",), "aqer", "0.959", "6 workers"),
            Figure(_STRESS, ("workers=3",), "aqer", "-0.827", "3 workers"),
            Figure(_STRESS, ("workers=3",), "leave_one_out", "0.909", "3, with leave-one-out"),
            Figure(_STRESS, ("noise=4",), "aqer", "0.410", "30 workers, nearly all noise"),
        ),
        "Simulated answers are random vectors, not language.",
    ),
    Proof(
        "Telling a right answer from one with a single wrong fact",
        "no",
        "200 sentences, each with a paraphrase and with a copy in which one year, name, number or "
        "“not” is wrong. How often is the paraphrase found more alike? 1 would be always, .5 is a "
        "coin.",
        (
            Figure(_PAIRS, ("minilm",), "all", "0.263", "MiniLM, all kinds"),
            Figure(_PAIRS, ("minilm",), "name", "0.633", "MiniLM, a wrong name"),
            Figure(_PAIRS, ("minilm",), "negation", "0.079", "MiniLM, a negation"),
        ),
        "If an answer is a single fact, a grade by vectors means little. Use an answer key.",
    ),
    Proof(
        "Answers that contradict the right one",
        "no",
        "How often does an incorrect answer of a real student score higher than one that "
        "contradicts the right answer? .5 is a coin. An entailment model reads two answers "
        "together; it was trained on graded answers to other questions.",
        (
            Figure(
                _SINGLE,
                ("aqer",),
                "incorrect over contradictory",
                "0.457 (0.41 to 0.51)",
                "similarity of meaning (MiniLM)",
            ),
            Figure(
                _SINGLE,
                ("contradiction",),
                "incorrect over contradictory (AUC)",
                ".589 (.49 to .66)",
                "entailment model, trained for 7 minutes",
            ),
            Figure(
                _SINGLE,
                ("aqer+entailment, without a reference answer",),
                "gain over aqer",
                "-.018 (-.047 to .005)",
                "what it adds to the correlation of grades",
            ),
        ),
        "No entailment model comes with Crowdgrade; manage.py train_entailment makes one from "
        "graded answers. The site offers one only if the operator has installed it.",
    ),
)
NOT_SEEN = (
    "Colluders who keep half of their own right content: their answers look like those of honest "
    "people, to every statistic of likeness.",
    "An error that everybody shares. If the whole crowd believes it, it is the consensus.",
    "Whether an answer agrees with a reference answer. A grading reads none: accepted answers of "
    "questions are for attention checks and other analyses. An entailment model compares with the "
    "exemplary answer of the crowd.",
    "Which of two camps is right. Only an expert can decide: let one grade a few answers that "
    "separate the camps.",
    "Why two answers are alike: copied from each other, taken from the same page, or both right.",
)


# These compare words or letters: they know no language, and need to know none.
OF_WORDS = ("tfidf-word", "tfidf-char", "bow")


@dataclass(frozen=True)
class TrustReport:
    """Trust report of a run, facts worst first; `changed` is true if its data changed since.

    `checks` are those for alarms, one by one, which a fact counts together.
    """

    about: RunAbout
    verdict: Verdict
    facts: list[Fact]
    changed: DataChange
    checks: list[Check]

    @property
    def check_results(self) -> list[ChecksOfResult]:
        """The run's checks for alarms, grouped by result, without results that no check has."""
        return group_checks(self.checks)


def build_trust_counts(run: Run) -> dict[str, TableCounts]:
    """Return the counting queries of the trust report by name, which `read_numbers` runs as one."""
    questions = TableCounts(
        ExemplaryAnswer.objects.filter(run=run), (Count("pk"),), by=("n_answers",)
    )
    return {"questions": questions, **build_report_parts(run), **build_experts_check_counts(run)}


def build_trust_report(run: Run) -> TrustReport:
    """Return the trust report of a finished run."""
    return build_trust_report_from_counts(
        run, read_numbers(build_trust_counts(run)), count_alarms(run)[0]
    )


def build_trust_report_from_counts(
    run: Run, numbers: Mapping[str, list[Numbers]], alarms: dict[str, int] | None
) -> TrustReport:
    """Return the trust report from counts of `build_trust_counts` and the run's alarm counts."""
    report = build_run_report(run, numbers)
    answers = {row[0]: row[1] for row in numbers["questions"]}
    rows = _iterate_facts(run, report, answers, alarms, load_experts_check(run, numbers))
    found = sorted(rows, key=lambda fact: WORST_FIRST.index(fact.level))
    verdict = Verdict.from_facts(found)
    checks = read_checks(run) if alarms else build_checks(run, ())
    return TrustReport(build_run_about(run), verdict, found, report.changed, checks)


def _iterate_facts(
    run: Run,
    report: RunReport,
    answers: dict[int, int],
    alarms: dict[str, int] | None,
    experts: ExpertsCheck,
) -> Iterator[Fact]:
    """Yield the facts of a run; `answers` is the number of questions by their number of answers."""
    n_workers = report.counts.get("workers", 0)
    yield facts.build_alarms_fact(alarms, read_summary(run).alarm_checks or ())
    yield facts.build_workers_fact(n_workers, bool(run.parameters.get("leave_one_out")))
    yield facts.build_answers_fact(answers)
    yield facts.build_support_fact(n_workers, report.n_supported)
    converged = None if report.too_few_workers else report.converged
    yield facts.build_convergence_fact(converged, report.iterations)
    yield facts.build_stability_fact(read_summary(run).draw_agreement)
    yield _build_language_fact(run, report)
    shortness = _find_warning(report, "short_answers") or _find_warning(
        report, "short_answers_unmeasured"
    )
    yield facts.build_shortness_fact(shortness)
    yield build_experts_fact(experts)
    for fact in (
        facts.build_length_fact(
            read_summary(run).length, experts.at_equal_length, experts.answers.n
        ),
        facts.build_truncation_fact(_find_warning(report, "truncated")),
        facts.build_changes_fact(report.changed.of_people),
    ):
        if fact is not None:
            yield fact


def _build_language_fact(run: Run, report: RunReport) -> Fact:
    """Return the fact on whether the run's embedder knows the language of the answers."""
    spec = str(run.parameters.get("embedder", ""))
    return facts.build_language_fact(
        str(report.embedding.get("model", spec)),
        _find_warning(report, "english_only"),
        _find_warning(report, "language_not_checked"),
        is_known=bool(report.embedding.get("languages")),
        of_words=spec in OF_WORDS,
    )


def _find_warning(report: RunReport, code: str) -> Message | None:
    """Return the run's warning with this code; None if it has none."""
    return next((warning for warning in report.warnings if warning.code == code), None)


def build_experts_fact(check: ExpertsCheck) -> Fact:
    """Return the fact on the agreement of a run's scores with experts' grades."""
    pair = check.agreement
    kappa = pair.found.kappa.value if pair else None
    return facts.build_experts_fact(
        check.answers, check.chose, check.n_experts, kappa, check.sampled
    )
