"""Texts about facts: they compare an answer with the crowd, and call no answer wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.core.messages.message import Sentence, format_count


def _format_others(values: Mapping[str, Any], key: str) -> str:
    """Return how many of the other workers state something, such as "3 of 12 others"."""
    return f"{values[key]} of {format_count(values['of'], 'other')}"


def _format_contradicting_value(values: Mapping[str, Any]) -> str:
    """Return the text that an answer states another value than the crowd agrees on."""
    say = "states" if values["n_crowd"] == 1 else "state"
    return f"states {values['value']}; {_format_others(values, 'n_crowd')} {say} {values['crowd']}"


def _format_missing_value(values: Mapping[str, Any]) -> str:
    """Return the text that an answer does not state a value that the crowd agrees on."""
    say = "states" if values["n_crowd"] == 1 else "state"
    return f"does not state {values['value']}, which {_format_others(values, 'n_crowd')} {say}"


def _format_contested_value(values: Mapping[str, Any]) -> str:
    """Return the text that an answer contradicts the crowd, but many others do as well."""
    return f"{_format_agreeing_value(values)}: contested"


def _format_agreeing_value(values: Mapping[str, Any]) -> str:
    """Return the text that an answer states a value that the crowd agrees on."""
    others = _format_others(values, "mentions")
    return f"states {values['value']}, as {others} {_choose_verb(values)}"


def _choose_verb(values: Mapping[str, Any]) -> str:
    """Return the verb for a number of workers: "does" for one, else "do"."""
    return "does" if values["mentions"] == 1 else "do"


# Characters of a claim that a sentence shows.
EXCERPT_LENGTH = 160


def _format_claim(values: Mapping[str, Any]) -> str:
    """Return the crowd's claim in quotation marks, cut to 160 characters."""
    text = " ".join(values["crowd"].split())
    return f"“{text if len(text) <= EXCERPT_LENGTH else f'{text[: EXCERPT_LENGTH - 1].rstrip()}…'}”"


def _format_meaning(values: Mapping[str, Any]) -> str:
    """Return the text that an answer contradicts the crowd according to an entailment model."""
    agree = "agrees" if values["n_crowd"] == 1 else "agree"
    return (
        f"contradicts {_format_claim(values)} by the entailment model (probability "
        f"{values['value']}); "
        f"{_format_others(values, 'n_crowd')} {agree} with that"
    )


def _format_contested_meaning(values: Mapping[str, Any]) -> str:
    """Return the text that an answer contradicts the crowd, but many others contradict it too."""
    others = _format_others(values, "mentions")
    return f"{_format_meaning(values)}, {others} contradict it as well: contested"


def _format_agreeing_meaning(values: Mapping[str, Any]) -> str:
    """Return the text that an answer agrees with the crowd according to an entailment model."""
    others = f"{_format_others(values, 'mentions')} {_choose_verb(values)}"
    return f"agrees with {_format_claim(values)} by the entailment model, as {others}"


def _format_agreement(values: Mapping[str, Any]) -> str:
    """Return a sentence on how many questions a worker or model contradicts the crowd on."""
    questions = format_count(values["questions"], "question")
    if not values["questions"]:
        return "Answered no question on which the crowd agrees on a fact."
    where = "on which the crowd agrees on a fact"
    if not values["contradicted"]:
        return f"Contradicts the crowd on none of {questions} {where}."
    return f"Contradicts the crowd on {values['contradicted']:,} of {questions} {where}."


FACTS: Mapping[str, Sentence] = {
    "facts.agrees": _format_agreeing_value,
    "facts.contradicts": _format_contradicting_value,
    "facts.contested": _format_contested_value,
    "facts.missing": _format_missing_value,
    "facts.extra": "states {value} too, which the crowd neither agrees on nor denies",
    "facts.open": "states {value}; the crowd agrees on nothing of the kind",
    "facts.too_few": "states {value}; too few others state a fact of the kind",
    "meaning.agrees": _format_agreeing_meaning,
    "meaning.contradicts": _format_meaning,
    "meaning.contested": _format_contested_meaning,
    "meaning.open": "neither agrees with the exemplary answer by the entailment model nor "
    "contradicts it (probability {value})",
    "meaning.too_few": "too few others answered to find contradictions",
    "meaning.found": "By meaning ({model}), in no grade: {contradicts:answer} contradict the "
    "crowd, {contested} contested, {agrees} agree, {open} open, on {questions:question}.",
    "meaning.unseen": "Contradictions are not seen: no entailment model compared the answers "
    "({option[nli]}). An answer that contradicts the right one can score as high as one that is "
    "partly right.",
    "facts.standing": _format_agreement,
    "facts.found": "Facts, in no grade: {agreed:value} agreed on and {contested} contested, on "
    "{spoken} of {questions:question}.",
    "facts.silent": "Not compared: {n:question} ({why}).",
    "facts.read_by": "Read by {model}: {facts:fact} in {answers:answer} to {questions:question}; "
    "refused {not_in_text} whose quotes are not in the answers and {other_slot} of kinds that were "
    "not asked for. Not to be read: the replies on {unread:answer}, and the kinds of "
    "{without_slots:question}; {errors} without a reply.",
    "facts.notice": "contradicts the crowd on {contradicted} of {questions:question}",
}
"""By the verdict on a value of an answer; and what it comes to for a worker or a model."""
