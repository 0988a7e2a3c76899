"""The distribution over the first token of each answer, found in what the server said.

The tokens of a reply are laid over its text; the one that holds the first character of an answer
is its first token. From most servers come the likeliest tokens there. One that goes on where a
reply breaks off is asked again with the reply up to that token, for all tokens that there are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

from annotations.exchange.reading.several_answers import FirstTokenOf
from evaluation.backends.chat.distributions import TokenLogprob
from evaluation.flow.maqa.confidence import said_in

OF_ANOTHER_PLACE = "distribution_of_another_place"
TOKENS_OF_ANOTHER_TEXT = "tokens_of_another_text"
ANSWER_NOT_IN_TEXT = "answer_not_in_the_reply"
# Two askings of one model differ in the last digits, and with other kernels by some hundredths.
MOST_APART = 0.1


@dataclass(frozen=True, slots=True)
class AnswerStart:
    """Where an answer begins: `before` is the reply up to its first token."""

    answer: str
    before: str
    token: TokenLogprob

    def distribution(self, vocabulary: int | None) -> FirstTokenOf | None:
        """Return what the server said of the likeliest tokens there; None if it did not."""
        return distribution_of(self.answer, self.token, vocabulary)


def starts(
    text: str, answers: Sequence[str], tokens: Sequence[TokenLogprob]
) -> tuple[list[AnswerStart], list[str]]:
    """Return where the answers of a reply begin, and as codes what could not be found."""
    faults: list[str] = []
    data = b"".join(token.data for token in tokens)
    # The answer is the end of the reply: its thinking, put aside, may say the same before.
    shift = data.rfind(text.encode())
    if shift < 0:
        return [], [TOKENS_OF_ANOTHER_TEXT] if answers else []
    ends = []
    end = -shift
    for token in tokens:
        end += len(token.data)
        ends.append(end)
    found = []
    for answer, place in zip(answers, places_in(text, answers), strict=True):
        if place is None:
            faults.append(ANSWER_NOT_IN_TEXT)
            continue
        at = len(text[:place].encode())
        number = next(n for n, end in enumerate(ends) if end > at)
        begin = ends[number] - len(tokens[number].data)
        before = text.encode()[: max(0, begin)].decode("utf-8", "ignore")
        found.append(AnswerStart(answer, before, tokens[number]))
    return found, faults


def places_in(text: str, answers: Sequence[str]) -> list[int | None]:
    """Return where each answer stands in a reply: in the last list, not in its confidence."""
    hidden = _without_confidence(text)
    found: list[int | None] = [None] * len(answers)
    limit = len(hidden)
    for number in range(len(answers) - 1, -1, -1):
        for written in _writings(answers[number]):
            place = _last(hidden, written, limit)
            if place is not None:
                found[number] = limit = place
                break
    return found


def distribution_of(
    answer: str, token: TokenLogprob, vocabulary: int | None
) -> FirstTokenOf | None:
    """Return what is known of the distribution at a token, for an answer; None without any."""
    if not token.top:
        return None
    rest = token.others
    return FirstTokenOf(
        answer,
        tuple(logprob for _, logprob in token.top),
        True,
        vocabulary,
        None if rest is None else (rest.tokens, rest.probability, rest.entropy),
    )


def are_of_one_place(first: TokenLogprob, again: TokenLogprob) -> bool:
    """Whether two distributions may be of one place: the likeliest token is as likely in both.

    A server that begins a new reply where it should go on gives another one.
    """
    if not first.top:
        return True
    known = dict(again.top)
    data, logprob = max(first.top, key=lambda one: one[1])
    return abs(exp(min(known.get(data, -100.0), 0.0)) - exp(min(logprob, 0.0))) <= MOST_APART


def _without_confidence(text: str) -> str:
    """Return the text with what it says of its confidence covered, as long as before."""
    _, rest = said_in(text)
    if rest == text:
        return text
    same = 0
    while same < min(len(text), len(rest)) and text[same] == rest[same]:
        same += 1
    behind = 0
    while behind < min(len(text), len(rest)) - same and text[-1 - behind] == rest[-1 - behind]:
        behind += 1
    return text[:same] + "\0" * (len(text) - same - behind) + text[len(text) - behind :]


def _writings(answer: str) -> list[str]:
    """Return how an answer may be written: as it is, or as JSON has it."""
    escaped = answer.replace("\\", "\\\\").replace('"', '\\"')
    coded = "".join(char if ord(char) < 128 else f"\\u{ord(char):04x}" for char in escaped)
    return list(dict.fromkeys((answer, escaped, coded)))


def _last(text: str, written: str, limit: int) -> int | None:
    """Return where it stands last before a limit, not as a part of a word or number."""
    if not written:
        return None
    open_, end = (
        (r"(?<!\w)" if written[0].isalnum() else ""),
        (r"(?!\w)" if written[-1].isalnum() else ""),
    )
    found = None
    for match in re.finditer(open_ + re.escape(written) + end, text[:limit]):
        found = match.start()
    return found
