"""What a run of a judge stores of itself, and what it comes to in messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluation.flow.asking.summary import Usage
from evaluation.flow.judge.findings import CorrectedRow, Findings
from evaluation.flow.judge.prompts import COMPARE, SCORE
from evaluation.flow.metrics import MetricRow
from evaluation.flow.stored import RunSummary
from evaluation.words.message import Message

VERSION = 1
# Verdicts for what is shown first beyond .5 by this much are told.
UNFAIR = 0.1
USED = ("requests", "prompt_tokens", "completion_tokens", "cost")


@dataclass(frozen=True)
class Metric:
    """A number of metrics.csv; `group` is "" or names two experts."""

    metric: str
    group: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str | None

    @classmethod
    def of_row(cls, row: MetricRow) -> Metric:
        """Return the same without the judge's name."""
        return cls(row.metric, row.group, row.value, row.low, row.high, row.n, row.reason)


@dataclass(frozen=True)
class PromptShown:
    """What a judge was told: the template, what it is told again, and the hash of both."""

    name: str
    hash: str
    template: str
    again: str


PROMPTS = tuple(
    PromptShown(name, prompt.hash, prompt.template, prompt.again)
    for name, prompt in (("score", SCORE), ("compare", COMPARE))
)


@dataclass(frozen=True)
class JudgeSummary(RunSummary):
    """A judge, measured.

    Attributes
    ----------
    judge : its name; model : its public id. prompts : what it was told.
    answers, model_answers : how many were scored, `judged` by experts too, `pairs` compared.
    asked_again : replies that said nothing and were asked for once more; without_score : scores
        that never came. metrics : agreement. workers : mean grade of all workers, corrected.
        asked : what the judge was used for, by step.
    """

    judge: str = ""
    model: str = ""
    prompts: tuple[PromptShown, ...] = ()
    answers: int = 0
    model_answers: int = 0
    judged: int = 0
    pairs: int = 0
    asked_again: int = 0
    without_score: int = 0
    metrics: tuple[Metric, ...] = ()
    workers: CorrectedRow | None = None
    usage: Mapping[str, Any] = field(default_factory=dict)
    asked: tuple[Usage, ...] = ()

    def asked_models(self) -> Sequence[Usage]:
        """Return what the judge was used for, by step."""
        return self.asked

    @classmethod
    def of_findings(
        cls, findings: Findings, model: str, judged: int, asked: Sequence[Usage]
    ) -> JudgeSummary:
        """Return what is stored of findings."""
        people = sum(findings.answers.people)
        return cls(
            VERSION,
            findings.system,
            model,
            PROMPTS,
            people,
            len(findings.answers) - people,
            judged,
            len(findings.judged.compared.one),
            findings.judged.n_again,
            findings.n_unread,
            tuple(map(Metric.of_row, findings.metrics)),
            findings.corrected[0],
            {name: sum(getattr(one, name) or 0 for one in asked) for name in USED},
            tuple(asked),
        )

    def shown_counts(self) -> dict[str, int]:
        """Return what the page of a run shows of what went in."""
        return {
            "answers": self.answers,
            "answers of models": self.model_answers,
            "judged by experts": self.judged,
            "pairs": self.pairs,
        }

    def metric(self, name: str) -> Metric | None:
        """Return a metric over all answers that is defined; None for none."""
        found = (m for m in self.metrics if m.metric == name and not m.group)
        return next((m for m in found if m.value is not None), None)

    @property
    def messages(self) -> list[Message]:
        """What it comes to."""
        return list(self._messages())

    def _messages(self) -> Iterator[Message]:
        itself, order = self.metric("repetition_same"), self.metric("order_same")
        if itself is not None:
            yield Message("judge.itself", {"same": itself.value})
        first = self.metric("order_first")
        if order is not None and first is not None:
            share = first.value or 0.0
            place = "first" if share > 0.5 + UNFAIR else "second" if share < 0.5 - UNFAIR else ""
            shown = max(share, 1 - share)
            values = {"same": order.value, "place": place, "share": shown}
            yield Message("judge.order", values)
        agrees, gain = self.metric("experts_pearson"), self.metric("against_aqer_gain")
        if agrees is not None:
            values = {"r": agrees.value, "low": agrees.low, "high": agrees.high, "n": agrees.n}
            yield Message("judge.experts", values)
        if gain is not None:
            values = {"gain": gain.value, "low": gain.low, "high": gain.high}
            if gain.low is not None and gain.low > 0:
                yield Message("judge.gain_judge", values)
            elif gain.high is not None and gain.high < 0:
                yield Message("judge.gain_aqer", values)
            else:
                yield Message("judge.gain_unknown", values)
        error, mean = self.metric("experts_error"), self.workers
        if error is not None and mean is not None and mean.tuned.mean is not None:
            yield Message(
                "judge.corrected",
                {
                    "kind": "too kind" if (error.value or 0.0) > 0 else "too strict",
                    "error": abs(error.value or 0.0),
                    "judge": mean.judge,
                    "mean": mean.tuned.mean,
                    "low": mean.tuned.low,
                    "high": mean.tuned.high,
                    "graded": mean.graded.mean,
                },
            )
