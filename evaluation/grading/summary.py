"""Summary of an AQER run: stored with its results, read by every report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from evaluation.consensus.methods.scale import Ceiling
from evaluation.core.messages.message import Message
from evaluation.grading.methods.check_results import Result, classify_check, find_needed_count
from evaluation.runs.flow.stored import RunSummary

# Grows with every change that an older reader would misunderstand.
VERSION = 1


@dataclass(frozen=True)
class Counts:
    """Numbers of answers, workers, questions and models in a run."""

    answers: int = 0
    empty_answers: int = 0
    workers: int = 0
    questions: int = 0
    models: int = 0
    model_answers: int = 0


@dataclass(frozen=True)
class Embedding:
    """Embedding model and its settings, with which the answers' vectors were made."""

    spec: str = ""
    model: str = ""
    revision: str = ""
    precision: str = ""
    dimension: int | None = None
    max_length: int | None = None
    languages: str | None = None
    binary: bool = False


@dataclass(frozen=True)
class MapSettings:
    """Settings of a run's map of answers: shares of variance, and stored iterations.

    `iterations` are those whose `n_workers` weights are stored; `is_mean` states whether the
    exemplary answers lie at weighted means of the answers.
    """

    shares: tuple[float | None, ...]
    n_learned: int
    unit_length: bool
    iterations: tuple[int, ...]
    n_workers: int
    is_mean: bool


@dataclass(frozen=True)
class CheckResult:
    """Result of one check for alarms, as stored: statistic, threshold, whether it is raised."""

    check: str
    statistic: float | None
    threshold: float
    rings: bool
    reason: str | None = None

    @property
    def result(self) -> Result:
        """Result code: good, problem, not_enough_data or not_applicable."""
        return classify_check(self.statistic, self.rings, self.reason)

    @property
    def needed(self) -> int | None:
        """Least number of items the check needs; None if it ran or more data would not help."""
        return find_needed_count(self.check, self.reason) if self.statistic is None else None

    @property
    def lacks_data(self) -> bool:
        """Whether the check could not run because there is too little data."""
        return self.result == "not_enough_data"


@dataclass(frozen=True)
class LengthEffect:
    """How far the length of answers explains a ranking, as a correlation.

    Attributes
    ----------
    correlation : Pearson's, of workers' raw scores with their mean log words; None with a reason.
    n : number of ranked workers in the correlation.
    """

    correlation: float | None
    n: int
    reason: str | None = None


@dataclass(frozen=True)
class QuestionCamps:
    """Numbers of questions tested for two camps of answers, with camps, and with few answers."""

    threshold: float
    fewest_answers: int
    tested: int
    listed: int
    too_few: int


@dataclass(frozen=True)
class MeaningCounts:
    """Counts of an entailment model's verdicts on the answers, and the model's name.

    Attributes
    ----------
    questions : number of compared questions. pairs : number of pairs of different texts, each
        compared in both orders.
    agrees, contradicts, contested, open, too_few : answers by verdict.
    """

    model: str = ""
    revision: str = ""
    threshold: float = 0.5
    questions: int = 0
    pairs: int = 0
    agrees: int = 0
    contradicts: int = 0
    contested: int = 0
    open: int = 0
    too_few: int = 0


@dataclass(frozen=True)
class ModelExtractionCounts:
    """Numbers of facts that a chat model extracted (the rules are then not used).

    Attributes
    ----------
    model : its name. prompts : the beginning of their hashes.
    questions, answers : numbers that were sent to the model. slots : kinds of facts that it named.
    without_slots : questions without a readable kind of fact. unread : answers whose reply was
        unreadable twice. errors : answers without a reply.
    facts : accepted facts. not_in_text : facts refused because the quote is not in the answer,
        letter by letter. other_slot : facts refused because the kind was not requested.
    """

    model: str = ""
    prompts: str = ""
    questions: int = 0
    slots: int = 0
    without_slots: int = 0
    answers: int = 0
    unread: int = 0
    errors: int = 0
    asked_again: int = 0
    facts: int = 0
    not_in_text: int = 0
    other_slot: int = 0


@dataclass(frozen=True)
class FactTotals:
    """Numbers of a run's facts: questions with facts, agreed and contested values.

    `questions` have answers, `spoken` of them facts; `silent` counts the others by reason code.
    `agreed` and `contested` count values. `meaning` has an entailment model's counts, `read_by`
    those of a chat model that extracted the facts; None without such a model.
    """

    questions: int = 0
    spoken: int = 0
    agreed: int = 0
    contested: int = 0
    silent: Mapping[str, int] = field(default_factory=dict)
    meaning: MeaningCounts | None = None
    read_by: ModelExtractionCounts | None = None


def describe_contradictions(facts: FactTotals | None) -> Message:
    """Return the message on contradictions, which only an entailment model finds.

    Without such a model, the message states that contradictions are not detected.

    Similarity does not separate contradictory answers from partly right ones, so a run without
    such a model must not look as if it had compared them.
    """
    if facts is None or facts.meaning is None:
        return Message("meaning.unseen")
    return Message("meaning.found", asdict(facts.meaning))


@dataclass(frozen=True)
class CopyGroup:
    """A group of copiers (public ids), and whether it has one vote only.

    `first` is the member who votes, because this worker answered `n_first` of the `n_timed`
    questions with known times first; None if times do not show it.
    """

    collapsed: bool
    workers: tuple[str, ...] = ()
    kappa: float | None = None
    mean_cosine: float | None = None
    verdict: str = ""
    first: str | None = None
    n_first: int | None = None
    n_timed: int | None = None


@dataclass(frozen=True)
class CampsAlarm:
    """Result of the test for two camps (groups of workers with one opinion)."""

    statistic: float | None
    threshold: float
    rings: bool
    reason: str | None = None


@dataclass(frozen=True)
class RankingSummary:
    """A candidate ranking, with its correlations with experts' grades and the default ranking."""

    name: str
    correlation_with_expert: float | None
    spearman_with_default: float | None


@dataclass(frozen=True)
class Candidates:
    """Alternative rankings of a crowd that splits into camps, and the size of each camp."""

    two_camps: CampsAlarm | None = None
    camps: tuple[int, ...] = ()
    found: tuple[RankingSummary, ...] = ()
    same_as: Mapping[str, str] = field(default_factory=dict)
    reason: str | None = None


@dataclass(frozen=True)
class AnchorChoice:
    """The ranking that experts' grades selected; the default ranking with a reason if none."""

    graded: int
    chosen: str
    reason: str | None


@dataclass(frozen=True)
class SuggestedAnchors:
    """Answers that experts should grade, by primary key, most useful first."""

    count: int = 0
    reason: str | None = None
    responses: tuple[int, ...] = ()


@dataclass(frozen=True)
class QuestionWithCamps:
    """A question (public id) whose answers fall into two camps, with the camps' sizes."""

    question: str
    separation: float
    answers: tuple[int, ...]


@dataclass(frozen=True)
class Mover:
    """A worker (public id) whose rank the remedies changed; None for a missing rank."""

    worker: str
    plain_rank: int | None
    rank: int | None
    plain_grade: float | None = None
    grade: float | None = None
    change: int | None = None


@dataclass(frozen=True)
class PlainComparison:
    """Rank correlation of a run with the run without remedies, and the largest changes.

    The correlation is over `n` workers.
    """

    spearman: float | None = None
    n: int = 0
    reason: str | None = None
    movers: tuple[Mover, ...] = ()


@dataclass(frozen=True)
class Camp:
    """A camp (group of workers with one opinion), and how the final ranking agrees with it.

    Attributes
    ----------
    workers : ids. agreement : Spearman's correlation of the run's raw scores with those of a
        grading in which only this camp votes; None if undefined.
    follows : whether the final ranking follows this camp.
    """

    workers: tuple[str, ...]
    agreement: float | None
    follows: bool


@dataclass(frozen=True)
class VanishedAlarm:
    """An alarm that vanished because workers were excluded, with public ids of its workers."""

    kind: str
    severity: str
    statistic: float | None
    threshold: float | None
    workers: tuple[str, ...]
    n_questions: int
    message: Mapping[str, Any]
    outcome: Mapping[str, Any]


@dataclass(frozen=True)
class RemedyEffects:
    """Effects of a run's remedies; None or empty for unused remedies."""

    asked_for: tuple[str, ...] = ()
    excluded_workers: int = 0
    groups: tuple[CopyGroup, ...] = ()
    groups_not_asked_for: int = 0
    candidates: Candidates | None = None
    anchors: AnchorChoice | None = None
    suggested_anchors: SuggestedAnchors | None = None
    questions_with_camps: tuple[QuestionWithCamps, ...] | None = None
    spelling: Mapping[str, Any] | None = None
    gone: tuple[VanishedAlarm, ...] = ()
    camps_now: tuple[Camp, ...] = ()
    compared_with_plain: PlainComparison = field(default_factory=PlainComparison)


@dataclass(frozen=True)
class AqerSummary(RunSummary):
    """Summary of an AQER run: everything about the run that its result rows do not hold.

    Attributes
    ----------
    converged : whether the iterations converged; None where no worker could be ranked.
    trace : root mean square change of the weights, an iteration each.
    draw_agreement : median rank correlation of the bootstrap draws with the run; None without one.
    versions : of Crowdgrade, Python and libraries.
    map, alarm_checks, question_camps, facts, length : None in a run from before there were such.
    people_hash : hash of all inputs but models' answers; None in runs of older versions.
    """

    iterations: int = 0
    converged: bool | None = None
    trace: tuple[float, ...] = ()
    ceiling: Ceiling = field(default_factory=lambda: Ceiling(None, None, None, 0, 0))
    draw_agreement: float | None = None
    counts: Counts = field(default_factory=Counts)
    embedding: Embedding = field(default_factory=Embedding)
    versions: Mapping[str, str] = field(default_factory=dict)
    remedies: RemedyEffects | None = None
    map: MapSettings | None = None
    alarm_checks: tuple[CheckResult, ...] | None = None
    question_camps: QuestionCamps | None = None
    facts: FactTotals | None = None
    length: LengthEffect | None = None
    people_hash: str | None = None

    def get_shown_counts(self) -> Mapping[str, int]:
        """Return the numbers of answers, workers, questions and models, for display."""
        return asdict(self.counts)


class HasSummary(Protocol):
    """Protocol of records with a `summary` column, such as runs."""

    summary: Any


def read_summary(run: HasSummary) -> AqerSummary:
    """Return the summary of an AQER run, with defaults for missing values."""
    return AqerSummary.from_json(run.summary)
