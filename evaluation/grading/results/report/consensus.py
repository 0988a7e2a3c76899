"""Report of the crowd's consensus answers, and their datasheet.

Datasheet of a published consensus: workers, answers, method and limits.

The consensus answer is the real answer nearest to the synthetic exemplary answer (SEA) of the run.
Commands, admin site and REST API show this one report; `consensus_files` writes it as files.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db.models import Count, F, Max, Min, Q

from annotations.exchange.reading.answers import normalise_text
from annotations.models import Response
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.messages.reasons import RecordWithReason
from evaluation.core.options import TERMINAL
from evaluation.grading.facts.report import SPOKEN, CrowdValue, split_by_state
from evaluation.grading.results.messages import CONSENSUS_LIMITS
from evaluation.grading.results.report.questions import Camp, build_camps, find_no_camps_reason
from evaluation.grading.results.report.run import count_crowd
from evaluation.grading.summary import read_summary
from evaluation.models import AnswerScore, CrowdFact, ExemplaryAnswer, Run, WorkerGrade
from evaluation.runs.flow.stored import MEANING
from evaluation.runs.reports.about import build_run_title

UNKNOWN = "not stated"


@dataclass(frozen=True)
class PanelCount:
    """Number of workers from one panel; "" stands for an unknown panel."""

    panel: str
    n_workers: int


@dataclass(frozen=True)
class Datasheet:
    """Datasheet of a published consensus: workers, answers, method, settings and limits.

    Attributes
    ----------
    first_answer_at, last_answer_at : None if the times are unknown. stored_at : when the last
        answer was stored.
    n_empty, n_rejected : answers without a text, and those left out because they were refused
        where they were collected.
    ceiling : mean leave-one-out score of the best quarter of the workers, as in the run's summary.
    camps : numbers of questions tested for two camps of answers (`tested`), with camps (`listed`)
        and with too few answers (`too_few`), and the thresholds; None in runs without this test.
    """

    name: str
    description: str
    notice: str
    version: int
    licence: str
    language: str
    published_at: datetime | None
    first_answer_at: datetime | None
    last_answer_at: datetime | None
    stored_at: datetime | None
    panels: list[PanelCount]
    n_workers: int
    n_supported: int
    n_questions: int
    n_answers: int
    n_empty: int
    n_rejected: int
    run: str
    run_name: str
    graded_at: datetime | None
    method: str
    signature: str
    input_hash: str
    parameters: dict[str, Any]
    embedding: dict[str, Any]
    ceiling: dict[str, Any]
    camps: dict[str, Any] | None
    versions: dict[str, str]
    warnings: list[str]
    limits: list[str]

    def as_dict(self) -> dict[str, Any]:
        """Return the datasheet as plain values for JSON; times in ISO 8601, UTC."""
        return {
            name: value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value
            for name, value in asdict(self).items()
        }

    def format_markdown(self) -> str:
        """Return the datasheet as a Markdown page."""
        return "\n".join(self._iterate_lines()) + "\n"

    def _iterate_lines(self) -> Iterator[str]:
        """Yield the lines of the datasheet as a Markdown page."""
        yield f"# {_join_lines(self.name)}, version {self.version}: what the crowd answers"
        for text in (self.description, self.notice):
            if text.strip():
                yield from ("", _join_lines(text))
        panels = ", ".join(
            f"{_join_lines(p.panel) or UNKNOWN} ({p.n_workers:,})" for p in self.panels
        )
        yield from _iterate_section_lines(
            "People and answers",
            {
                "Workers": f"{self.n_workers:,}, of these {self.n_supported:,} have enough answers "
                "to be ranked",
                "Panels": panels or UNKNOWN,
                "Answers": f"{self.n_answers:,} to {self.n_questions:,} questions; "
                f"{self.n_empty:,} empty, {self.n_rejected:,} rejected ones left out",
                "Language": _join_lines(self.language) or UNKNOWN,
                "Answered": f"{_format_day(self.first_answer_at)} to "
                f"{_format_day(self.last_answer_at)}",
                "Stored": _format_day(self.stored_at),
                "Wording frozen": _format_day(self.published_at),
                "Licence": _join_lines(self.licence) or UNKNOWN,
            },
        )
        ceiling = self.ceiling.get("score")
        yield from _iterate_section_lines(
            "Method",
            {
                "Method": self.method,
                "Signature": f"`{self.signature}`",
                "Run": f"{_join_lines(self.run_name)} ({self.run}), {_format_day(self.graded_at)}",
                "Input": f"SHA-256 {self.input_hash}",
                "Settings": _describe_settings(self.parameters),
                "Embedding": _format_pairs(self.embedding),
                "Human ceiling": UNKNOWN if ceiling is None else f"{ceiling:.3f}",
                "Two camps of answers": _describe_question_camps(self.camps),
                "Versions": _format_pairs(self.versions),
            },
        )
        for title, sentences in (("Warnings of the run", self.warnings), ("Limits", self.limits)):
            if sentences:
                yield from (
                    "",
                    f"## {title}",
                    "",
                    *(f"- {_join_lines(entry)}" for entry in sentences),
                )


def _iterate_section_lines(title: str, facts: dict[str, str]) -> Iterator[str]:
    """Yield the lines of a section in Markdown: a heading, and a list item for each fact."""
    yield from ("", f"## {title}", "", *(f"- {name}: {fact}" for name, fact in facts.items()))


def _describe_question_camps(counts: dict[str, Any] | None) -> str:
    """Return text on how many questions have two camps of answers and how many do not."""
    if counts is None:
        return "not looked for: the run was computed before Crowdgrade did"
    undivided = counts["tested"] - counts["listed"]
    return (
        f"on {counts['listed']:,} of {counts['tested']:,} questions with "
        f"{counts['fewest_answers']} answers or more (separation above {counts['threshold']}); "
        f"{undivided:,} undivided; {counts['too_few']:,} with fewer answers, not checked"
    )


def _describe_settings(parameters: dict[str, Any]) -> str:
    """Return the run options that differ from their defaults, as text."""
    differing = AqerParameters.list_changed_settings(parameters)
    settings = "; ".join(f"{option.label}: {_join_lines(option.value)}" for option in differing)
    return f"{settings}; all else by default" if settings else "all by default"


def _format_pairs(values: dict[str, Any]) -> str:
    """Return names with their values as text, separated by commas."""
    return (
        ", ".join(f"{name} {_join_lines(str(value))}" for name, value in values.items()) or UNKNOWN
    )


def _join_lines(text: str) -> str:
    """Return a text on one line, with single spaces."""
    return " ".join(text.split())


def _format_day(value: datetime | None) -> str:
    """Return the date of a time in UTC; "not stated" for None."""
    return UNKNOWN if value is None else f"{value.astimezone(UTC):%Y-%m-%d}"


NEXT = 3
"""Other answers told of a question."""

AT_ONCE = 2000


@dataclass(frozen=True)
class NearAnswer:
    """A worker's answer with its similarity to the question's exemplary answer."""

    answer: str
    similarity: float | None


@dataclass(frozen=True)
class ConsensusRow(RecordWithReason):
    """Consensus on one question: nearest answer, support, opposed answers and facts.

    Attributes
    ----------
    question : the question's id in files. text : "" if only the id is known. passage : id or "".
    consensus : the nearest answer; None if no worker answered, or it was withdrawn (`reason`).
    next : the next nearest answers with other meanings, best first, at most 3.
    n_answers, n_supported : numbers of answers with a text, and of those by ranked workers.
    dispersion : 0 if all answers agree, near 1 if they are unrelated.
    separation : how clearly the answers fall into two camps, 0 to 1; None below 6 answers.
    camps : the larger and the smaller camp if the separation is above .4; else none, with
        `camps_reason`, also if an example answer was withdrawn.
    agreed, contested : values on which workers agree, and on which they are divided.
    facts_reason : code of why the question has no facts; "" if it has some.
    """

    question: str
    text: str
    passage: str
    category: str
    language: str
    consensus: NearAnswer | None
    reason: str
    next: list[NearAnswer]
    n_answers: int
    n_supported: int
    dispersion: float | None
    separation: float | None
    camps: list[Camp]
    camps_reason: str
    agreed: list[CrowdValue]
    contested: list[CrowdValue]
    facts_reason: str


@dataclass(frozen=True)
class ConsensusReport:
    """Consensus of a run: a datasheet, and one row per question on demand."""

    run: Run
    datasheet: Datasheet

    def iterate_rows(self) -> Iterator[ConsensusRow]:
        """Yield the consensus on each question of the run, in the questions' order.

        A run with facts takes one more.
        """
        supported = set(
            WorkerGrade.select_crowd(self.run)
            .filter(support=True)
            .values_list("worker_id", flat=True)
        )
        answers = groupby(_read_answers(self.run), key=itemgetter(0))
        next_group: tuple[int, Any] | None = None
        facts = _read_facts(self.run)
        for question in _read_questions(self.run):
            # Both queries are in the order of the questions: they are read side by side.
            next_group = next_group or next(answers, None)
            answers_to_question: Any = ()
            if next_group is not None and next_group[0] == question["question_id"]:
                answers_to_question, next_group = next_group[1], None
            stated = facts.get(question["question_id"], [])
            yield _build_row(self.run, question, answers_to_question, supported, stated)


def build_consensus_report(run: Run) -> ConsensusReport:
    """Return the report on a finished run's consensus; it yields its rows on demand.

    Queries: three for the datasheet, three for the rows.
    """
    version = run.version
    question_set = version.question_set
    submitted = Response.objects.filter(submission__version=version, state=Response.State.SUBMITTED)
    times = submitted.aggregate(
        first=Min("submitted_at"), last=Max("submitted_at"), stored=Max("created_at"),
        rejected=Count("pk", filter=Q(rejected=True)),
    )  # fmt: skip
    grades = WorkerGrade.select_crowd(run)
    panels = [
        PanelCount(panel, workers)
        for panel, workers in grades.values_list("worker__panel")
        .annotate(n=Count("pk"))
        .order_by("worker__panel")
    ]
    summary = read_summary(run)
    counts = count_crowd(run)
    left_out = 0 if run.parameters.get("include_rejected") else times["rejected"]
    return ConsensusReport(
        run,
        Datasheet(
            name=question_set.name,
            description=question_set.description,
            notice=question_set.notice,
            version=version.number,
            licence=question_set.licence,
            language=question_set.language,
            published_at=version.published_at,
            first_answer_at=times["first"],
            last_answer_at=times["last"],
            stored_at=times["stored"],
            panels=panels,
            n_workers=sum(panel.n_workers for panel in panels),
            n_supported=grades.filter(support=True).count(),
            n_questions=counts["questions"],
            n_answers=counts["answers"],
            n_empty=counts["empty_answers"],
            n_rejected=left_out,
            run=str(run.public_id),
            run_name=build_run_title(run, AqerParameters).title,
            graded_at=run.finished_at,
            method="AQER",
            signature=run.signature,
            input_hash=run.input_hash,
            parameters=AqerParameters.add_defaults(run.parameters),
            embedding=asdict(summary.embedding),
            ceiling=asdict(summary.ceiling),
            camps=None if summary.question_camps is None else asdict(summary.question_camps),
            versions=dict(summary.versions),
            warnings=TERMINAL.format_messages(run.warnings),
            limits=list(CONSENSUS_LIMITS),
        ),
    )


def _read_questions(run: Run) -> Iterator[dict[str, Any]]:
    """Yield the database rows of all questions of the run, in their order."""
    rows: Any = (
        ExemplaryAnswer.objects.filter(run=run)
        .order_by("question__position", "question_id")
        .values(
            *("question_id", "n_answers", "dispersion", "nearest_response_id"),
            *("separation", "larger_camp", "smaller_camp"),
            *("larger_nearest_id", "smaller_nearest_id", "facts"),
            name=F("question__external_id"),
            text=F("question__text"),
            passage=F("question__passage__external_id"),
            category=F("question__category"),
            language=F("question__language"),
        )
    )
    return iter(rows.iterator(AT_ONCE))


def _read_facts(run: Run) -> dict[int, list[CrowdValue]]:
    """Return agreed and contested values by question; no query in a run without facts."""
    if read_summary(run).facts is None:
        return {}
    states = [CrowdFact.State.AGREED, CrowdFact.State.CONTESTED]
    rows = CrowdFact.objects.filter(run=run, state__in=states)
    rows = rows.exclude(slot=MEANING).order_by("place")
    facts_of_question: dict[int, list[CrowdValue]] = {}
    for question, *cells in rows.values_list(
        *("question_id", "slot", "value", "mentions", "of", "state")
    ).iterator(AT_ONCE):
        facts_of_question.setdefault(question, []).append(CrowdValue(*cells))
    return facts_of_question


def _read_answers(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield the run's answers grouped by question, nearest to the exemplary answer first."""
    excluded = WorkerGrade.select_excluded(run).values_list("worker_id", flat=True)
    rows: Any = (
        AnswerScore.objects.filter(run=run)
        .exclude(response__submission__worker__in=excluded)
        .order_by(
            "response__question__position",
            "response__question_id",
            # Databases disagree on where an empty score sorts.
            F("score").desc(nulls_last=True),
            "response_id",
        )
        .values_list(
            *("response__question_id", "response_id", "score", "response__text"),
            "response__submission__worker_id",
        )
    )
    return iter(rows.iterator(AT_ONCE))


def _build_row(
    run: Run,
    question: dict[str, Any],
    answers: Iterator[tuple[Any, ...]],
    supported: set[int],
    facts: list[CrowdValue],
) -> ConsensusRow:
    """Return the consensus on a question from its database row and its answers."""
    nearest_id = question["nearest_response_id"]
    nearest: NearAnswer | None = None
    others: dict[str, NearAnswer] = {}
    camp_keys = [question["larger_nearest_id"], question["smaller_nearest_id"]]
    text_of_camp: dict[int, str] = {}
    n_supported = 0
    for _, key, score, text, worker in answers:
        n_supported += worker in supported
        if key in camp_keys:
            text_of_camp[key] = text
        if key == nearest_id:
            nearest = NearAnswer(text, score)
        elif len(others) <= NEXT:  # one more than is told: it may say the same as the nearest
            others.setdefault(normalise_text(text), NearAnswer(text, score))
    if nearest is not None:
        others.pop(normalise_text(nearest.answer), None)
    reason = ""
    if nearest is None:
        reason = "withdrawn" if question["n_answers"] else "no_answers"
    camps = build_camps(
        (question["larger_camp"], question["smaller_camp"]),
        [text_of_camp.get(key) for key in camp_keys],
    )
    agreed, contested = split_by_state(facts)
    return ConsensusRow(
        question=question["name"],
        text=question["text"],
        passage=question["passage"] or "",
        category=question["category"],
        language=question["language"],
        consensus=nearest,
        reason=reason,
        next=list(others.values())[:NEXT],
        n_answers=question["n_answers"],
        n_supported=n_supported,
        dispersion=question["dispersion"],
        separation=question["separation"],
        camps=camps,
        camps_reason=find_no_camps_reason(run, question["separation"], camps),
        agreed=agreed,
        contested=contested,
        facts_reason={SPOKEN: "", "": "not_computed"}.get(question["facts"], question["facts"]),
    )
