"""How a worker's answers came about, in words that accuse nobody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.words.message import Sentence, counted


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
