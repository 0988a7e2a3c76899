"""Build the facts of a trust report from plain values; each fact has a level.

The limits are those at which something broke or was never tried in the measurements of
platform/docs/evidence.md, or the thresholds of the alarms; where neither gives one, a rule of thumb
is used and called so. `evaluation.trust.messages` has the words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from evaluation.consensus.methods.estimator import FEWEST_WORKERS
from evaluation.consensus.methods.scale import FEWEST_ANSWERERS, FEWEST_QUESTIONS
from evaluation.core.messages.message import Message, ThresholdNumber
from evaluation.core.stats.inference.clustered import ClusteredEstimate
from evaluation.grading.alarms.messages import RESULTS
from evaluation.grading.alarms.methods.survey import (
    BY_LENGTH,
    FEWEST_RANKED,
    STABLE,
    TOO_FEW_RANKED,
)
from evaluation.grading.methods.check_results import OF_GROUPS, Result
from evaluation.grading.summary import CheckResult, LengthEffect
from evaluation.runs.reports.judging import AGREES, DISAGREES, FEWEST_JUDGED
from evaluation.trust.messages import LEVELS, TITLES

Level = Literal["bad", "care", "unknown", "good"]
# Checks of which more data of the same kind would not make a result.
NOT_APPLICABLE = frozenset(
    {
        *("alarms.not_looked", "stability.no_draws"),
        *("language.of_words", "language.untold", "language.untold_model", "language.unchecked"),
    }
)
WORST_FIRST: tuple[Level, ...] = ("bad", "care", "unknown", "good")

# Crowds of 6 simulated workers and more kept their order, of 12 nearly exactly; 3 turned around.
FEW_WORKERS, ENOUGH_WORKERS = 6, 12
# Answers a question had in the real crowds that were tried: 6 to 10.
USUAL_ANSWERS = 6
# Parts of all workers or questions beyond which something concerns the crowd and not a few.
SOME, MOST = 0.1, 0.5
STEADY = 0.9
# Below it two experts hardly agree with each other (Landis and Koch 1977: fair at best).
APART = 0.4


@dataclass(frozen=True)
class Fact:
    """One fact for or against the trust in a run, with its level.

    Attributes
    ----------
    name : slug of the topic. case : slug of the finding in this run; `values` are its numbers.
    warning : warning of the run that replaces the finding's message, or None.
    """

    name: str
    level: Level
    case: str
    values: Mapping[str, Any] = field(default_factory=dict)
    warning: Message | None = None

    @property
    def title(self) -> str:
        """Title of the fact, phrased as a question."""
        return TITLES[self.name]

    @property
    def said(self) -> Message:
        """Finding of this fact in this run, as a message."""
        return self.warning or self._build_message("said")

    @property
    def meaning(self) -> Message:
        """Reason why the fact matters, as a message."""
        return self._build_message("meaning")

    @property
    def todo(self) -> Message:
        """Recommended action, as a message; empty if there is nothing to do."""
        return self._build_message("todo")

    @property
    def word(self) -> str:
        """Label of the level (such as "Good"); for a check that did not run, its result."""
        return LEVELS[self.level] if self.has_run else RESULTS[self.result]

    @property
    def result(self) -> Result:
        """Result of the check: good, problem, not enough data or not applicable."""
        if f"{self.name}.{self.case}" in NOT_APPLICABLE:
            return "not_applicable"
        if self.level == "unknown":
            return "not_enough_data"
        return "good" if self.level == "good" else "problem"

    @property
    def has_run(self) -> bool:
        """Whether the check reached a result, good or problem."""
        return self.result in ("good", "problem")

    @property
    def needed(self) -> int | None:
        """Smallest number that the check needs; None if it ran or no number helps."""
        return None if self.has_run else self.values.get("needed")

    def _build_message(self, part: str) -> Message:
        """Return the message of one part of this fact: "said" (finding), "meaning" or "todo"."""
        return Message(f"{self.name}.{self.case}.{part}", self.values)


def build_workers_fact(n_workers: int, leave_one_out: bool) -> Fact:
    """Return the fact on the number of workers: good for 12 or more, bad if too few to grade."""
    level: Level = "good"
    case = "enough"
    if n_workers < FEWEST_WORKERS:
        level, case = "bad", "nobody_to_compare"
    elif n_workers < FEW_WORKERS:
        level, case = "care" if leave_one_out else "bad", "few"
    elif n_workers < ENOUGH_WORKERS:
        level, case = "care", "some"
    return Fact("workers", level, case, {"workers": n_workers})


def build_answers_fact(questions: Mapping[int, int]) -> Fact:
    """Return the fact on the number of answers to a question.

    `questions` counts questions by number of answers.
    """
    n = sum(questions.values())
    answered = sorted(questions.items())
    median = _compute_median(answered, n)
    thin = sum(count for answers, count in answered if answers < FEWEST_ANSWERERS)
    level: Level = "good"
    if not n or median < FEWEST_ANSWERERS or thin > MOST * n:
        level = "bad"
    elif median < USUAL_ANSWERS or thin > SOME * n:
        level = "care"
    values = {
        "median": median,
        "thin": thin,
        "count": n,
        "fewest": FEWEST_ANSWERERS,
        "usual": USUAL_ANSWERS,
    }
    return Fact("answers", level, "enough" if level == "good" else "thin", values)


def build_support_fact(n_workers: int, n_supported: int) -> Fact:
    """Return the fact on how many of all workers answered enough questions to be ranked."""
    without = n_workers - n_supported
    level: Level = "good"
    if not n_supported or without > MOST * n_workers:
        level = "bad"
    elif without > SOME * n_workers:
        level = "care"
    values = {"workers": without, "all": n_workers, "fewest": FEWEST_QUESTIONS}
    return Fact("support", level, "some" if without else "all", values)


def build_convergence_fact(converged: bool | None, iterations: int) -> Fact:
    """Return the fact on whether the voting weights settled; None stands for no iteration."""
    if converged is None:
        return Fact("convergence", "unknown", "one_pass", {"needed": FEWEST_WORKERS})
    values = {"count": iterations}
    if converged:
        return Fact("convergence", "good", "settled", values)
    return Fact("convergence", "care", "moving", values)


def build_stability_fact(agreement: float | None) -> Fact:
    """Return the fact on how well bootstrap draws reproduce the ranking; None for no draws."""
    if agreement is None:
        return Fact("stability", "unknown", "no_draws")
    values = {"agreement": ThresholdNumber(agreement, STEADY, STABLE)}
    if agreement >= STEADY:
        return Fact("stability", "good", "steady", values)
    return Fact("stability", "care" if agreement >= STABLE else "bad", "unsteady", values)


def build_alarms_fact(counts: Mapping[str, int] | None, checks: Iterable[CheckResult] = ()) -> Fact:
    """Return the fact on alarms by severity; `counts` is None if the run checked for none.

    Without an alarm or notice it is good only if every check for groups had enough data.

    Parameters
    ----------
    counts : alarms by severity; those that were dismissed with a reason as `dismissed`, those that
        a remedy of the run answers as `answered`. checks : of the run.
    """
    if counts is None:
        return Fact("alarms", "unknown", "not_looked")
    lacking = [check for check in checks if check.check in OF_GROUPS and check.lacks_data]
    values: dict[str, Any] = {}
    level: Level = "good"
    if lacking:
        level = "unknown"
        values["unchecked"] = [(check.check, check.reason) for check in lacking]
        values["needed"] = next((looked.needed for looked in lacking if looked.needed), None)
    dismissed = counts.get("dismissed", 0)
    if alarms := counts.get("alarm", 0):
        return Fact("alarms", "bad", "ring", values | {"count": alarms})
    if notices := counts.get("notice", 0):
        return Fact("alarms", "care", "notices", values | {"count": notices})
    if answered := counts.get("answered", 0):
        values |= {"count": answered, "dismissed": dismissed}
        return Fact("alarms", level, "answered", values)
    if dismissed:
        return Fact("alarms", level, "dismissed", values | {"count": dismissed})
    return Fact("alarms", level, "unchecked" if lacking else "silent", values)


def build_language_fact(
    model: str,
    wrong: Message | None = None,
    unchecked: Message | None = None,
    is_known: bool = True,
    of_words: bool = False,
) -> Fact:
    """Return the fact on whether the embedder knows the language of the answers.

    Parameters
    ----------
    wrong, unchecked : warnings of the run. is_known : whether the model's languages are recorded.
    of_words : whether words or letters are counted, which works in any language.
    """
    if wrong:
        return Fact("language", "bad", "foreign", warning=wrong)
    if unchecked:
        return Fact("language", "unknown", "unchecked", warning=unchecked)
    if of_words:
        return Fact("language", "good", "of_words")
    if is_known:
        return Fact("language", "good", "known", {"model": model})
    return Fact("language", "unknown", "untold" if model else "untold_model", {"model": model})


def build_truncation_fact(warning: Message | None) -> Fact | None:
    """Return the fact that the embedder cut answers; None without a `warning`."""
    return Fact("truncation", "care", "cut", warning=warning) if warning else None


def build_shortness_fact(warning: Message | None) -> Fact:
    """Return the fact on answers too short to embed well: bad with a `warning`, else good."""
    if warning:
        return Fact("shortness", "bad", "short", warning=warning)
    return Fact("shortness", "good", "long")


def build_length_fact(
    finding: LengthEffect | None, partial: float | None = None, n_judged: int = 0
) -> Fact | None:
    """Return the fact on how much of the ranking length explains; None without `finding`.

    Parameters
    ----------
    partial : correlation of scores with experts' grades of `n_judged` answers at equal length;
        None without enough grades.
    """
    if finding is None:
        return None
    if finding.correlation is None:
        too_few = finding.reason == TOO_FEW_RANKED
        case = "too_few" if too_few else "equal"
        level: Level = "unknown" if too_few else "good"
        return Fact("length", level, case, {"workers": finding.n, "needed": FEWEST_RANKED})
    correlation = ThresholdNumber(finding.correlation, BY_LENGTH, -BY_LENGTH)
    values = {
        "correlation": correlation,
        "share": finding.correlation**2,
        "workers": finding.n,
        "partial": partial,
        "count": n_judged,
    }
    if abs(correlation) > BY_LENGTH:
        return Fact("length", "care", "much", values)
    return Fact("length", "good", "little", values)


def build_experts_fact(
    agreement: ClusteredEstimate,
    chose: bool = False,
    experts: int = 1,
    kappa: float | None = None,
    sampled: bool = False,
) -> Fact:
    """Return the fact on the correlation of the run's scores with experts' grades.

    Parameters
    ----------
    agreement : Pearson's correlation of scores with the mean grade of each judged answer.
    chose : whether these grades also chose this ranking, so that they cannot confirm it.
    experts : number of experts. kappa : agreement of two experts, None with a single one.
    sampled : whether the answers were drawn at random.
    """
    correlation = agreement.value
    values = {
        "count": agreement.n,
        "correlation": _convert_to_threshold_number(correlation, AGREES, DISAGREES),
        "low": _convert_to_threshold_number(agreement.low, DISAGREES),
        "high": agreement.high,
        "fewest": FEWEST_JUDGED,
        "experts": experts,
        "kappa": _convert_to_threshold_number(kappa, APART),
        "apart": kappa is not None and kappa < APART,
        "sampled": sampled,
        "needed": FEWEST_JUDGED,
    }
    level: Level = "unknown"
    if not agreement.n:
        case = "nobody"
    elif chose:
        case = "chose"
    elif correlation is None:
        case = "no_spread"
    elif agreement.n < FEWEST_JUDGED:
        case = "too_few"
    elif correlation >= AGREES:
        sure = agreement.low is not None and agreement.low >= DISAGREES
        level, case = ("good", "agree") if sure else ("care", "unsure")
    else:
        level, case = "bad" if correlation < DISAGREES else "care", "differ"
    return Fact("experts", level, case, values)


def _convert_to_threshold_number(value: float | None, *thresholds: float) -> ThresholdNumber | None:
    """Return a number that is never rounded across one of the thresholds; None for None."""
    return None if value is None else ThresholdNumber(value, *thresholds)


def build_changes_fact(has_changed: bool) -> Fact | None:
    """Return the fact that answers changed since the run; None if they did not."""
    return Fact("changes", "care", "since") if has_changed else None


def _compute_median(answered: Sequence[tuple[int, int]], n: int) -> int:
    """Return the lower median of answers per question, from (answers, questions) pairs."""
    # From the counts: a list of all questions would be as long as the run is large.
    seen = 0
    for answers, count in answered:
        seen += count
        if 2 * seen >= n:
            return answers
    return 0


@dataclass(frozen=True)
class Verdict:
    """Overall trust in a run; `level` is that of its worst fact."""

    level: Level
    headline: Message
    text: Message

    @classmethod
    def from_facts(cls, facts: Sequence[Fact]) -> Verdict:
        """Return the verdict on a run from its facts, which are sorted worst first.

        Not applicable ones without an action are ignored.
        """
        facts = [fact for fact in facts if fact.level != "good" or fact.has_run]
        level = facts[0].level if facts else "unknown"
        values = {"count": sum(fact.level == level for fact in facts), "all": len(facts)}
        return cls(
            level,
            Message(f"verdict.{level}.headline"),
            Message(f"verdict.{level}.text", values),
        )
