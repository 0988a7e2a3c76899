"""Reasons to exclude a worker, and the messages of the triage pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.core.messages.message import Sentence, format_count
from evaluation.core.messages.reasons import CLOSING, OWN, REASONS


def build_rejection_message(category: str, reason: str) -> str:
    """Return the message to a rejected worker: reason, own words and a closing sentence.

    At least 100 characters, which Prolific requires. An unknown category adds no sentence.
    """
    known_reason = REASONS.get(category, REASONS[OWN])
    own_words = reason.strip()
    if own_words and own_words[-1] not in ".!?…。":
        own_words += "."
    # A message that was written for the worker ends with it already.
    closing = "" if CLOSING in own_words else CLOSING
    return " ".join(filter(None, [known_reason.told, " ".join(own_words.split()), closing]))


def _describe_partner(values: Mapping[str, Any]) -> str:
    """Return a sentence with the number of answers that are nearly identical to the partner's."""
    if not values["read"]:
        return f"There is no question that {values['other']} answered too."
    if not values["same"]:
        return (
            f"None of the {format_count(values['read'], 'answer')} to questions that both "
            f"answered is the same as {values['other']}'s."
        )
    verb = "is" if values["same"] == 1 else "are"
    return (
        f"{values['same']:,} of {format_count(values['read'], 'answer')} {verb} the same as "
        f"{values['other']}'s, but for light edits."
    )


def _describe_rank(values: Mapping[str, Any]) -> str:
    """Return a sentence with the rank of a worker among all ranked ones."""
    if values["rank"] is None:
        return "Answered too little to be ranked."
    return f"Rank {values['rank']:,} of {values['ranked']:,}."


def _describe_times(values: Mapping[str, Any]) -> str:
    """Return a sentence on which of two workers answered first, how often, and who could copy.

    `values` has the names `me` and `other`, `n` common questions and the count of each order of
    time. Where all known times agree, one direction is possible; else either direction is.
    """
    me, other, n = values["me"], values["other"], values["n"]
    after, before = values["after"] + values["later"], values["before"] + values["earlier"]
    together, unsure = values["together"], values["later"] + values["earlier"]
    if not n:
        return ""
    if not after and not before and not together:
        return (
            "When they answered is not known: the answers alone cannot show who could have copied."
        )
    known = after + before + together
    some = (
        ""
        if known == n
        else f" (of {format_count(n, 'answer')}, the times of {_format_number(known)} are known)"
    )
    if after and not before and not together:
        finding = (
            f"{other} was first, {_format_every_time(after)}{some}: "
            f"{me} could have copied from {other}"
        )
    elif before and not after and not together:
        finding = (
            f"{me} was first, {_format_every_time(before)}{some}: "
            f"{other} could have copied from {me}"
        )
    elif together and not after and not before:
        return (
            f"Both were at work at the same time, {_format_every_time(together)}{some}: either "
            "could have copied from the other, or both from one source."
        )
    else:
        parts = [
            f"{other} was first {_format_times(after)}" if after else "",
            f"{me} {_format_times(before)}" if before else "",
            f"they were at work together {_format_times(together)}" if together else "",
        ]
        return (
            f"{', '.join(filter(None, parts))}{some}: either could have copied from the other, or "
            "both from one source."
        )
    if unsure:
        return (
            f"{finding}. When they began is not known, so they may also have worked side by side, "
            "or from one source."
        )
    return f"{finding}, not the other way round; both may have used one source."


def _format_number(n: Any) -> str:
    """Return a number as text with thousands separators."""
    # The generated list of messages passes names in place of numbers.
    return f"{n:,}" if isinstance(n, int) else str(n)


def _format_every_time(n: int) -> str:
    """Return a number of times as "all 3 times" or "the one time"."""
    return "the one time" if n == 1 else f"all {_format_number(n)} times"


def _format_times(n: int) -> str:
    """Return a number of times as "3 times" or "once"."""
    return "once" if n == 1 else f"{_format_number(n)} times"


def _describe_exclusion(values: Mapping[str, Any]) -> str:
    """Return a sentence with the numbers of workers and answers that remain after an exclusion."""
    return (
        f"{format_count(values['out'], 'person')} left out; {values['left']:,} of "
        f"{format_count(values['all'], 'person')} and {values['answers']:,} of "
        f"{format_count(values['all_answers'], 'answer')} remain."
    ).replace("persons", "people")


def _describe_thin_questions(values: Mapping[str, Any]) -> str:
    """Return a sentence with the number of questions that fall below 3 answers."""
    if not values["questions"]:
        return "Every question that had 3 answers or more keeps at least 3."
    verb = "keeps" if values["questions"] == 1 else "keep"
    return (
        f"{format_count(values['questions'], 'question')} {verb} fewer than 3 answers: too few "
        f"for a consensus that does not depend on one person."
    )


def _describe_undecided(values: Mapping[str, Any]) -> str:
    """Return a sentence with the number of workers a batch accepts, and who stay open and why."""
    n, named, again, silent = values["n"], values["named"], values["again"], values["silent"]
    parts = []
    if n:
        parts.append(f"{format_count(n, 'person')} without a decision would be accepted")
        if silent:
            parts.append(f"{_format_number(silent)} of them gave no answer")
    elif named or again:
        parts.append("All others are decided")
    else:
        return f"Everybody is decided ({_format_number(values['decided'])})."
    if named and values["with_alarms"]:
        parts.append(f"{_format_number(named)} of them although an alarm or a notice names them")
    elif named:
        parts.append(
            f"{_format_number(named)} named by an alarm or a notice {_choose_stay_form(named)} open"
        )
    if again:
        parts.append(f"{_format_number(again)} to review again {_choose_stay_form(again)} open")
    return f"{'; '.join(parts)}."


def _choose_stay_form(n: int) -> str:
    """Return the verb "stays" or "stay" to follow a number."""
    return "stays" if n == 1 else "stay"


TRIAGE: Mapping[str, Sentence] = {
    "triage.standing": _describe_rank,
    "triage.nothing": "No alarm and no notice names this person.",
    "triage.partner": _describe_partner,
    "triage.times": _describe_times,
    "triage.without": _describe_exclusion,
    "triage.thin": _describe_thin_questions,
    "triage.rest": _describe_undecided,
    "order.unknown": "times not known",
    "order.before": "this answer was there first",
    "order.earlier": "this answer was sent first",
    "order.after": "the other answer was there first",
    "order.later": "the other answer was sent first",
    "order.together": "written at the same time",
}
"""Messages by code. Values hold names for the page; no such message is stored."""
