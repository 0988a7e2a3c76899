"""Texts about facts: they compare an answer with the crowd, and call no answer wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.core.messages.message import Sentence, format_count


def _count_others(of: Mapping[str, Any], said: str) -> str:
    """Return how many other workers state something, such as "3 of 12 others"."""
    return f"{of[said]} of {format_count(of['of'], 'other')}"


def _format_contradicts(of: Mapping[str, Any]) -> str:
    """Return the text of a fact that contradicts the value the crowd agrees on."""
    say = "states" if of["n_crowd"] == 1 else "state"
    return f"states {of['value']}; {_count_others(of, 'n_crowd')} {say} {of['crowd']}"


def _format_missing(of: Mapping[str, Any]) -> str:
    """Return the text of a value that the crowd agrees on and the answer lacks."""
    say = "states" if of["n_crowd"] == 1 else "state"
    return f"does not state {of['value']}, which {_count_others(of, 'n_crowd')} {say}"


def _format_contested(of: Mapping[str, Any]) -> str:
    """Return the text of a fact that contradicts the crowd but that many others state too."""
    return f"states {of['value']}, as {_count_others(of, 'mentions')} {_choose_do(of)}: contested"


def _format_agrees(of: Mapping[str, Any]) -> str:
    """Return the text of a fact that agrees with the crowd."""
    return f"states {of['value']}, as {_count_others(of, 'mentions')} {_choose_do(of)}"


def _choose_do(of: Mapping[str, Any]) -> str:
    """Return the verb for a number of others: "does" for one, else "do"."""
    return "does" if of["mentions"] == 1 else "do"


# Characters of a claim that a sentence shows.
SHOWN = 160


def _format_claim(of: Mapping[str, Any]) -> str:
    """Return the crowd's claim in quotation marks, shortened to 160 characters."""
    text = " ".join(of["crowd"].split())
    return f"“{text if len(text) <= SHOWN else f'{text[: SHOWN - 1].rstrip()}…'}”"


def _format_meaning(of: Mapping[str, Any]) -> str:
    """Return the text of an answer that contradicts the crowd by the entailment model."""
    agree = "agrees" if of["n_crowd"] == 1 else "agree"
    return (
        f"contradicts {_format_claim(of)} by the entailment model (probability {of['value']}); "
        f"{_count_others(of, 'n_crowd')} {agree} with that"
    )


def _format_contested_meaning(of: Mapping[str, Any]) -> str:
    """Return the text of a contradiction by meaning that many other answers share."""
    return (
        f"{_format_meaning(of)}, {_count_others(of, 'mentions')} contradict it as well: contested"
    )


def _format_agreeing_meaning(of: Mapping[str, Any]) -> str:
    """Return the text of an answer that agrees with the crowd by the entailment model."""
    others = f"{_count_others(of, 'mentions')} {_choose_do(of)}"
    return f"agrees with {_format_claim(of)} by the entailment model, as {others}"


def _format_agreement(of: Mapping[str, Any]) -> str:
    """Return a sentence on how many questions a worker or model contradicts the crowd on."""
    questions = format_count(of["questions"], "question")
    if not of["questions"]:
        return "Answered no question on which the crowd agrees on a fact."
    where = "on which the crowd agrees on a fact"
    if not of["contradicted"]:
        return f"Contradicts the crowd on none of {questions} {where}."
    return f"Contradicts the crowd on {of['contradicted']:,} of {questions} {where}."


FACTS: Mapping[str, Sentence] = {
    "facts.agrees": _format_agrees,
    "facts.contradicts": _format_contradicts,
    "facts.contested": _format_contested,
    "facts.missing": _format_missing,
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
