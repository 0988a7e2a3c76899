"""Bonuses by a rule, and suggested payment actions.

Planned bonuses still have to be confirmed. If the proposal has changed since the user saw it,
nothing is planned.

Suggest a payment action for a submission from its evidence; the user decides.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import cached_property
from math import floor
from statistics import median
from typing import Any, Final

from django.db.models import Count

from annotations.exchange.money import LEAST, MOST
from annotations.exchange.prolific import PAST_APPROVING, describe_status
from annotations.ledger import bonuses
from annotations.ledger.bonuses import Payment, find_currency
from annotations.ledger.decisions import load_newest_decisions
from annotations.models import GRADED, Decision, QuestionSetVersion, Response, Submission
from annotations.models import Collection as Collecting
from evaluation.core.messages.message import Message
from evaluation.grading.alarms.report.marks import Mark
from evaluation.grading.results.report.workers import LOWEST
from evaluation.payments.storage.evidence import Evidence, load_times_on_task
from evaluation.payments.storage.fairness import FairnessComparison, compare_groups
from evaluation.runs.raw_scores import RAW, SCORES, RawScore, find_grading_run, load_worker_scores

SENTENCES: Final = {
    "unknown_rule": "there is no rule {given!r}: {known}",
    "amount_range": "a bonus goes from {least} to {most:,}.00",
    "share_missing": "give the share of people, above 0 and at most 1",
    "score_missing": "give the lowest score",
    "no_scores": "no worker has a score: grade the answers of this version first",
    "amount_too_large": "a worker would get more than {most:,}.00",
    "score_range": "a score goes from -{most:,} to {most:,}",
    "unknown_score": "there is no score {given!r}: {known}",
    "no_contrast": "the grading has no question contrast: grade the answers again",
    "unknown_end": "there is no end {given!r}: {known}",
    "unknown_panel": "no worker came from the panel {given!r}; there is: {known}",
    "several_panels": "people came from several panels, choose one of: {known}",
}


class RuleError(ValueError):
    """Error: a bonus rule or score threshold is invalid or cannot be applied.

    Attributes
    ----------
    field : the field that is wrong, "" for none. code : a key of `SENTENCES`. values : values of
        the sentence.
    """

    def __init__(self, field: str, code: str, **values: Any) -> None:
        super().__init__(SENTENCES[code].format(**values))
        self.field = field
        self.code = code
        self.values = values


QUANTILE, THRESHOLD, PER_ANSWER = "quantile", "threshold", "per-answer"
KINDS = {
    QUANTILE: "The best share of people",
    THRESHOLD: "Everybody whose score is at least so much",
    PER_ANSWER: "So much for each answer",
}
SCORE, LOW = "score", "low"
CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class BonusRule:
    """Bonus rule: who gets the bonus `amount`, per worker or (`per-answer`) per answer.

    Attributes
    ----------
    kind : a key of `KINDS`. share : share of workers for `quantile`, above 0 to 1.
    at_least : minimum score for `threshold`.
    end : the number that must reach `at_least`: `SCORE`, or `LOW` (lower end of the 95% interval).
    score : kind of score by which workers are compared, a key of `SCORES`.
    """

    kind: str
    amount: Decimal
    share: float | None = None
    at_least: float | None = None
    end: str = SCORE
    score: str = RAW

    @property
    def said(self) -> str:
        """Short description of the rule, which each payment stores as its reason."""
        if self.kind == QUANTILE:
            return f"the best {self.share:.0%} by {SCORES[self.score]}"
        if self.kind == THRESHOLD:
            compared = f"the {'lower end of the ' if self.end == LOW else ''}{SCORES[self.score]}"
            return f"{compared} is at least {self.at_least:g}"
        return f"{self.amount} for each answer"

    @property
    def score_label(self) -> str:
        """Name of the score by which workers are compared."""
        return SCORES[self.score]

    def check_values(self) -> None:
        """Raise RuleError if a value of the bonus rule is missing or out of range."""
        if self.kind not in KINDS:
            raise RuleError("kind", "unknown_rule", given=self.kind, known=", ".join(KINDS))
        if self.score not in SCORES:
            raise RuleError("score", "unknown_score", given=self.score, known=", ".join(SCORES))
        if not LEAST <= self.amount <= MOST:
            raise RuleError("amount", "amount_range", least=LEAST, most=MOST)
        if self.kind == QUANTILE and not (self.share is not None and 0 < self.share <= 1):
            raise RuleError("share", "share_missing")
        if self.kind == THRESHOLD and not (
            self.at_least is not None and abs(self.at_least) <= float(MOST)
        ):
            raise RuleError("at_least", "score_missing")


@dataclass(frozen=True, slots=True)
class BonusEarner:
    """A worker considered by a rule, with the bonus (None without one), score and hourly pay.

    Attributes
    ----------
    amount : the bonus; None without one. score : None if ungraded. seconds : time on task.
    hourly : base pay and bonus per hour of the worker's own time; None if either is unknown.
    """

    submission: Submission
    amount: Decimal | None
    score: RawScore | None
    n_answers: int
    seconds: float | None
    hourly: Decimal | None

    @property
    def name(self) -> str:
        """External id of the worker, usually the panel's."""
        return self.submission.worker.external_id


@dataclass(frozen=True)
class BonusProposal:
    """Bonuses that a rule gives on the current data; nothing is stored.

    Attributes
    ----------
    earners : submitted and not rejected workers, those with a bonus first.
    n_rejected : workers left out because their work is rejected.
    n_unscored : workers without a score, or with too few answers for one; they get no bonus by
        score.
    base : pay without a bonus. least : least pay per hour. currency : of all amounts. None if
        unknown.
    """

    version: QuestionSetVersion
    rule: BonusRule
    earners: list[BonusEarner]
    n_rejected: int
    n_unscored: int
    base: Decimal | None
    currency: str
    least: Decimal | None

    @property
    def rewarded(self) -> list[BonusEarner]:
        """Workers with a bonus, the highest score first."""
        return [earner for earner in self.earners if earner.amount is not None]

    @property
    def n_rewarded(self) -> int:
        """Number of workers with a bonus."""
        return len(self.amounts)

    @property
    def n_considered(self) -> int:
        """Number of workers who submitted and are not rejected."""
        return len(self.earners)

    @property
    def amounts(self) -> dict[int, Decimal]:
        """Amounts of the bonuses, by submission key."""
        return {
            earner.submission.pk: earner.amount
            for earner in self.earners
            if earner.amount is not None
        }

    @property
    def total(self) -> Decimal:
        """Sum of the bonuses, without the panel's fee."""
        return sum(self.amounts.values(), Decimal(0))

    @cached_property
    def hourly(self) -> Decimal | None:
        """Base pay and median bonus for an hour at the median time; None if either is unknown."""
        times = [earner.seconds for earner in self.earners if earner.seconds]
        if self.base is None or not times:
            return None
        bonus = median(self.amounts.values()) if self.amounts else Decimal(0)
        return _compute_hourly_pay(self.base + bonus, median(times))

    @cached_property
    def fairness(self) -> list[FairnessComparison]:
        """Fairness comparisons: how often groups of workers get the bonus."""
        considered = [earner.submission.pk for earner in self.earners]
        return compare_groups(self.version, considered, self.amounts, "get a bonus")

    @property
    def warnings(self) -> list[Message]:
        """Messages on unfair groups and low or unknown hourly pay."""
        warnings = [warning for comparison in self.fairness for warning in comparison.warnings]
        known_pay = [earner.hourly for earner in self.earners if earner.hourly is not None]
        below = [pay for pay in known_pay if self.least is not None and pay < self.least]
        if below:
            values = {
                "below": len(below),
                "timed": len(known_pay),
                "least": str(self.least),
                "currency": self.currency,
                "lowest": str(min(below)),
            }
            warnings.append(Message("paying.poor", values))
        # Silence would look like "everybody earns enough".
        if self.least is not None and self.earners and not known_pay:
            missing = "pay" if self.base is None else "times"
            values = {"least": str(self.least), "currency": self.currency, "missing": missing}
            warnings.append(Message("paying.hourly_unknown", values))
        return warnings

    @property
    def seen(self) -> str:
        """Hash of the amounts; the client sends it back to show which proposal the user saw."""
        # Sorted, so that the order of the workers does not matter.
        text = repr(sorted(self.amounts.items()))
        return hashlib.sha256(text.encode()).hexdigest()[:32]


def propose_bonuses(
    version: QuestionSetVersion,
    rule: BonusRule,
    *,
    least: Decimal | None = None,
    base: Decimal | None = None,
) -> BonusProposal:
    """Return the bonuses that a rule gives on the current data; nothing is stored.

    `least` and `base` default to the values of the collection. Considered are workers who
    submitted, did not withdraw, and are not rejected. The number of queries is constant. Raises
    RuleError for an invalid rule, for a rule by score without a grading, and for amounts above the
    largest bonus.
    """
    rule.check_values()
    run = find_grading_run(version)
    if run is None and rule.kind != PER_ANSWER:
        raise RuleError("kind", "no_scores")
    collection = Collecting.objects.filter(version=version).first()
    # What the caller gives takes precedence over the settings of the collection.
    if collection is not None:
        base = collection.pay if base is None else base
        least = collection.least_hourly_pay if least is None else least
    submissions = list(
        Submission.objects.filter(
            version=version, state=Submission.State.SUBMITTED, withdrawn_at=None
        ).select_related("worker")
    )
    newest_decisions = load_newest_decisions([submission.pk for submission in submissions])
    # The log keeps all decisions; only the newest one of a submission is in force.
    rejected = {key for key, row in newest_decisions.items() if row.kind == Decision.Kind.REJECT}
    submissions = [submission for submission in submissions if submission.pk not in rejected]
    scores = load_worker_scores(run, score=rule.score)
    if rule.kind != PER_ANSWER:
        check_score_exists(rule.score, scores)
    n_answers, seconds = _count_graded_answers(version), load_times_on_task(version)
    score_by_submission = {
        submission.pk: scores.get(submission.worker_id) for submission in submissions
    }
    amounts = _compute_amounts(
        rule,
        score_by_submission,
        {submission.pk: n_answers.get(submission.pk, 0) for submission in submissions},
    )
    earners = [
        BonusEarner(
            *(
                submission,
                amounts.get(submission.pk),
                score_by_submission[submission.pk],
                n_answers.get(submission.pk, 0),
                seconds.get(submission.pk),
            ),
            _compute_own_hourly_pay(base, amounts.get(submission.pk), seconds.get(submission.pk)),
        )
        for submission in submissions
    ]
    earners.sort(key=_build_earner_sort_key)
    n_unscored = sum(_get_supported_score(score) is None for score in score_by_submission.values())
    return BonusProposal(
        *(version, rule, earners, len(rejected)),
        *(0 if rule.kind == PER_ANSWER else n_unscored, base, find_currency(version), least),
    )


def check_score_exists(score: str, scores: Mapping[int, RawScore]) -> None:
    """Raise RuleError if no worker has a score of the kind by which a rule compares."""
    if score != RAW and all(raw_score.value is None for raw_score in scores.values()):
        raise RuleError("score", "no_contrast")


def _compute_amounts(
    rule: BonusRule, scores: Mapping[int, RawScore | None], answers: Mapping[int, int]
) -> dict[int, Decimal]:
    """Return the bonus of each submission that gets one, by key."""
    if rule.kind == PER_ANSWER:
        amounts = {key: rule.amount * n for key, n in answers.items() if n}
        # Checked here, because the product depends on the data and not on the rule alone.
        if amounts and max(amounts.values()) > MOST:
            raise RuleError("amount", "amount_too_large", most=MOST)
        return amounts
    known_scores = {
        key: value
        for key, score in scores.items()
        if (value := _get_supported_score(score)) is not None
    }
    if rule.kind == QUANTILE:
        # At least one worker; ties with the last one get the bonus, too. The small addend makes up
        # for products such as .29 * 100 that lie just below an integer.
        n_best = max(1, floor((rule.share or 0) * len(known_scores) + 1e-9))
        # A threshold in place of the first `n_best`: ties must not be decided by the sort order.
        threshold = sorted(known_scores.values(), reverse=True)[n_best - 1] if known_scores else 0
        return {key: rule.amount for key, value in known_scores.items() if value >= threshold}
    threshold = rule.at_least or 0.0
    compared = {key: get_compared_score(scores[key], rule.end) for key in known_scores}
    return {
        key: rule.amount
        for key, value in compared.items()
        if value is not None and value >= threshold
    }


def get_compared_score(score: RawScore | None, end: str) -> float | None:
    """Return the number compared with a threshold: the score, or its interval's lower end."""
    if score is None:
        return None
    return score.low if end == LOW else score.value


def _build_earner_sort_key(earner: BonusEarner) -> tuple[bool, bool, float, str]:
    """Return the sort key of a worker: bonus first, then by score, without a score last."""
    value = _get_supported_score(earner.score)
    return earner.amount is None, value is None, -(value or 0.0), earner.name


def _get_supported_score(score: RawScore | None) -> float | None:
    """Return a score that is based on enough answers; None otherwise."""
    return score.value if score is not None and score.supported else None


def _count_graded_answers(version: QuestionSetVersion) -> dict[int, int]:
    """Return the number of graded text answers of each submission, by key; one query."""
    rows = Response.objects.filter(
        submission__version=version,
        state=Response.State.SUBMITTED,
        status=Response.Status.TEXT,
        question__role__in=GRADED,
    )
    return dict(rows.order_by().values_list("submission").annotate(n=Count("pk")))


def _compute_own_hourly_pay(
    base: Decimal | None, bonus: Decimal | None, seconds: float | None
) -> Decimal | None:
    """Return pay and bonus for an hour of the worker's own time; None if unknown."""
    if base is None or not seconds:
        return None
    return _compute_hourly_pay(base + (bonus or Decimal(0)), seconds)


def _compute_hourly_pay(pay: Decimal, seconds: float) -> Decimal:
    """Return the pay for an hour, rounded half up to cents."""
    # Decimal of the float itself would carry its binary error into the quotient.
    return (pay * 3600 / Decimal(str(seconds))).quantize(CENT, ROUND_HALF_UP)


class ProposalChangedError(RuntimeError):
    """Error: the proposal differs from the one that the user saw."""


def plan_proposed_bonuses(
    proposal: BonusProposal, user: Any, round_: str = bonuses.ROUND, *, seen: str | None = None
) -> int:
    """Plan the bonuses of a proposal; return how many are new.

    `seen` is the `BonusProposal.seen` that the user saw; None skips the comparison. Raises
    ProposalChangedError if it differs, and the errors of `bonuses.plan_bonuses`.
    """
    if seen is not None and seen != proposal.seen:
        raise ProposalChangedError
    return bonuses.plan_bonuses(
        proposal.version, proposal.amounts, user, round_, proposal.rule.said
    )


APPROVE, LOOK, REJECT, NOTHING = "approve", "look", "reject", "nothing"
ACTIONS = {
    APPROVE: "Approve",
    LOOK: "Look first",
    REJECT: "A rejection is possible",
    NOTHING: "Nothing to decide",
}
"""Labels of the suggestions by code."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Suggested payment action for a submission, with its reasons.

    Attributes
    ----------
    action : a key of `ACTIONS`. why : reasons. categories : categories of a rejection with enough
        evidence.
    """

    action: str
    why: tuple[Message, ...]
    categories: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Label of the suggested payment action, a value of `ACTIONS`."""
        return ACTIONS[self.action]


def suggest_action(
    submission: Submission,
    status: str,
    evidence: Sequence[Evidence],
    marks: Sequence[Mark],
    score: RawScore | None,
    n_ranked: int,
    graded: bool,
    part: Payment | None = None,
) -> Suggestion:
    """Return the suggested payment action for one submission; nothing is decided.

    The first rule that applies counts: nothing to decide, evidence for a rejection, reasons to
    look, approval. `part` is a partial payment of the submission. Signals of how answers were
    written and contradicted facts are shown elsewhere and never a reason.
    """
    # A withdrawn submission has no answers left to judge.
    if submission.withdrawn_at is not None:
        return Suggestion(NOTHING, (Message("paying.withdrew"),))
    # The panel has settled it, so a decision here would have no effect.
    if status in PAST_APPROVING:
        return Suggestion(
            NOTHING, (Message("paying.settled", {"status": describe_status(status)}),)
        )
    if part is not None:
        values = {"amount": str(part.amount), "currency": part.currency, "state": part.state}
        return Suggestion(NOTHING, (Message("paying.part", values),))
    if submission.state != Submission.State.SUBMITTED:
        return Suggestion(NOTHING, (Message("paying.not_handed_in"),))
    offered = [row for row in evidence if row.offered]
    if offered:
        categories = tuple(dict.fromkeys(row.category for row in offered))
        return Suggestion(REJECT, tuple(row.said for row in offered), categories)
    sentences = [row.said for row in evidence]
    alarm_words = dict.fromkeys(mark.words for mark in marks if mark.is_alarm)
    sentences += [Message("paying.alarm", {"words": words}) for words in alarm_words]
    if score and score.rank_low is not None and score.rank_low > (1 - LOWEST) * n_ranked:
        sentences.append(Message("paying.lowest"))
    if sentences:
        return Suggestion(LOOK, tuple(sentences))
    if not graded:
        return Suggestion(APPROVE, (Message("paying.ungraded"),))
    if score is not None and not score.supported:
        return Suggestion(APPROVE, (Message("paying.few", {"answers": score.n_answers}),))
    return Suggestion(APPROVE, (Message("paying.fine"),))
