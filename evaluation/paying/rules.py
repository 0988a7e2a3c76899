"""Bonuses by a rule: who gets how much, what that costs, and what people earn in an hour then.

A rule proposes; a person plans and confirms (`annotations.ledger.bonuses`), so that each is paid
at most once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import cached_property
from math import floor
from statistics import median

from django.db.models import Count

from annotations.exchange.money import LEAST, MOST
from annotations.ledger.bonuses import currency_of
from annotations.ledger.deciding import newest_of
from annotations.models import GRADED, Decision, QuestionSetVersion, Response, Submission
from annotations.models import Collection as Collecting
from evaluation.paying.evidence import seconds_of
from evaluation.paying.fairness import Comparison, fairness
from evaluation.paying.rule_errors import RuleError
from evaluation.paying.scores import RawScore, run_of, scores_of
from evaluation.words.message import Message

QUANTILE, THRESHOLD, PER_ANSWER = "quantile", "threshold", "per-answer"
KINDS = {
    QUANTILE: "The best share of people",
    THRESHOLD: "Everybody whose score is at least so much",
    PER_ANSWER: "So much for each answer",
}
SCORE, LOW = "score", "low"
CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class Rule:
    """Who gets a bonus of `amount`: per person, or with `per-answer` for each answer.

    Attributes
    ----------
    kind : a key of `KINDS`. share : of `quantile`, above 0 to 1. at_least : of `threshold`, a raw
        leave-one-out score. end : what has to reach it, the score or the lower end of its interval.
    """

    kind: str
    amount: Decimal
    share: float | None = None
    at_least: float | None = None
    end: str = SCORE

    @property
    def said(self) -> str:
        """The rule in a few words, as it stands beside each payment."""
        if self.kind == QUANTILE:
            return f"the best {self.share:.0%} by raw score"
        if self.kind == THRESHOLD:
            what = "the lower end of the raw score" if self.end == LOW else "the raw score"
            return f"{what} is at least {self.at_least:g}"
        return f"{self.amount} for each answer"

    def check(self) -> None:
        """Raise RuleError for what is missing, or will not do."""
        if self.kind not in KINDS:
            raise RuleError("kind", "unknown_rule", given=self.kind, known=", ".join(KINDS))
        if not LEAST <= self.amount <= MOST:
            raise RuleError("amount", "amount_range", least=LEAST, most=MOST)
        if self.kind == QUANTILE and not (self.share is not None and 0 < self.share <= 1):
            raise RuleError("share", "share_missing")
        if self.kind == THRESHOLD and not (
            self.at_least is not None and abs(self.at_least) <= float(MOST)
        ):
            raise RuleError("at_least", "score_missing")


@dataclass(frozen=True, slots=True)
class Earner:
    """Somebody who handed in and is not rejected: the bonus (None for none), and pay an hour.

    `hourly` is base pay and bonus over the worker's own time; None where either is not known.
    """

    submission: Submission
    amount: Decimal | None
    score: RawScore | None
    n_answers: int
    seconds: float | None
    hourly: Decimal | None

    @property
    def name(self) -> str:
        """The panel's id of the worker."""
        return self.submission.worker.external_id


@dataclass(frozen=True)
class Proposal:
    """What a rule would do now; nothing is stored.

    Attributes
    ----------
    earners : everybody who handed in and is not rejected, those with a bonus first.
    n_rejected : people who are left out because their work is rejected. n_unscored : who has no
        score, or too few answers to say, and so no bonus by it.
    base, currency, least : pay without a bonus, in what, and the least for an hour; None unknown.
    hourly : by the median time of all, for who gets the middle bonus; None unknown.
    """

    version: QuestionSetVersion
    rule: Rule
    earners: list[Earner]
    n_rejected: int
    n_unscored: int
    base: Decimal | None
    currency: str
    least: Decimal | None

    @property
    def rewarded(self) -> list[Earner]:
        """Who gets a bonus, the highest score first."""
        return [one for one in self.earners if one.amount is not None]

    @property
    def n_rewarded(self) -> int:
        """How many people get a bonus."""
        return len(self.amounts)

    @property
    def n_considered(self) -> int:
        """How many people handed in and are not rejected."""
        return len(self.earners)

    @property
    def amounts(self) -> dict[int, Decimal]:
        """The bonuses by the keys of the submissions."""
        return {one.submission.pk: one.amount for one in self.earners if one.amount is not None}

    @property
    def total(self) -> Decimal:
        """The sum, without the panel's fee."""
        return sum(self.amounts.values(), Decimal(0))

    @cached_property
    def hourly(self) -> Decimal | None:
        """Base pay and the middle bonus for the median time; None where they are not known."""
        times = [one.seconds for one in self.earners if one.seconds]
        if self.base is None or not times:
            return None
        bonus = median(self.amounts.values()) if self.amounts else Decimal(0)
        return _hourly(self.base + bonus, median(times))

    @cached_property
    def fairness(self) -> list[Comparison]:
        """Groups that get the bonus less often than others."""
        everybody = [one.submission.pk for one in self.earners]
        return fairness(self.version, everybody, self.amounts, "get a bonus")

    @property
    def warnings(self) -> list[Message]:
        """What to know before it is planned."""
        found = [warning for one in self.fairness for warning in one.warnings]
        known = [one.hourly for one in self.earners if one.hourly is not None]
        below = [pay for pay in known if self.least is not None and pay < self.least]
        if below:
            values = {
                "below": len(below),
                "timed": len(known),
                "least": str(self.least),
                "currency": self.currency,
                "lowest": str(min(below)),
            }
            found.append(Message("paying.poor", values))
        if self.least is not None and self.earners and not known:
            missing = "pay" if self.base is None else "times"
            values = {"least": str(self.least), "currency": self.currency, "missing": missing}
            found.append(Message("paying.hourly_unknown", values))
        return found

    @property
    def seen(self) -> str:
        """What tells this proposal from another, for who says yes to it."""
        text = repr(sorted(self.amounts.items()))
        return hashlib.sha256(text.encode()).hexdigest()[:32]


def propose(
    version: QuestionSetVersion,
    rule: Rule,
    *,
    least: Decimal | None = None,
    base: Decimal | None = None,
) -> Proposal:
    """Return what a rule would do; the number of queries does not hang on the people.

    `least` and `base` are those of the collection where nobody says. Considered is who handed in,
    did not withdraw, and is not rejected. Raises RuleError: also for a rule by score without a
    grading, and for amounts per answer that are more than a bonus may be.
    """
    rule.check()
    run = run_of(version)
    if run is None and rule.kind != PER_ANSWER:
        raise RuleError("kind", "no_scores")
    collection = Collecting.objects.filter(version=version).first()
    if collection is not None:
        base = collection.pay if base is None else base
        least = collection.least_hourly_pay if least is None else least
    people = list(
        Submission.objects.filter(
            version=version, state=Submission.State.SUBMITTED, withdrawn_at=None
        ).select_related("worker")
    )
    newest = newest_of([one.pk for one in people])
    rejected = {key for key, row in newest.items() if row.kind == Decision.Kind.REJECT}
    people = [one for one in people if one.pk not in rejected]
    scores, answers, times = scores_of(run), _answers(version), seconds_of(version)
    of = {one.pk: scores.get(one.worker_id) for one in people}
    amounts = _amounts(rule, of, {one.pk: answers.get(one.pk, 0) for one in people})
    earners = [
        Earner(
            *(one, amounts.get(one.pk), of[one.pk], answers.get(one.pk, 0), times.get(one.pk)),
            _own(base, amounts.get(one.pk), times.get(one.pk)),
        )
        for one in people
    ]
    earners.sort(key=_order)
    unscored = sum(_value(score) is None for score in of.values())
    return Proposal(
        *(version, rule, earners, len(rejected)),
        *(0 if rule.kind == PER_ANSWER else unscored, base, currency_of(version), least),
    )


def _amounts(
    rule: Rule, scores: Mapping[int, RawScore | None], answers: Mapping[int, int]
) -> dict[int, Decimal]:
    if rule.kind == PER_ANSWER:
        found = {key: rule.amount * n for key, n in answers.items() if n}
        if found and max(found.values()) > MOST:
            raise RuleError("amount", "amount_too_large", most=MOST)
        return found
    known = {key: value for key, one in scores.items() if (value := _value(one)) is not None}
    if rule.kind == QUANTILE:
        # At least one; and who ties with the last one gets it as well.
        first = max(1, floor((rule.share or 0) * len(known) + 1e-9))
        line = sorted(known.values(), reverse=True)[first - 1] if known else 0
        return {key: rule.amount for key, value in known.items() if value >= line}
    line = rule.at_least or 0.0
    reached = {key: reach(scores[key], rule.end) for key in known}
    return {
        key: rule.amount for key, value in reached.items() if value is not None and value >= line
    }


def reach(score: RawScore | None, end: str) -> float | None:
    """Return what has to reach a line: the score, or with `low` its interval's lower end."""
    if score is None:
        return None
    return score.low if end == LOW else score.value


def _order(one: Earner) -> tuple[bool, bool, float, str]:
    """Return where somebody stands: with a bonus first, then by score, who has none last."""
    value = _value(one.score)
    return one.amount is None, value is None, -(value or 0.0), one.name


def _value(score: RawScore | None) -> float | None:
    return score.value if score is not None and score.supported else None


def _answers(version: QuestionSetVersion) -> dict[int, int]:
    rows = Response.objects.filter(
        submission__version=version,
        state=Response.State.SUBMITTED,
        status=Response.Status.TEXT,
        question__role__in=GRADED,
    )
    return dict(rows.order_by().values_list("submission").annotate(n=Count("pk")))


def _own(base: Decimal | None, bonus: Decimal | None, seconds: float | None) -> Decimal | None:
    if base is None or not seconds:
        return None
    return _hourly(base + (bonus or Decimal(0)), seconds)


def _hourly(pay: Decimal, seconds: float) -> Decimal:
    return (pay * 3600 / Decimal(str(seconds))).quantize(CENT, ROUND_HALF_UP)
