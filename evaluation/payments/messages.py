"""Messages of the payment pages: evidence, warnings, fairness, and drafts for rejected workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.core.messages.message import Sentence, format_count
from evaluation.core.messages.reasons import CLOSING

MAX_QUOTED = 2
"""Number of failed checks that a draft quotes."""
LONGEST_QUOTE = 100


def _format_share(n: int, m: int, noun: str) -> str:
    """Return the share `n` of `m` as text, such as "3 of 12 answers"."""
    return f"{n:,} of {format_count(m, noun)}"


def _describe_failed_checks(values: Mapping[str, Any]) -> str:
    """Return a sentence with the number of attention checks answered wrong."""
    verb = "was" if values["failed"] == 1 else "were"
    return (
        f"{_format_share(values['failed'], values['checks'], 'attention check')} {verb} answered "
        "otherwise than asked for."
    )


def _describe_empty_answers(values: Mapping[str, Any]) -> str:
    """Return a sentence with the number of questions without an answer."""
    return f"{_format_share(values['empty'], values['asked'], 'question')} left without an answer."


def _describe_repeated_text(values: Mapping[str, Any]) -> str:
    """Return a sentence with the number of answers that have the same text."""
    return f"The same text is in {_format_share(values['same'], values['answers'], 'answer')}."


def _describe_few_answers(values: Mapping[str, Any]) -> str:
    """Return a sentence with the small number of graded answers."""
    n_answers = format_count(values["answers"], "answer")
    return f"Only {n_answers} graded: too few for a grade."


def _describe_low_pay(values: Mapping[str, Any]) -> str:
    """Return a warning with the number of workers below the minimum hourly pay."""
    n = values["below"]
    verb = "earns" if n == 1 else "earn"
    return (
        f"{n:,} of {format_count(values['timed'], 'person')} with times {verb} less than "
        f"{values['least']} {values['currency']} an hour, bonus included: "
        f"the lowest {values['lowest']}."
    )


def _describe_unknown_pay(values: Mapping[str, Any]) -> str:
    """Return a warning that the hourly pay is unknown, with the missing value."""
    least = f"{values['least']} {values['currency']}".rstrip()
    unknown = "pay" if values["missing"] == "pay" else "time"
    return (
        f"Whether a worker earns less than {least} an hour is not known: the {unknown} of "
        "each worker is not recorded, so no warning is possible."
    )


def _describe_few_assistive(values: Mapping[str, Any]) -> str:
    """Return a sentence that too few workers use assistive technology for a comparison."""
    each_way = format_count(values["each_way"], "person")
    return (
        f"Assistive technology: too few people for a verdict. It needs {values['fewest']:,} or "
        f"more people who stated that they use it, {values['fewest']:,} or more who did not, a "
        f"good "
        f"result for {each_way} or more and a bad one for {each_way} or more. A difference also "
        "has to be larger than chance makes it."
    )


def _describe_unfair_assistive(values: Mapping[str, Any]) -> str:
    """Return a warning that one group is favoured less than four fifths as often as the other.

    No numbers: they could reveal which worker uses assistive technology.
    """
    worse, others = "people who stated that they use it", "all others"
    if not values["said"]:
        worse, others = others, worse
    return (
        f"Assistive technology: of {worse} a smaller share {values['done']} than of {others}, "
        "below four fifths of it. Look whether the rule itself is fair to them before it is "
        "applied. The numbers are hidden, so that they identify no worker."
    )


PAYING: Mapping[str, Sentence] = {
    "paying.no_data": "Handed in, and there is no answer at all.",
    "paying.checks": _describe_failed_checks,
    "paying.fast": "Took {minutes:.1f} min; half of the people took {median:.1f} min or more "
    "({timed:,} have times). A third of that is the line here.",
    "paying.empty": _describe_empty_answers,
    "paying.same": _describe_repeated_text,
    "paying.no_code": "Returned to the panel without a completion code.",
    "paying.bad_code": "Gave the panel the code {code}, which does not belong to this study.",
    "paying.withdrew": "Withdrew what they wrote: nothing is decided of it any more.",
    "paying.not_handed_in": "Did not hand in.",
    "paying.settled": "The panel has settled it: {status}.",
    "paying.part": "A part of the pay is planned instead of the whole: {amount} {currency}, "
    "{state}.",
    "paying.alarm": "An alarm names them: {words}.",
    "paying.lowest": "Stays in the lowest quarter of the ranks on whatever questions are drawn.",
    "paying.fine": "No problem found.",
    "paying.ungraded": "Not graded yet: only times, checks and empty answers are shown.",
    "paying.few": _describe_few_answers,
    "paying.unfair": "{group} ({what}): {hit:,} of {n:,} {done}; {best}: {best_hit:,} of "
    "{best_n:,}. That is {ratio:.2f} times as often (at most {ratio_high:.2f}, 95% interval), "
    "below 0.80 (four fifths). Look whether the rule itself is fair to them before it is applied.",
    "paying.assistive_few": _describe_few_assistive,
    "paying.assistive_fair": "Assistive technology: for neither people who stated that they use "
    "it nor all others is the share of those who {done} below four fifths of that of the other.",
    "paying.assistive_unfair": _describe_unfair_assistive,
    "paying.poor": _describe_low_pay,
    "paying.hourly_unknown": _describe_unknown_pay,
}
"""Messages by code; none of them is a decision."""

DRAFTS: Mapping[str, str] = {
    "NO_DATA": "Your submission was handed in without an answer to any of its questions.",
    "FAILED_CHECK": "Questions of the study that only check whether they are read were answered "
    "otherwise than they ask for",
    "TOO_QUICKLY": "You finished the study in {minutes:.1f} minutes, while half of the "
    "participants took {median:.1f} minutes or more: too fast to have read what it asks.",
    "LOW_EFFORT": "Your submission shows clear low effort",
    "NO_CODE": "You came back to the panel without the completion code that the last page of the "
    "study shows.",
    "BAD_CODE": "The completion code that you gave is none of those that this study shows at its "
    "end.",
}
"""Opening sentence of a rejection by category; it states only what was counted."""


def draft_rejection(
    category: str,
    evidence: Sequence[tuple[str, Mapping[str, Any]]],
    checks: Any = (),
) -> str:
    """Return a draft of the message to a rejected worker; "" without evidence.

    `evidence` are message codes with values, all of this category. The draft has the reason, the
    evidence and how to appeal, in 100 to 1,000 characters, as Prolific requires; a person edits it
    before it is sent.
    """
    if not evidence or category not in DRAFTS:
        return ""
    values = evidence[0][1]
    opening = DRAFTS[category]
    if category == "TOO_QUICKLY":
        opening = opening.format(**values)
    elif category == "FAILED_CHECK":
        quoted = "; ".join(
            f"“{_shorten_quote(check.text)}” (your answer: “{_shorten_quote(check.answer)}”)"
            for check in checks[:MAX_QUOTED]
        )
        opening += f" ({values['failed']} of {values['checks']}): {quoted}."
    elif category == "LOW_EFFORT":
        parts = [_describe_effort(code, counts) for code, counts in evidence]
        opening += f": {'; '.join(parts)}."
    return f"{opening} {CLOSING}"


def _describe_effort(code: str, values: Mapping[str, Any]) -> str:
    """Return a clause of a rejection draft for one kind of evidence of low effort."""
    if code == "paying.empty":
        return (
            f"{_format_share(values['empty'], values['asked'], 'question')} left without an answer"
        )
    return f"the same text in {_format_share(values['same'], values['answers'], 'answer')}"


def _shorten_quote(text: str) -> str:
    """Return a text on one line, cut to 100 characters."""
    words = " ".join(text.split())
    return words if len(words) <= LONGEST_QUOTE else f"{words[: LONGEST_QUOTE - 1]}…"
