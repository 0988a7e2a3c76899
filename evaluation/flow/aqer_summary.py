"""What an AQER run says of itself beside its rows: written by its end, read by every report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from evaluation.flow.facts import MEANING, CrowdFacts, MeaningFound, ReadByModel
from evaluation.flow.stored import RunSummary
from evaluation.methods.alarms.questions import FEWEST_ANSWERS, SEPARATED
from evaluation.methods.aqer.scale import Ceiling
from evaluation.methods.check_results import Result, check_result, needed
from evaluation.methods.facts import State

# Grows with every change that an older reader would misunderstand.
VERSION = 1


@dataclass(frozen=True)
class Counts:
    """What went into a run; workers and questions with an answer."""

    answers: int = 0
    empty_answers: int = 0
    workers: int = 0
    questions: int = 0
    models: int = 0
    model_answers: int = 0


@dataclass(frozen=True)
class Embedding:
    """How the vectors were made; see `evaluation.backends.EmbedderInfo`."""

    spec: str = ""
    model: str = ""
    revision: str = ""
    precision: str = ""
    dimension: int | None = None
    max_length: int | None = None
    languages: str | None = None
    binary: bool = False


@dataclass(frozen=True)
class MapAbout:
    """The map of answers: `shares` of the variance on its axes, how many vectors taught them.

    `iterations` are those whose weights are kept, of `n_workers`; `is_mean` says that the exemplary
    answers lie at weighted means of the answers.
    """

    shares: tuple[float | None, ...]
    n_learned: int
    unit_length: bool
    iterations: tuple[int, ...]
    n_workers: int
    is_mean: bool


@dataclass(frozen=True)
class Looked:
    """A statistic that was looked at for alarms; None with its reason."""

    check: str
    statistic: float | None
    threshold: float
    rings: bool
    reason: str | None = None

    @property
    def result(self) -> Result:
        """Good, problem, not enough data or not applicable."""
        return check_result(self.statistic, self.rings, self.reason)

    @property
    def needed(self) -> int | None:
        """The least number that the check needs; None where it ran, or no number helps."""
        return needed(self.check, self.reason) if self.statistic is None else None

    @property
    def lacks_data(self) -> bool:
        """Whether the check could not run for want of data."""
        return self.result == "not_enough_data"


@dataclass(frozen=True)
class QuestionCamps:
    """How many questions were tested for two camps of answers, listed, and had too few answers."""

    threshold: float
    fewest_answers: int
    tested: int
    listed: int
    too_few: int


@dataclass(frozen=True)
class FactsFound:
    """On how many questions the run speaks of facts, and what it found there.

    `agreed` and `contested` count values. `silent` counts the questions on which it does not speak
    by the code of why. `meaning` is what an entailment model said, `read_by` how a chat model read
    the facts; None where none was asked.
    """

    questions: int = 0
    spoken: int = 0
    agreed: int = 0
    contested: int = 0
    silent: Mapping[str, int] = field(default_factory=dict)
    meaning: MeaningFound | None = None
    read_by: ReadByModel | None = None

    @classmethod
    def of(cls, facts: CrowdFacts) -> FactsFound:
        """Count what was found."""
        states = Counter(fact.state for fact in facts.crowd if fact.slot != MEANING)
        return cls(
            questions=len(facts.questions) + len(facts.silent),
            spoken=len(facts.questions),
            agreed=states[State.AGREED],
            contested=states[State.CONTESTED],
            silent=dict(Counter(facts.silent.values())),
            meaning=facts.meaning,
            read_by=facts.read_by,
        )


@dataclass(frozen=True)
class CopyGroup:
    """Workers, by public id, whose answers are alike, and whether they vote as one.

    `first` was the first to answer `n_first` of the `n_timed` questions whose times tell, and keeps
    the vote; None where times do not tell.
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
    """Whether the crowd falls into two camps."""

    statistic: float | None
    threshold: float
    rings: bool
    reason: str | None = None


@dataclass(frozen=True)
class RankingFound:
    """A ranking at which the crowd may rest, against the experts' grades and the default one."""

    name: str
    correlation_with_expert: float | None
    spearman_with_default: float | None


@dataclass(frozen=True)
class Candidates:
    """The rankings at which the crowd may rest; sizes of its camps."""

    two_camps: CampsAlarm | None = None
    camps: tuple[int, ...] = ()
    found: tuple[RankingFound, ...] = ()
    same_as: Mapping[str, str] = field(default_factory=dict)
    reason: str | None = None


@dataclass(frozen=True)
class AnchorChoice:
    """The ranking that `graded` answers of experts chose; the default one with its reason."""

    graded: int
    chosen: str
    reason: str | None


@dataclass(frozen=True)
class SuggestedAnchors:
    """Answers that an expert should grade, by primary key, the most telling first."""

    count: int = 0
    reason: str | None = None
    responses: tuple[int, ...] = ()


@dataclass(frozen=True)
class CampedQuestion:
    """A question, by public id, whose answers fall into two camps of these sizes."""

    question: str
    separation: float
    answers: tuple[int, ...]


@dataclass(frozen=True)
class Mover:
    """A worker, by public id, whose rank changed against the plain run; None for no rank."""

    worker: str
    plain_rank: int | None
    rank: int | None
    plain_grade: float | None = None
    grade: float | None = None
    change: int | None = None


@dataclass(frozen=True)
class ComparedWithPlain:
    """The ranking against the plain one: rank correlation over `n` workers, and who moved most."""

    spearman: float | None = None
    n: int = 0
    reason: str | None = None
    movers: tuple[Mover, ...] = ()


@dataclass(frozen=True)
class Camp:
    """A camp of the crowd after a remedy; see `evaluation.flow.outcomes.CampNow`."""

    workers: tuple[str, ...]
    agreement: float | None
    follows: bool


@dataclass(frozen=True)
class GoneAlarm:
    """An alarm that rang before workers were excluded; workers by public id, messages as stored."""

    kind: str
    severity: str
    statistic: float | None
    threshold: float | None
    workers: tuple[str, ...]
    n_questions: int
    message: Mapping[str, Any]
    outcome: Mapping[str, Any]


@dataclass(frozen=True)
class RemediesDone:
    """What the remedies of a run did; None or nothing where they were not asked for."""

    asked_for: tuple[str, ...] = ()
    excluded_workers: int = 0
    groups: tuple[CopyGroup, ...] = ()
    groups_not_asked_for: int = 0
    candidates: Candidates | None = None
    anchors: AnchorChoice | None = None
    suggested_anchors: SuggestedAnchors | None = None
    questions_with_camps: tuple[CampedQuestion, ...] | None = None
    spelling: Mapping[str, Any] | None = None
    gone: tuple[GoneAlarm, ...] = ()
    camps_now: tuple[Camp, ...] = ()
    compared_with_plain: ComparedWithPlain = field(default_factory=ComparedWithPlain)


@dataclass(frozen=True)
class AqerSummary(RunSummary):
    """The summary of an AQER run; see `RunSummary`.

    Attributes
    ----------
    converged : whether the rounds came to rest; None where nobody could be ranked.
    trace : root mean square change of the weights, an iteration each.
    draw_agreement : median rank correlation of the bootstrap draws with the run; None without one.
    versions : of Crowdgrade, Python and libraries.
    map, alarm_checks, question_camps, facts : None in a run from before there were such.
    people_hash : of all that went in but models' answers; None in a run from before there was
        one.
    """

    iterations: int = 0
    converged: bool | None = None
    trace: tuple[float, ...] = ()
    ceiling: Ceiling = field(default_factory=lambda: Ceiling(None, None, None, 0, 0))
    draw_agreement: float | None = None
    counts: Counts = field(default_factory=Counts)
    embedding: Embedding = field(default_factory=Embedding)
    versions: Mapping[str, str] = field(default_factory=dict)
    remedies: RemediesDone | None = None
    map: MapAbout | None = None
    alarm_checks: tuple[Looked, ...] | None = None
    question_camps: QuestionCamps | None = None
    facts: FactsFound | None = None
    people_hash: str | None = None

    def shown_counts(self) -> Mapping[str, int]:
        """Return what went in."""
        return asdict(self.counts)


class HasSummary(Protocol):
    """A run."""

    summary: Any


def summary_of(run: HasSummary) -> AqerSummary:
    """Return the summary of an AQER run, also of one that has none yet or an older one."""
    return AqerSummary.of(run.summary)


@dataclass(frozen=True)
class CampedAnswers:
    """A question with 6 answers or more.

    Attributes
    ----------
    separation : 0 to 1.
    sizes : answers in the larger and in the smaller camp; None up to a separation of .4. With more
        than 1,000 answers, of a random sample of 1,000.
    nearest : `rows` of the graded answers nearest to each camp's mean; None with `sizes`.
    """

    separation: float
    sizes: tuple[int, int] | None = None
    nearest: tuple[int, int] | None = None


def camps_summary(camps: dict[Any, CampedAnswers], asked: Iterable[Any]) -> dict[str, Any]:
    """Return what a run's summary says: thresholds, and how many questions were tested and listed.

    `too_few` counts the questions of `asked` with fewer answers than are needed.
    """
    return {
        "threshold": SEPARATED,
        "fewest_answers": FEWEST_ANSWERS,
        "tested": len(camps),
        "listed": sum(found.sizes is not None for found in camps.values()),
        "too_few": sum(question not in camps for question in asked),
    }


def known_separation(value: float) -> float:
    """Return a separation within its range, which rounding may leave."""
    return min(max(value, 0.0), 1.0)
