"""Confidence in a reply: the value it states, 0 to 100, and the tokens that begin its answers.

"85%", "85/100" and "8 out of 10" name their scale. The scale of bare values is decided per system.
They are shares of 1 if none of them is above 1 and one lies strictly between 0 and 1. Then "1" is
100, and "0.85" is 85. Otherwise they are per cent, and "1" is 1.

The first token of an answer is the token with the answer's first character. Most servers send only
the likeliest tokens there. A server that continues an unfinished reply can send all tokens: it gets
a second request with the reply up to that token.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, isfinite

from annotations.exchange.reading.several_answers import FirstTokenScores
from evaluation.core.backends.chat.contract import TokenLogprob

OUT_OF_RANGE = "confidence_out_of_range"
UNREADABLE = "confidence_unreadable"

_VALUE = re.compile(
    r"""\s*[(\[]?(?P<stated>(?:about|around|approximately|roughly|~|≈)?\s*
    (?P<number>[+-]?(?:\d+(?:[.,]\d+)?|[.]\d+))
    \s*(?:(?P<percent>%|percent|per\ cent|％)|(?:/|out\ of)\s*(?P<of>\d+(?:[.]\d+)?)\s*%?)?)
    [\s.)\]*_"'}]*""",
    re.VERBOSE | re.IGNORECASE,
)
_WORDS = (
    r"very|quite|high|highly|medium|moderate|low|none|zero|full|complete|certain|uncertain|n/?a"
)
# A labelled statement: the label, perhaps with further words, a mark, and the value.
_LABELLED = re.compile(
    r"""(?:^|(?<=[\s\[({"'*_,;.]))(?:(?:my|overall|final|verbali[sz]ed)\s+)*
    (?:confidence|certainty)(?:\s+(?:level|score|rating|value|estimate))?
    (?:\s*\([^()\n]{0,40}\))?["'*_\s]*(?::|=|\bis\b|-\s)["'*_\s]*(?P<value>[^\n]*)""",
    re.VERBOSE | re.IGNORECASE,
)
_SENTENCE = re.compile(
    r"""(?:\bI(?:\s+am|['’]m)\s+)?
    (?:(?P<before>[+-]?\d+(?:[.,]\d+)?\s*%)\s+(?:confident|certain|sure)\b
      |(?:confident|certain|sure)\s+(?:at\s+)?\(?(?P<behind>[+-]?\d+(?:[.,]\d+)?\s*%)\)?)
    (?:\s+that\b|[^.\n]*\.?)""",
    re.VERBOSE | re.IGNORECASE,
)
_MORE = re.compile(r"\b(?:answers?|solutions?|list)\b[^:=\n]{0,20}[:=]", re.IGNORECASE)


class ConfidenceError(ValueError):
    """A stated value that is no confidence; `code` is the reason."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def are_shares_of_one(values: Iterable[object]) -> bool:
    """Return whether one system states its confidence from 0 to 1, not in per cent."""
    bare = [number for number in map(_parse_bare_number, values) if number is not None]
    return any(0 < number < 1 for number in bare) and max(bare) <= 1


def _parse_bare_number(value: object) -> float | None:
    """Return the number in a value without a "%" or other scale; None for other values."""
    if value is None or isinstance(value, bool):
        return None
    match = _VALUE.fullmatch(str(value))
    if match is not None:
        has_scale = match["percent"] or match["of"]
        return None if has_scale else float(match["number"].replace(",", "."))
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number if isfinite(number) else None


def parse_confidence(value: str | float | bool, shares: bool = False) -> float:
    """Return a stated confidence, such as "85%" or 0.85, on the scale 0 to 100.

    A value is a number, or a text such as "85", "85 %", "0.85", "85/100", "8 out of 10" or "about
    85 percent".

    Parameters
    ----------
    shares : whether a bare value is a share of 1 (`are_shares_of_one`).

    Raises
    ------
    ConfidenceError : confidence_out_of_range; confidence_unreadable, also for a range of numbers
        or a word such as "high".
    """
    # bool is a subclass of int, so True would be read as 1.
    if isinstance(value, bool):
        raise ConfidenceError(UNREADABLE)
    match = _VALUE.fullmatch(str(value))
    if match is None:
        try:
            number = float(value)
        except ValueError:
            raise ConfidenceError(UNREADABLE) from None
        if number != number:  # NaN
            raise ConfidenceError(UNREADABLE)
        return _check_range(100 * number if shares else number)
    number = float(match["number"].replace(",", "."))
    if match["of"]:
        whole = float(match["of"])
        if not whole:
            raise ConfidenceError(UNREADABLE)
        return _check_range(100 * number / whole)
    if not match["percent"] and shares:
        number *= 100
    return _check_range(number)


def extract_confidence(reply: str) -> tuple[str | None, str]:
    """Return the confidence that a reply states, and the reply without that statement.

    The last statement counts. Without a statement return None and the reply as it is.
    """
    statements = sorted(
        [
            *map(_read_labelled_statement, _LABELLED.finditer(reply)),
            *map(_read_sentence_statement, _SENTENCE.finditer(reply)),
        ],
        key=lambda statement: statement[0] if statement else -1,
    )
    stated, rest = None, reply
    # Backwards, so that the offsets of earlier statements stay valid after a cut.
    for statement in reversed(statements):
        if statement is None:
            continue
        start, end, value = statement
        if end > len(rest):  # overlaps a later statement, which has been cut already
            continue
        stated = value if stated is None else stated
        rest = rest[:start].rstrip(" ([{,;*_") + " " + rest[end:]
    return stated, rest.strip() if stated is not None else reply


def _read_labelled_statement(match: re.Match[str]) -> tuple[int, int, str] | None:
    """Return (start, end, value) of a statement such as "Confidence: 85"; None without value."""
    line = match["value"]
    value = _VALUE.match(line)
    if value is None:
        is_word = re.match(_WORDS, line, re.IGNORECASE)
        return (match.start(), match.end(), line.strip(" .*_)\"'}")) if is_word else None
    rest = line[value.end() :]
    # Answers may follow on the same line: they do not belong to the statement.
    end = match.end() - len(rest) if _MORE.search(rest) else match.end()
    stated = value["stated"].strip()
    # A range, or a number that continues as a word, is unreadable: keep the whole line.
    if re.match(r"\s*(?:[-–]|to\b|or\b)\s*\d", rest) or _is_part_of_word(line, value):
        stated = line.strip()
    return match.start(), end, stated


def _is_part_of_word(line: str, value: re.Match[str]) -> bool:
    """Return whether a letter or digit follows the matched value directly, as in "85th"."""
    end = value.end("stated")
    return not line[end - 1].isspace() and line[end : end + 1].isalnum()


def _read_sentence_statement(match: re.Match[str]) -> tuple[int, int, str]:
    """Return (start, end, value) of a statement such as "I am 85% sure"."""
    return match.start(), match.end(), match["before"] or match["behind"]


def _check_range(number: float) -> float:
    """Return the number if it is from 0 to 100, else raise `ConfidenceError`."""
    if not 0 <= number <= 100:
        raise ConfidenceError(OUT_OF_RANGE)
    return number


OTHER_POSITION = "distribution_of_another_place"
TOKENS_OF_ANOTHER_TEXT = "tokens_of_another_text"
ANSWER_NOT_IN_TEXT = "answer_not_in_the_reply"
# Two requests to one model differ in the last digits, with other GPU kernels by some hundredths.
MOST_APART = 0.1


@dataclass(frozen=True, slots=True)
class AnswerStart:
    """An answer of a reply, its first token, and the reply up to that token (`before`)."""

    answer: str
    before: str
    token: TokenLogprob


def find_answer_starts(
    text: str, answers: Sequence[str], tokens: Sequence[TokenLogprob]
) -> tuple[list[AnswerStart], list[str]]:
    """Return the start of each answer in a reply, and a fault code per answer not located.

    If the tokens are not those of the text, no start and one code are returned.
    """
    faults: list[str] = []
    data = b"".join(token.data for token in tokens)
    # The tokens include the removed thinking, which may repeat the text: take the last match.
    shift = data.rfind(text.encode())
    if shift < 0:
        return [], [TOKENS_OF_ANOTHER_TEXT] if answers else []
    # Offsets count bytes, because a token may hold a part of a character.
    ends = []
    end = -shift
    for token in tokens:
        end += len(token.data)
        ends.append(end)
    answer_starts = []
    for answer, position in zip(answers, find_answer_positions(text, answers), strict=True):
        if position is None:
            faults.append(ANSWER_NOT_IN_TEXT)
            continue
        offset = len(text[:position].encode())
        number = next(n for n, end in enumerate(ends) if end > offset)
        begin = ends[number] - len(tokens[number].data)
        # "ignore", because a token may begin within a character. Below 0 it begins in the thinking.
        before = text.encode()[: max(0, begin)].decode("utf-8", "ignore")
        answer_starts.append(AnswerStart(answer, before, tokens[number]))
    return answer_starts, faults


def find_answer_positions(text: str, answers: Sequence[str]) -> list[int | None]:
    """Return the position of each answer's first character in a reply; None if missing.

    Of several occurrences the last one counts. Statements of confidence are ignored.
    """
    masked = _mask_confidence(text)
    positions: list[int | None] = [None] * len(answers)
    limit = len(masked)
    # Backwards: each answer must begin before the next one, which keeps to the last list.
    for number in range(len(answers) - 1, -1, -1):
        for spelling in _list_spellings(answers[number]):
            position = _find_last_occurrence(masked, spelling, limit)
            if position is not None:
                positions[number] = limit = position
                break
    return positions


def build_first_token_distribution(
    answer: str, token: TokenLogprob, vocabulary: int | None
) -> FirstTokenScores | None:
    """Return an answer's first-token distribution; None if the server sent no likeliest tokens."""
    if not token.top:
        return None
    rest = token.others
    return FirstTokenScores(
        answer,
        tuple(logprob for _, logprob in token.top),
        True,
        vocabulary,
        None if rest is None else (rest.tokens, rest.probability, rest.entropy),
    )


def is_same_position(first: TokenLogprob, again: TokenLogprob) -> bool:
    """Return whether two token distributions may belong to the same position in a reply.

    The likeliest token of the first must be about as likely in the second. That fails for a server
    that begins a new reply instead of continuing the unfinished one.
    """
    if not first.top:
        return True
    known = dict(again.top)
    data, logprob = max(first.top, key=lambda token: token[1])
    # A token that is not among the likeliest has about no probability: exp(-100). Servers may round
    # a log-probability to slightly above 0.
    return abs(exp(min(known.get(data, -100.0), 0.0)) - exp(min(logprob, 0.0))) <= MOST_APART


def _mask_confidence(text: str) -> str:
    """Return the text with each confidence statement replaced by null characters."""
    _, rest = extract_confidence(text)
    if rest == text:
        return text
    # The part between the common prefix and the common suffix is the statement.
    prefix = 0
    while prefix < min(len(text), len(rest)) and text[prefix] == rest[prefix]:
        prefix += 1
    suffix = 0
    while suffix < min(len(text), len(rest)) - prefix and text[-1 - suffix] == rest[-1 - suffix]:
        suffix += 1
    # Of the same length, so that positions in the result are positions in the text.
    return text[:prefix] + "\0" * (len(text) - prefix - suffix) + text[len(text) - suffix :]


def _list_spellings(answer: str) -> list[str]:
    """Return an answer's possible spellings in a reply: as it is, and escaped for JSON."""
    escaped = answer.replace("\\", "\\\\").replace('"', '\\"')
    coded = "".join(char if ord(char) < 128 else f"\\u{ord(char):04x}" for char in escaped)
    return list(dict.fromkeys((answer, escaped, coded)))


def _find_last_occurrence(text: str, spelling: str, limit: int) -> int | None:
    """Return the position of a spelling's last occurrence before `limit` as a whole word."""
    if not spelling:
        return None
    start = r"(?<!\w)" if spelling[0].isalnum() else ""
    end = r"(?!\w)" if spelling[-1].isalnum() else ""
    last = None
    for match in re.finditer(start + re.escape(spelling) + end, text[:limit]):
        last = match.start()
    return last
