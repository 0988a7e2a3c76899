"""Messages of results: comparisons of models, and signals of how answers were written."""

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


def _pasted(of: Mapping[str, Any]) -> str:
    answers = counted(of["n"], "answer")
    if not of["pasted"]:
        return f"Pasted into none of {answers}."
    share = of["share"]
    # In the table of all words a value is its name.
    part = f"{share:.0%}" if isinstance(share, float | int) else str(share)
    held = "" if share is None else f": up to {part} of the characters of these"
    return f"Pasted into {of['pasted']:,} of {answers}{held}."


def _typed(of: Mapping[str, Any]) -> str:
    said = (
        f"Typed {counted(of['typed'], 'character')} of an answer of {of['length']:,} "
        f"({of['question']})"
    )
    if not of["pasted"]:
        return (
            f"{said} and pasted none: the rest came in a way that is not counted, such as another "
            "window without a script, or a tool of the browser."
        )
    return f"{said}, and pasted {of['pasted']:,}."


def _duration(seconds: Any) -> str:
    if not isinstance(seconds, int):
        return f"{seconds} seconds"
    if seconds < 120:
        return counted(seconds, "second")
    return counted(round(seconds / 60), "minute")


def _away(of: Mapping[str, Any]) -> str:
    active = f"active for {_duration(of['active'])}"
    if not of["left"]:
        return f"Never left the page while answering; {active}."
    times = "once" if of["left"] == 1 else f"{of['left']:,} times"
    away = f"{_duration(of['away'])} in all"
    return f"Left the page for another window or tab {times}, {away}; {active}."


SIGNALS: Mapping[str, Sentence] = {
    "signals.pasted": _pasted,
    "signals.typed": _typed,
    "signals.pasted_more": "Of {others} others, {below} pasted into a smaller share of their "
    "answers, {same} into as large a one, {above} into a larger one.",
    "signals.left_more": "Of {others} others, {below} left the page less often for each answer, "
    "{same} as often, {above} more often.",
    "signals.few": "Too few others were counted ({others}) to compare with.",
    "signals.away": _away,
    "signals.none": "How these answers were written was not measured: that needs a script in the "
    "browser, and a set that counts. It says nothing about them.",
    "signals.off": "Nothing is counted of this worker, as everybody may choose. It says nothing "
    "about the answers.",
    "signals.limits": "It proves nothing by itself: some people write elsewhere and paste, quote "
    "the text beside the questions, or leave the page to look up a word; a phone's keyboard can "
    "put in copied text as if it were typed; who means to deceive can make these counts up. They "
    "are in no grade and in no alarm, and no reason to refuse anybody's pay.",
}
"""By what is said of a worker; the numbers are those of their answers to graded questions."""
