"""The payment desk: what speaks for a decision, what a rejected worker reads, bonuses, fairness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.words.message import Sentence, counted
from evaluation.words.triage import CLOSING

SHOWN = 2
"""Failed checks that are quoted to a worker."""
LONGEST_QUOTE = 100


def _of(n: int, m: int, noun: str) -> str:
    return f"{n:,} of {counted(m, noun)}"


def _checks(of: Mapping[str, Any]) -> str:
    verb = "was" if of["failed"] == 1 else "were"
    return (
        f"{_of(of['failed'], of['checks'], 'attention check')} {verb} answered otherwise than "
        "asked for."
    )


def _empty(of: Mapping[str, Any]) -> str:
    return f"{_of(of['empty'], of['asked'], 'question')} left without an answer."


def _same(of: Mapping[str, Any]) -> str:
    return f"The same text stands in {_of(of['same'], of['answers'], 'answer')}."


def _few(of: Mapping[str, Any]) -> str:
    return f"Only {counted(of['answers'], 'answer')} graded: too few to say how good they are."


def _poor(of: Mapping[str, Any]) -> str:
    n = of["below"]
    verb = "earns" if n == 1 else "earn"
    return (
        f"{n:,} of {counted(of['timed'], 'person')} with times {verb} less than "
        f"{of['least']} {of['currency']} an hour, bonus included: the lowest {of['lowest']}."
    )


def _hourly_unknown(of: Mapping[str, Any]) -> str:
    least = f"{of['least']} {of['currency']}".rstrip()
    why = "what each person is paid" if of["missing"] == "pay" else "how long anybody took"
    return (
        f"Whether somebody earns less than {least} an hour is not known: nobody said {why} here, "
        "so nothing warns of it."
    )


def _few_for_assistive(of: Mapping[str, Any]) -> str:
    each_way = counted(of["each_way"], "person")
    return (
        f"Assistive technology: too few people to tell. It is told once {of['fewest']:,} or more "
        f"said that they use it and {of['fewest']:,} or more did not, and it turns out well for "
        f"{each_way} or more and badly for {each_way} or more."
    )


def _unfair_to_assistive(of: Mapping[str, Any]) -> str:
    worse, others = "people who said that they use it", "all others"
    if not of["said"]:
        worse, others = others, worse
    return (
        f"Assistive technology: of {worse} a smaller share {of['done']} than of {others}, below "
        "four fifths of it. Look whether the rule itself is fair to them before it is applied. "
        "Numbers are not told, so that nobody can be found out by them."
    )


PAYING: Mapping[str, Sentence] = {
    "paying.no_data": "Handed in, and there is no answer at all.",
    "paying.checks": _checks,
    "paying.fast": "Took {minutes:.1f} min; half of the people took {median:.1f} min or more "
    "({timed:,} have times). A third of that is the line here.",
    "paying.empty": _empty,
    "paying.same": _same,
    "paying.no_code": "Came back to the panel without a completion code.",
    "paying.bad_code": "Gave the panel the code {code}, which is none of this study's.",
    "paying.withdrew": "Withdrew what they wrote: nothing is decided of it any more.",
    "paying.not_handed_in": "Did not hand in.",
    "paying.settled": "The panel has settled it: {status}.",
    "paying.part": "A part of the pay stands there in place of the whole: {amount} {currency}, "
    "{state}.",
    "paying.alarm": "An alarm names them: {words}.",
    "paying.lowest": "Stays in the lowest quarter of the ranks on whatever questions are drawn.",
    "paying.fine": "Nothing speaks against it.",
    "paying.ungraded": "Not graded yet: only times, checks and empty answers were looked at.",
    "paying.few": _few,
    "paying.unfair": "{group} ({what}): {hit:,} of {n:,} {done}; {best}: {best_hit:,} of "
    "{best_n:,}. That is {ratio:.2f} times as often. Below 0.80 (four fifths) look "
    "whether the rule itself is fair to them before it is applied.",
    "paying.assistive_few": _few_for_assistive,
    "paying.assistive_fair": "Assistive technology: people who said that they use it and all "
    "others: of neither is the share of those who {done} below four fifths of that of the other.",
    "paying.assistive_unfair": _unfair_to_assistive,
    "paying.poor": _poor,
    "paying.hourly_unknown": _hourly_unknown,
}
"""By what is said; nothing here is a decision."""

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
"""How what a rejected worker reads begins, by category: what was counted, and no more."""


def draft(
    category: str,
    said: Sequence[tuple[str, Mapping[str, Any]]],
    checks: Any = (),
) -> str:
    """Return what a worker could read: the reason, what was counted, and how to answer.

    `said` are codes with values of evidence for the category. It has more than the 100 characters
    that Prolific asks for, and fewer than its 1,000. A person reads and changes it before it is
    sent; "" for a category without evidence.
    """
    if not said or category not in DRAFTS:
        return ""
    values = said[0][1]
    begin = DRAFTS[category]
    if category == "TOO_QUICKLY":
        begin = begin.format(**values)
    elif category == "FAILED_CHECK":
        quoted = "; ".join(
            f"“{_short(one.text)}” (your answer: “{_short(one.answer)}”)" for one in checks[:SHOWN]
        )
        begin += f" ({values['failed']} of {values['checks']}): {quoted}."
    elif category == "LOW_EFFORT":
        told = [_told(code, of) for code, of in said]
        begin += f": {'; '.join(told)}."
    return f"{begin} {CLOSING}"


def _told(code: str, of: Mapping[str, Any]) -> str:
    if code == "paying.empty":
        return f"{_of(of['empty'], of['asked'], 'question')} left without an answer"
    return f"the same text in {_of(of['same'], of['answers'], 'answer')}"


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= LONGEST_QUOTE else f"{words[: LONGEST_QUOTE - 1]}…"
