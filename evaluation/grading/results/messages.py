"""Message texts of results: comparisons of models, and how answers were written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.core.messages.message import Sentence, format_count, format_p_value
from evaluation.core.messages.reasons import describe_reason

CONSENSUS_LIMITS = (
    "A consensus is what these people agree on, which may be wrong; a shared mistake looks like "
    "agreement.",
    "The consensus answer is one person's words: the answer nearest to the weighted mean of all, "
    "under the embedding named here. Another embedding or other people may give another one.",
    "Similarity is computed from an embedding, which may miss a negation, a number or a name.",
    "A question with few answers, or a high dispersion, has hardly a consensus: read support and "
    "dispersion with every answer.",
    "Where answers fall into two camps, the consensus answer represents one of them at most. "
    "Camps do not show who is right: their cause may be two right answers, two ways of writing "
    "or a common mistake.",
    "Facts are read from numbers, years, rates and names that most answers to a question state. "
    "Questions with explanations as answers are not compared, and a crowd may agree on an error.",
)
"""What a reader of a consensus must know."""

# Models that a sentence names; of more it says how many there are.
NAMED = 3


def _format_significant_difference(values: Mapping[str, Any]) -> str:
    """Return the text that one of two models scores significantly higher."""
    difference = f"{values['difference']:.3f} ({_format_interval_and_p(values)})"
    return f"“{values['first']}” is better than “{values['second']}” by {difference}."


def _format_no_difference(values: Mapping[str, Any]) -> str:
    """Return the text that two models' scores do not differ significantly."""
    return (
        f"“{values['first']}” and “{values['second']}” cannot be distinguished: the difference is "
        f"{values['difference']:.3f} ({_format_interval_and_p(values)}), and so few questions do "
        f"not show differences below {values['smallest']:.3f}."
    )


def _format_interval_and_p(values: Mapping[str, Any]) -> str:
    """Return the interval, the number of questions and the p-value, as part of a sentence."""
    interval = f"95% interval {values['low']:.3f} to {values['high']:.3f}"
    return f"{interval} on {format_count(values['n'], 'question')}, {format_p_value(values['p'])}"


COMPARING: Mapping[str, Sentence] = {
    "comparison.no_models": "No language model was in this run.",
    "comparison.no_rank": lambda values: (
        f"None of the {values['models']} models could be ranked: each of them has an answer that "
        "could "
        "not be fetched, or no score."
        if values["models"] != 1
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
    "interval {low:.3f} to {high:.3f}) than “{next}”. It is not significantly better than "
    "{alike}: on "
    "these questions only differences above {smallest:.3f} can be detected.",
    "comparison.leads_none": "“{leader}” has the highest score, but is not significantly better "
    "than "
    "{alike}: on these questions only differences above {smallest:.3f} can be detected.",
    "comparison.led_in_pairs": "“{leader}” has the highest score, but {ahead} did better on the "
    "questions that both answered.",
    "comparison.pair_apart": _format_significant_difference,
    "comparison.pair_alike": _format_no_difference,
    "comparison.pair_undefined": lambda values: (
        f"“{values['first']}” and “{values['second']}” cannot be compared: "
        f"{describe_reason(values['reason'])}."
    ),
}


def format_model_names(names: Sequence[str]) -> str:
    """Return models' names as part of a sentence: up to 3 names, and the number of the rest."""
    quoted = [f"“{name}”" for name in names]  # names hold commas
    if len(quoted) > NAMED:
        return f"{', '.join(quoted[:NAMED])} and {len(quoted) - NAMED} more"
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _format_pasted_answers(values: Mapping[str, Any]) -> str:
    """Return the text on how many of a worker's answers contain pasted text."""
    answers = format_count(values["n"], "answer")
    if not values["pasted"]:
        return f"Pasted into none of {answers}."
    share = values["share"]
    # In the table of all words a value is its name.
    part = f"{share:.0%}" if isinstance(share, float | int) else str(share)
    rest = "" if share is None else f": up to {part} of the characters of these"
    return f"Pasted into {values['pasted']:,} of {answers}{rest}."


def _format_typed_characters(values: Mapping[str, Any]) -> str:
    """Return the text on how many characters of an answer were typed, and how many pasted."""
    sentence = (
        f"Typed {format_count(values['typed'], 'character')} of an answer of {values['length']:,} "
        f"({values['question']})"
    )
    if not values["pasted"]:
        return (
            f"{sentence} and pasted none: the rest came in a way that is not counted, such as "
            "another window without a script, or a tool of the browser."
        )
    return f"{sentence}, and pasted {values['pasted']:,}."


def _format_duration(seconds: Any) -> str:
    """Return a duration in seconds or minutes with its noun."""
    if not isinstance(seconds, int):
        return f"{seconds} seconds"
    if seconds < 120:
        return format_count(seconds, "second")
    return format_count(round(seconds / 60), "minute")


def _format_time_away(values: Mapping[str, Any]) -> str:
    """Return the text on how often and how long a worker left the page while answering."""
    active = f"active for {_format_duration(values['active'])}"
    if not values["left"]:
        return f"Never left the page while answering; {active}."
    times = "once" if values["left"] == 1 else f"{values['left']:,} times"
    away = f"{_format_duration(values['away'])} in all"
    return f"Left the page for another window or tab {times}, {away}; {active}."


SIGNALS: Mapping[str, Sentence] = {
    "signals.pasted": _format_pasted_answers,
    "signals.typed": _format_typed_characters,
    "signals.pasted_more": "Of {others} others, {below} pasted into a smaller share of their "
    "answers, {same} into as large a one, {above} into a larger one.",
    "signals.left_more": "Of {others} others, {below} left the page less often for each answer, "
    "{same} as often, {above} more often.",
    "signals.few": "Too few others were counted ({others}) to compare with.",
    "signals.away": _format_time_away,
    "signals.none": "It was not measured how these answers were written: that needs a script in "
    "the browser and a collection with counting. This is no sign against the answers.",
    "signals.off": "The worker switched the counting off, as everybody may. This is no sign "
    "against the answers.",
    "signals.limits": "It proves nothing by itself: some people write elsewhere and paste, "
    "quote the passage, or leave the page to look up a word; a phone's keyboard can "
    "put in copied text as if it were typed; who means to deceive can make these counts up. They "
    "are in no grade and in no alarm, and no reason to refuse anybody's pay.",
}
"""By what is said of a worker; the numbers are those of their answers to graded questions."""
