"""What the crowd says fact by fact, in words that call nobody wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.words.message import Sentence, counted


def _others(of: Mapping[str, Any], said: str) -> str:
    """Say how many others state something; nobody, where there are none."""
    return f"{of[said]} of {counted(of['of'], 'other')}"


def _contradicts(of: Mapping[str, Any]) -> str:
    say = "says" if of["n_crowd"] == 1 else "say"
    return f"says {of['value']}; {_others(of, 'n_crowd')} {say} {of['crowd']}"


def _missing(of: Mapping[str, Any]) -> str:
    say = "says" if of["n_crowd"] == 1 else "say"
    return f"does not say {of['value']}, which {_others(of, 'n_crowd')} {say}"


def _contested(of: Mapping[str, Any]) -> str:
    return f"says {of['value']}, as {_others(of, 'mentions')} {_do(of)}: contested"


def _agrees(of: Mapping[str, Any]) -> str:
    return f"says {of['value']}, as {_others(of, 'mentions')} {_do(of)}"


def _do(of: Mapping[str, Any]) -> str:
    return "does" if of["mentions"] == 1 else "do"


# Characters of a claim that a sentence shows.
SHOWN = 160


def _claim(of: Mapping[str, Any]) -> str:
    text = " ".join(of["crowd"].split())
    return f"“{text if len(text) <= SHOWN else f'{text[: SHOWN - 1].rstrip()}…'}”"


def _by_meaning(of: Mapping[str, Any]) -> str:
    agree = "agrees" if of["n_crowd"] == 1 else "agree"
    return (
        f"contradicts {_claim(of)} by the entailment model (probability {of['value']}); "
        f"{_others(of, 'n_crowd')} {agree} with that"
    )


def _contested_meaning(of: Mapping[str, Any]) -> str:
    return f"{_by_meaning(of)}, {_others(of, 'mentions')} contradict it as well: contested"


def _agreeing_meaning(of: Mapping[str, Any]) -> str:
    return (
        f"agrees with {_claim(of)} by the entailment model, as {_others(of, 'mentions')} {_do(of)}"
    )


def _standing(of: Mapping[str, Any]) -> str:
    questions = counted(of["questions"], "question")
    if not of["questions"]:
        return "Answered no question on which the crowd agrees on a fact."
    where = "on which the crowd agrees on a fact"
    if not of["contradicted"]:
        return f"Contradicts the crowd on none of {questions} {where}."
    return f"Contradicts the crowd on {of['contradicted']:,} of {questions} {where}."


FACTS: Mapping[str, Sentence] = {
    "facts.agrees": _agrees,
    "facts.contradicts": _contradicts,
    "facts.contested": _contested,
    "facts.missing": _missing,
    "facts.extra": "says {value} besides, which the crowd neither agrees on nor denies",
    "facts.open": "says {value}; the crowd agrees on nothing of the kind",
    "facts.too_few": "says {value}; too few others say anything of the kind",
    "meaning.agrees": _agreeing_meaning,
    "meaning.contradicts": _by_meaning,
    "meaning.contested": _contested_meaning,
    "meaning.open": "neither agrees with the exemplary answer by the entailment model nor "
    "contradicts it (probability {value})",
    "meaning.too_few": "too few others answered to say what contradicts them",
    "meaning.found": "By meaning ({model}), in no grade: {contradicts:answer} contradict what the "
    "crowd says, {contested} contested, {agrees} agree, {open} open, on {questions:question}.",
    "facts.standing": _standing,
    "facts.found": "Facts, in no grade: {agreed:value} agreed on and {contested} contested, on "
    "{spoken} of {questions:question}.",
    "facts.silent": "Nothing is said of {n:question}: {why}.",
    "facts.read_by": "Read by {model}: {facts:fact} in {answers:answer} to {questions:question}; "
    "refused {not_in_text} whose quotes are not in the answers and {other_slot} of kinds that were "
    "not asked for. Not to be read: the replies on {unread:answer}, and the kinds of "
    "{without_slots:question}; {errors} without a reply.",
    "facts.notice": "contradicts the crowd on {contradicted} of {questions:question}",
}
"""By the verdict on a value of an answer; and what it comes to for a worker or a model."""
