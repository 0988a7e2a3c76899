"""What a plan says: what it buys, what it costs, what it does not buy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.words.message import Sentence, counted


def money(amount: float | None, currency: str | None) -> str:
    """Return an amount for people; "" without one."""
    if amount is None:
        return ""
    # A part of a cent is shown where a single answer costs one.
    shown = f"{amount:,.2f}"
    if round(amount, 2) != amount:
        shown = f"{amount:,.4f}".rstrip("0")
    return f"{currency} {shown}" if currency else shown


def _for(of: Mapping[str, Any]) -> str:
    return f" for {of['cost']}" if of["cost"] else ""


def _questions(of: Mapping[str, Any]) -> str:
    """Return the first thing to buy: "4 more answers on these 7 questions"."""
    least, most, n = of["least"], of["most"], of["questions"]
    where = "1 question" if n == 1 else f"each of {n:,} questions"
    number = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    noun = "answer" if most == 1 else "answers"
    total = "" if n == 1 else f", {counted(of['more'], 'answer')} in all"
    return f"{number} more {noun} on {where}{total}{_for(of)}."


def _new(of: Mapping[str, Any]) -> str:
    whose = "workers and models" if of["narrow"] == "both" else of["narrow"]
    return (
        f"{counted(of['questions'], 'further question')} with {counted(of['each'], 'answer')} "
        f"each, {of['answers']:,} in all{_for(of)}, until half of the scores of {whose} "
        f"have an interval of {of['width']:g} or less: further questions make intervals narrower, "
        "more people do not."
    )


def _beyond(of: Mapping[str, Any]) -> str:
    n = of["questions"]
    what = "1 question is" if n == 1 else f"{n:,} questions are"
    why = (
        "no number of answers would settle them, since they have nothing in common"
        if of["hopeless"]
        else f"it would take {of['least']:,} further answers or more, above the {of['most']:,} "
        "that you would buy"
    )
    return f"{what} not bought for: {why}. Read the answers first: a question may be unclear."


def _people(of: Mapping[str, Any]) -> str:
    n = of["newcomers"]
    return (
        f"At least {'1 new person' if n == 1 else f'{n:,} new people'} must be found, since nobody "
        "answers a question twice."
    )


def _settled(of: Mapping[str, Any]) -> str:
    n, total = of["settled"], of["questions"]
    are = "is" if n == 1 else "are"
    return (
        f"{n:,} of {counted(total, 'question')} {are} settled: what people agree on is "
        f"off by {of['within']:g} or less."
    )


PLAN: Mapping[str, Sentence] = {
    "plan.settled": _settled,
    "plan.questions": _questions,
    "plan.new": _new,
    "plan.people": _people,
    "plan.beyond": _beyond,
    "plan.reached": "Nothing has to be bought: both targets are reached.",
    "plan.forecast": "All of this is a forecast: it takes for granted that new answers scatter as "
    "the old ones do, and that people err independently. People who copy make it too hopeful.",
}
STANDINGS: Mapping[str, str] = {
    "settled": "settled",
    "wanted": "wants more answers",
    "alone": "too few answers to tell",
    "beyond": "needs more than you would buy",
}
