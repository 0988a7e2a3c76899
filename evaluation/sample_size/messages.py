"""Messages of crowd size trials and of answer plans, by message code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.core.messages.message import Sentence, format_count

AGREEMENT_NAMES = {
    "workers": "agreement with the experts about workers",
    "answers": "agreement with the experts about answers",
    "crowd": "agreement with the whole crowd",
}


def format_sufficient_size(values: Mapping[str, Any]) -> str:
    """Return the sentence on how many workers or questions suffice, and where gains end."""
    by, full, least, plateau = values["by"], values["full"], values["enough"], values["plateau"]
    what = AGREEMENT_NAMES.get(values["measure"], values["measure"])
    if least is None or least == full:
        return f"All {full} {by} are needed: fewer reach less than 95% of their {what}."
    if values["measure"] == "crowd":
        first = f"With {least} {by} the result agrees with that of all {full} by .95 or more"
    else:
        first = (
            f"With {least} {by} you reach 95% of the {what} that {full} give "
            f"(correlation {values['correlation']:.2f}; 1 is perfect)"
        )
    if plateau is None or plateau == full:
        return f"{first}; up to {full}, more {by} still help a little."
    if plateau == least:
        return f"{first}, and nothing is gained beyond them."
    return f"{first}; beyond {plateau} nothing is gained."


CROWD_SIZE: Mapping[str, Sentence] = {
    "crowd_size.enough": format_sufficient_size,
    "crowd_size.no_agreement": lambda values: (
        f"No number of {values['by']} can be named: even all {values['full']} show no "
        f"{AGREEMENT_NAMES.get(values['measure'], values['measure'])} that chance could not give "
        f"(correlation {values['correlation']:.2f})."
    ),
    "crowd_size.no_correlation": lambda values: (
        f"No number of {values['by']} can be named: the "
        f"{AGREEMENT_NAMES.get(values['measure'], values['measure'])} is undefined, "
        "because all grades or all scores are the same."
    ),
    "crowd_size.by_workers": "It rests on experts' grades of {judged:answer} of "
    "{judged_workers:worker}: each worker's mean score is compared with the mean of these grades.",
    "crowd_size.by_answers": "It rests on experts' grades of {judged:answer} of only "
    "{judged_workers:worker}, too few to compare workers: each answer's score is compared with "
    "its grade.",
    "crowd_size.by_crowd": "No expert has judged an answer, so smaller crowds are compared with "
    "the result of the whole crowd of {workers}. This shows when the result settles, not when "
    "it is right; let an expert judge some answers to learn that.",
}


def format_money(amount: float | None, currency: str | None) -> str:
    """Return an amount of money with its currency, in two to four decimals; "" for None."""
    if amount is None:
        return ""
    # Single answers can cost fractions of a cent.
    whole, _, decimals = f"{amount:,.4f}".partition(".")
    text = f"{whole}.{decimals[:2]}{decimals[2:].rstrip('0')}"
    return f"{currency} {text}" if currency else text


def _format_cost(values: Mapping[str, Any]) -> str:
    """Return a phrase with the cost, such as " for USD 3.00"; "" if no cost is known."""
    return f" for {values['cost']}" if values["cost"] else ""


def _format_questions(values: Mapping[str, Any]) -> str:
    """Return the sentence on how many more answers to buy for existing questions."""
    least, most, n = values["least"], values["most"], values["questions"]
    where = "1 question" if n == 1 else f"each of {n:,} questions"
    number = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    noun = "answer" if most == 1 else "answers"
    total = "" if n == 1 else f", {format_count(values['more'], 'answer')} in all"
    return f"{number} more {noun} on {where}{total}{_format_cost(values)}."


def _format_new_questions(values: Mapping[str, Any]) -> str:
    """Return the sentence on how many new questions to add, with how many answers each."""
    whose = "workers and models" if values["narrow"] == "both" else values["narrow"]
    return (
        f"{format_count(values['questions'], 'further question')} with "
        f"{format_count(values['each'], 'answer')} each, {values['answers']:,} in all"
        f"{_format_cost(values)}, until half of the scores of {whose} have an interval of "
        f"{values['width']:g} or less: further questions make intervals narrower, "
        "more people do not."
    )


def _format_beyond(values: Mapping[str, Any]) -> str:
    """Return the sentence on how many questions need more answers than the limit, and why."""
    n = values["questions"]
    what = "1 question is" if n == 1 else f"{n:,} questions are"
    why = (
        "no number of answers would settle them, since they have nothing in common"
        if values["hopeless"]
        else f"it would take {values['least']:,} further answers or more, above the "
        f"{values['most']:,} "
        "that you would buy"
    )
    return f"{what} not bought for: {why}. Read the answers first: a question may be unclear."


def _format_new_people(values: Mapping[str, Any]) -> str:
    """Return the sentence on how many new workers must be found."""
    n = values["newcomers"]
    return (
        f"At least {'1 new person' if n == 1 else f'{n:,} new people'} must be found, because "
        f"no worker answers a question twice."
    )


def _format_settled(values: Mapping[str, Any]) -> str:
    """Return the sentence on how many questions have a consensus that is precise enough."""
    n, total = values["settled"], values["questions"]
    are = "is" if n == 1 else "are"
    return (
        f"{n:,} of {format_count(total, 'question')} {are} settled: what people agree on is "
        f"off by {values['within']:g} or less."
    )


PLAN: Mapping[str, Sentence] = {
    "plan.settled": _format_settled,
    "plan.questions": _format_questions,
    "plan.new": _format_new_questions,
    "plan.people": _format_new_people,
    "plan.beyond": _format_beyond,
    "plan.reached": "Nothing has to be bought: both targets are reached.",
    "plan.forecast": "All of this is a forecast: it takes for granted that new answers scatter as "
    "the old ones do, and that people err independently. People who copy make it too hopeful.",
}
STANDINGS: Mapping[str, str] = {
    "settled": "settled",
    "wanted": "wants more answers",
    "alone": "too few answers for a forecast",
    "beyond": "needs more than you would buy",
}
