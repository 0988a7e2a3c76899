"""Who is better than whom: what pages and the API say first of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.words.message import Sentence, counted, probability
from evaluation.words.reasons import in_words

# Models that a sentence names; of more it says how many there are.
NAMED = 3


def _apart(of: Mapping[str, Any]) -> str:
    return (
        f"“{of['first']}” is better than “{of['second']}” by {of['difference']:.3f} ({_basis(of)})."
    )


def _alike(of: Mapping[str, Any]) -> str:
    return (
        f"“{of['first']}” and “{of['second']}” cannot be told apart: the difference is "
        f"{of['difference']:.3f} ({_basis(of)}), and so few questions do not show differences "
        f"below {of['smallest']:.3f}."
    )


def _basis(of: Mapping[str, Any]) -> str:
    interval = f"95% interval {of['low']:.3f} to {of['high']:.3f}"
    return f"{interval} on {counted(of['n'], 'question')}, {probability(of['p'])}"


COMPARING: Mapping[str, Sentence] = {
    "comparison.no_models": "No language model was in this run.",
    "comparison.no_rank": lambda of: (
        f"None of the {of['models']} models could be ranked: each of them has an answer that could "
        "not be fetched, or no score."
        if of["models"] != 1
        else "The only model could not be ranked: it has an answer that could not be fetched, or "
        "no score."
    ),
    "comparison.not_recorded": "{models:model} can be ranked in this run, but pairs of models were "
    "not recorded when it was made: grade again to compare them.",
    "comparison.only_model": "“{leader}” is the only model that could be ranked, with a score of "
    "{score:.3f}. It takes another model to compare it with.",
    "comparison.leads_all": "“{leader}” is better than every other model: by {difference:.3f} (95% "
    "interval {low:.3f} to {high:.3f}) than “{next}”, the next one.",
    "comparison.leads_some": "“{leader}” is better than {behind}, by {difference:.3f} (95% "
    "interval {low:.3f} to {high:.3f}) than “{next}”. It cannot be told apart from {alike}: on "
    "these questions differences below {smallest:.3f} do not show.",
    "comparison.leads_none": "“{leader}” has the highest score, but cannot be told apart from "
    "{alike}: on these questions differences below {smallest:.3f} do not show.",
    "comparison.led_in_pairs": "“{leader}” has the highest score, but {ahead} did better on the "
    "questions that both answered.",
    "comparison.pair_apart": _apart,
    "comparison.pair_alike": _alike,
    "comparison.pair_undefined": lambda of: (
        f"“{of['first']}” and “{of['second']}” cannot be compared: {in_words(of['reason'])}."
    ),
}


def listed(names: Sequence[str]) -> str:
    """Return names of models as a part of a sentence; of many the first ones and a number."""
    quoted = [f"“{name}”" for name in names]  # names hold commas
    if len(quoted) > NAMED:
        return f"{', '.join(quoted[:NAMED])} and {len(quoted) - NAMED} more"
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
