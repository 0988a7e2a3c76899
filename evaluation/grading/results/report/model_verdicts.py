"""Verdicts on language models: which is best, and which of two, as message codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluation.core.messages.message import Message
from evaluation.grading.results.messages import format_names
from evaluation.grading.results.report.comparisons import ModelPair
from evaluation.grading.results.report.models import ModelRow


def build_leader_verdict(models: Sequence[ModelRow], pairs: Sequence[ModelPair]) -> Message:
    """Return the message on which models the highest-scoring model is better than.

    Parameters
    ----------
    models : by score, best first. pairs : every pair that was compared.
    """
    ranked = [model for model in models if model.rank is not None and model.score.value is not None]
    if not models:
        return Message("comparison.no_models")
    if not ranked:
        return Message("comparison.no_rank", {"models": len(models)})
    leader = ranked[0]
    own_pairs = [
        pair if pair.first == leader.model else pair.turned()
        for pair in pairs
        if leader.model in (pair.first, pair.second) and pair.adjusted_p_value is not None
    ]
    if len(ranked) > 1 and not pairs:
        return Message("comparison.not_recorded", {"models": len(models)})
    if not own_pairs:
        return Message(
            "comparison.only_model", {"leader": leader.name, "score": leader.score.value}
        )
    position = {model.model: at for at, model in enumerate(ranked)}
    own_pairs.sort(key=lambda pair: position.get(pair.second, len(position)))
    values: dict[str, Any] = {"leader": leader.name}
    behind = [pair for pair in own_pairs if pair.better and (pair.difference.value or 0) > 0]
    alike = [pair for pair in own_pairs if not pair.better]
    if len(behind) + len(alike) < len(own_pairs):
        # Means over different questions may put a model first that pairs do not.
        ahead = [pair.second_name for pair in own_pairs if pair not in behind and pair not in alike]
        return Message("comparison.led_in_pairs", values | {"ahead": format_names(ahead)})
    if alike:
        values["alike"] = format_names([pair.second_name for pair in alike])
        values["smallest"] = max(pair.smallest_detectable or 0.0 for pair in alike)
    if not behind:
        return Message("comparison.leads_none", values)
    values |= {
        "behind": format_names([pair.second_name for pair in behind]),
        **_build_difference(behind[0]),
    }
    return Message("comparison.leads_some" if alike else "comparison.leads_all", values)


def build_pair_verdict(pair: ModelPair) -> Message:
    """Return the message on which of two models is better, or that neither is."""
    value = pair.difference.value
    if value is None or pair.adjusted_p_value is None:
        return Message(
            "comparison.pair_undefined",
            {"first": pair.first_name, "second": pair.second_name, "reason": pair.reason},
        )
    better = pair if value >= 0 else pair.turned()
    values = {
        "first": better.first_name,
        "second": better.second_name,
        "n": pair.n,
        "p": pair.adjusted_p_value,
        "smallest": pair.smallest_detectable,
        **_build_difference(better),
    }
    return Message("comparison.pair_apart" if pair.better else "comparison.pair_alike", values)


def _build_difference(pair: ModelPair) -> dict[str, Any]:
    """Return the second model's name, the difference and its interval, as message values."""
    difference = pair.difference
    return {
        "next": pair.second_name,
        "difference": difference.value,
        "low": difference.low,
        "high": difference.high,
    }
