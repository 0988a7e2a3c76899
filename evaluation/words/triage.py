"""Deciding about people: reasons to exclude somebody, and what speaks for and against it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.words.message import Sentence, counted


@dataclass(frozen=True)
class Reason:
    """Why somebody is excluded.

    Attributes
    ----------
    words : as people choose it. briefly : after "Excluded: ".
    prolific : the category of a rejection on Prolific.
    told : a sentence to the worker; "" where only own words say it.
    rejects : whether panels take it as a reason to refuse the work.
    """

    words: str
    briefly: str
    prolific: str = "OTHER"
    told: str = ""
    rejects: bool = True


OWN = "own"
REASONS: Mapping[str, Reason] = {
    "copied": Reason(
        "Copied from others",
        "copied from others",
        told="Your answers are, but for light edits, the same as another participant's answers to "
        "the same questions.",
    ),
    "low_effort": Reason(
        "Clear low effort",
        "clear low effort",
        "LOW_EFFORT",
        "Your answers show clear low effort.",
    ),
    "instructions": Reason(
        "Failed the instructions",
        "failed the instructions",
        "FAILED_INSTRUCTIONS",
        "Your answers do not follow the instructions of the task.",
    ),
    "skipped": Reason(
        "Skipped required questions",
        "skipped required questions",
        "FAILED_INSTRUCTIONS",
        "You left questions without an answer that the task asks everybody to answer.",
    ),
    "attention": Reason(
        "Failed an attention check",
        "failed an attention check",
        "FAILED_CHECK",
        "You failed an attention check of the task.",
    ),
    "too_fast": Reason(
        "Far too fast",
        "far too fast",
        "TOO_QUICKLY",
        "You finished the task far too fast to have read what it asks.",
    ),
    "machine": Reason(
        "Looks written by a language model",
        "looks written by a language model",
        rejects=False,
    ),
    OWN: Reason("Another reason, in my own words", "another reason"),
}
"""By code, in the order in which they are offered."""

CLOSING = (
    "A person compared your answers with those of the other participants before this was decided; "
    "write to us if you think that it is wrong."
)


def told_to_worker(category: str, reason: str) -> str:
    """Return what a rejected worker reads on a panel: at least 100 characters, as Prolific asks."""
    known = REASONS.get(category, REASONS[OWN])
    own = reason.strip()
    if own and own[-1] not in ".!?…。":
        own += "."
    return " ".join(filter(None, [known.told, " ".join(own.split()), CLOSING]))


def _of_partner(of: Mapping[str, Any]) -> str:
    if not of["read"]:
        return f"There is no question that {of['other']} answered too."
    if not of["same"]:
        return (
            f"None of the {counted(of['read'], 'answer')} to questions that both answered is the "
            f"same as {of['other']}'s."
        )
    verb = "is" if of["same"] == 1 else "are"
    return (
        f"{of['same']:,} of {counted(of['read'], 'answer')} {verb} the same as {of['other']}'s, "
        "but for light edits."
    )


def _standing(of: Mapping[str, Any]) -> str:
    if of["rank"] is None:
        return "Answered too little to be ranked."
    return f"Rank {of['rank']:,} of {of['ranked']:,}."


def _times(of: Mapping[str, Any]) -> str:
    me, other, n = of["me"], of["other"], of["n"]
    after, before = of["after"] + of["later"], of["before"] + of["earlier"]
    together, unsure = of["together"], of["later"] + of["earlier"]
    if not n:
        return ""
    if not after and not before and not together:
        return (
            "When they answered is not known: the answers alone cannot say who could have copied "
            "from whom."
        )
    known = after + before + together
    some = (
        ""
        if known == n
        else f" (of {counted(n, 'answer')}, the times of {_number(known)} are known)"
    )
    if after and not before and not together:
        said = f"{other} was first, {_how_often(after)}{some}: {me} could have copied from {other}"
    elif before and not after and not together:
        said = f"{me} was first, {_how_often(before)}{some}: {other} could have copied from {me}"
    elif together and not after and not before:
        return (
            f"Both were at work at the same time, {_how_often(together)}{some}: either could have "
            "copied from the other, or both from one source."
        )
    else:
        parts = [
            f"{other} was first {_times_over(after)}" if after else "",
            f"{me} {_times_over(before)}" if before else "",
            f"they were at work together {_times_over(together)}" if together else "",
        ]
        return (
            f"{', '.join(filter(None, parts))}{some}: either could have copied from the other, or "
            "both from one source."
        )
    if unsure:
        return (
            f"{said}. When they began is not known, so they may also have worked side by side, or "
            "from one source."
        )
    return f"{said}, not the other way round; both may have used one source."


def _number(n: Any) -> str:
    # In the table of all words a sum is one of names.
    return f"{n:,}" if isinstance(n, int) else str(n)


def _how_often(n: int) -> str:
    return "the one time" if n == 1 else f"all {_number(n)} times"


def _times_over(n: int) -> str:
    return "once" if n == 1 else f"{_number(n)} times"


def _without(of: Mapping[str, Any]) -> str:
    return (
        f"{counted(of['out'], 'person')} left out; {of['left']:,} of "
        f"{counted(of['all'], 'person')} and {of['answers']:,} of "
        f"{counted(of['all_answers'], 'answer')} remain."
    ).replace("persons", "people")


def _thin(of: Mapping[str, Any]) -> str:
    if not of["questions"]:
        return "Every question that had 3 answers or more keeps at least 3."
    verb = "keeps" if of["questions"] == 1 else "keep"
    return (
        f"{counted(of['questions'], 'question')} {verb} fewer than 3 answers: too few for a "
        "consensus that does not hang on one person."
    )


def _rest(of: Mapping[str, Any]) -> str:
    n, named, again, silent = of["n"], of["named"], of["again"], of["silent"]
    parts = []
    if n:
        parts.append(f"{counted(n, 'person')} of whom nobody decided would be accepted")
        if silent:
            parts.append(f"{_number(silent)} of them gave no answer")
    elif named or again:
        parts.append("Nobody else is undecided")
    else:
        return f"Everybody is decided ({_number(of['decided'])})."
    if named and of["with_alarms"]:
        parts.append(f"{_number(named)} of them although an alarm or a notice names them")
    elif named:
        parts.append(f"{_number(named)} named by an alarm or a notice {_stay(named)} open")
    if again:
        parts.append(f"{_number(again)} to be looked at again {_stay(again)} open")
    return f"{'; '.join(parts)}."


def _stay(n: int) -> str:
    return "stays" if n == 1 else "stay"


TRIAGE: Mapping[str, Sentence] = {
    "triage.standing": _standing,
    "triage.nothing": "No alarm and no notice names this person.",
    "triage.partner": _of_partner,
    "triage.times": _times,
    "triage.without": _without,
    "triage.thin": _thin,
    "triage.rest": _rest,
    "order.unknown": "times not known",
    "order.before": "this answer was there first",
    "order.earlier": "this answer was sent first",
    "order.after": "the other answer was there first",
    "order.later": "the other answer was sent first",
    "order.together": "written at the same time",
}
"""By what is said of whom; names are those of the pages, and stored nowhere."""
