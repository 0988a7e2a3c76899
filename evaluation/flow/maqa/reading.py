"""The list of answers in a reply: the last one that stands there.

Lists that say themselves where an answer ends are preferred: JSON, then lines of their own. Else
the answers stand in one line, parted by semicolons, bars or commas.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass

from evaluation.texts.dont_know import says_dont_know

BRACKETS, LINES, DELIMITED = "brackets", "lines", "delimited"
# Words of a line that may be an answer; longer ones are sentences.
_FEW_WORDS = 8

_MARK = re.compile(r"\s*(?:[-*•‣◦▪–+]\s+|\(?\d{1,3}[.):、]\s+|\(?[A-Za-z][.)]\s+)(?P<text>\S.*)")
# The same without letters, which are answers themselves where a letter is to be chosen.
_MARK_OF_CHOICES = re.compile(r"\s*(?:[-*•‣◦▪–+]\s+|\(?\d{1,3}[.):、]\s+)(?P<text>\S.*)")
_FENCE = re.compile(r"^\s*```.*$", re.MULTILINE)
_ANSWER_WORDS = (
    r"answers?|solutions?|results?|list|values?|output|choices?|options?|response|conclusion"
)
_ANSWER_LABEL = re.compile(
    rf"\W*(?:(?:so|thus|hence|therefore|and),?\s+)?(?:(?:the|my|all|final|correct|possible|right|"
    rf"complete|full)\s+)*(?:{_ANSWER_WORDS})\b(?:\s+(?:is|are|include|includes))?\s*[*_]*\s*[:=]"
    r"\s*[*_]*",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|include|includes|included|be)\b(?:\s+(?:as\s+follows|the\s+following))?"
    r"\s*:?\s*",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"\W*(?:the|these|they|there|it|all|some|so|thus|hence|therefore|here|its|his|her|their|both|"
    rf"(?:correct|final|possible|right|{_ANSWER_WORDS}))\b",
    re.IGNORECASE,
)
_BEFORE_LIST = re.compile(
    rf"(?:^|[:=(]|\b(?:is|are|was|were|be|include|includes|{_ANSWER_WORDS}))[\s*_`]*$",
    re.IGNORECASE,
)
_DIGIT_COMMA = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_CONNECTIVE = re.compile(
    r"\W*(?:so|thus|hence|therefore|finally|overall|then|in (?:conclusion|summary|total)),?\s+",
    re.IGNORECASE,
)
_AND = re.compile(r"^(?:and|or|&)\s+", re.IGNORECASE)
_LAST_AND = re.compile(r"\s+(?:and|or)\s+", re.IGNORECASE)
_PAIRS = {"(": ")", "[": "]", "{": "}", "“": "”", "«": "»", "「": "」"}


@dataclass(frozen=True)
class Listed:
    """The answers of a reply, as they stand there, in order.

    `form` says how they stood. `whole` is the line that was divided, where one was.
    """

    answers: tuple[str, ...]
    form: str
    whole: str = ""


def read_answers(reply: str, letters: bool = False) -> Listed:
    """Return the last list of answers in a reply without what it says of its confidence.

    With `letters` (one is to be chosen) a line that begins with "A)" keeps it.
    """
    text = _FENCE.sub("", reply.replace("\r\n", "\n").replace("\r", "\n")).strip()
    if not text or says_dont_know(text):
        return Listed((), DELIMITED)
    found = _last_brackets(text)
    if found is not None:
        return Listed(tuple(found), BRACKETS)
    lines = [line.strip() for line in text.split("\n")]
    return _marked(lines, _MARK_OF_CHOICES if letters else _MARK) or _unmarked(lines)


def confidence_beside(reply: str) -> object:
    """Return what a reply that is a JSON object gives as its confidence; None without it."""
    for value in _json_values(reply, "{"):
        if isinstance(value, dict):
            for key in value:
                if str(key).casefold() in ("confidence", "certainty"):
                    return value[key]
    return None


def _last_brackets(text: str) -> list[str] | None:
    for value in reversed(_json_values(text, "{")):
        if isinstance(value, dict):
            for key, listed in value.items():
                if re.fullmatch(_ANSWER_WORDS, str(key), re.IGNORECASE):
                    found = _texts(listed if isinstance(listed, list) else [listed])
                    if found is not None:
                        return found
    last = None
    place = 0
    while (start := text.find("[", place)) >= 0:
        end = _end_of_list(text, start)
        place = start + 1
        if end is None:
            continue
        found = _of_brackets(text, start, end)
        if found is not None:
            last, place = found, end
    return last


def _json_values(text: str, opening: str) -> list[object]:
    decoder, found, place = json.JSONDecoder(), [], 0
    while (start := text.find(opening, place)) >= 0:
        try:
            value, place = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            place = start + 1
            continue
        found.append(value)
    return found


def _end_of_list(text: str, start: int) -> int | None:
    """Return where the bracket that opens at `start` is closed, behind it; None if it is not."""
    depth, quote = 0, ""
    for place in range(start, len(text)):
        char = text[place]
        if quote:
            quote = "" if char == quote and text[place - 1] != "\\" else quote
        elif char == '"' or (char == "'" and text[place - 1] in "[, "):
            quote = char
        elif char == "[":
            depth += 1
        elif char == "]":
            depth -= 1
            if not depth:
                return place + 1
    return None


def _of_brackets(text: str, start: int, end: int) -> list[str] | None:
    """Return the answers between two brackets; None for a reference such as [1], or a link."""
    inside = text[start:end]
    for read in (json.loads, ast.literal_eval):
        try:
            value = read(inside)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
        found = _texts(value) if isinstance(value, list) else None
        break
    else:
        bare = inside[1:-1]
        found = None if "[" in bare or "\n\n" in bare else _parts(" ".join(bare.split()))
    if found is None or text[end : end + 1] == "(":
        return None
    line = text[text.rfind("\n", 0, start) + 1 : start]
    has_quotes = any(mark in inside for mark in "\"'")
    return found if has_quotes or _BEFORE_LIST.search(line) else None


def _texts(values: list[object]) -> list[str] | None:
    if any(isinstance(one, bool) or not isinstance(one, str | int | float) for one in values):
        return None
    return [text for text in (str(one).strip() for one in values) if text]


def _marked(lines: list[str], mark_of: re.Pattern[str]) -> Listed | None:
    """Return the last run of lines with bullets or numbers, unless an answer follows it."""
    marks = [mark_of.fullmatch(line) for line in lines]
    last = next((i for i in range(len(lines) - 1, -1, -1) if marks[i]), None)
    if last is None:
        return None
    for line in reversed(lines[last + 1 :]):
        label = _ANSWER_LABEL.match(line)
        if label and line[label.end() :].strip():
            return _in_line(line)
        parts = _in_line(line).answers
        opened = _VERB.search(line) or ":" in line
        if opened and len(parts) > 1 and all(len(part.split()) <= 5 for part in parts):
            return Listed(parts, DELIMITED)
    first = last
    while first and (marks[first - 1] or not lines[first - 1]):
        first -= 1
    found = [_bare(mark["text"]) for mark in marks[first : last + 1] if mark]
    return Listed(tuple(text for text in found if text), LINES)


def _unmarked(lines: list[str]) -> Listed:
    for place in range(len(lines) - 1, -1, -1):
        label = _ANSWER_LABEL.match(lines[place])
        if label:
            if lines[place][label.end() :].strip():
                return _in_line(lines[place])
            return _block([line for line in lines[place + 1 :] if line])
    full = [line for line in lines if line]
    intro = next((i for i in range(len(full) - 1, -1, -1) if full[i].endswith(":")), None)
    if intro is not None and intro + 1 < len(full):
        return _block(full[intro + 1 :])
    if len(full) > 1 and all(map(_is_answer, full)):
        return _block(full)
    last: list[str] = []
    for line in reversed(lines):
        if not line:
            break
        last.insert(0, line)
    if len(last) > 1 and all(map(_is_answer, last)):
        return _block(last)
    return _in_line(full[-1])


def _block(lines: list[str]) -> Listed:
    kept: list[str] = []
    for line in lines:
        if kept and not _is_answer(line):
            break
        kept.append(line)
    if len(kept) < 2:
        return _in_line(kept[0]) if kept else Listed((), DELIMITED)
    return Listed(tuple(text for text in map(_bare, kept) if text), LINES)


def _is_answer(line: str) -> bool:
    """Whether a line may be an answer by itself, and no sentence."""
    words = line.split()
    ends = re.search(r"(?:\b\w{3,}|[)\d])[.!?]$", line) is not None
    return len(words) <= _FEW_WORDS and not (ends and len(words) > 3)


def _in_line(line: str) -> Listed:
    listed = _without_opening(line)
    return Listed(tuple(_parts(listed)), DELIMITED, _bare(listed))


def _without_opening(line: str) -> str:
    """Cut off what only says that answers follow."""
    label = _ANSWER_LABEL.match(line)
    if label:
        return line[label.end() :].strip()
    colon = line.find(":")
    if colon >= 0 and line[colon + 1 :].strip():
        before = line[:colon]
        says = re.search(
            rf"\b(?:is|are|was|were|includes?|follow\w*|{_ANSWER_WORDS})\b", before, re.I
        )
        if says and not re.search(r"[,;|]", before):
            return line[colon + 1 :].strip()
    connective = _CONNECTIVE.match(line)
    if connective:
        line = line[connective.end() :]
    verb = _VERB.search(line)
    if verb and _OPENING.match(line) and not re.search(r"[,;|]", line[: verb.start()]):
        return line[verb.end() :].strip()
    return line


def _parts(text: str) -> list[str]:
    text = text.strip().strip("*_`").strip()
    if text[:1] in _PAIRS and text.find(_PAIRS[text[0]]) == len(text) - 1:
        text = text[1:-1]
    for marks in (";；", "|", ",，、"):
        parts = _split(text, marks)
        if len(parts) > 1:
            break
    parts = [part for part in map(str.strip, parts) if part]
    if not parts:
        return []
    *before, last = parts[0], *(_AND.sub("", part) for part in parts[1:])
    # "A, B and C", or "A and B" alone; but not "A, B, and C and D", whose last one has an and.
    tail = _LAST_AND.split(last) if last == parts[-1] else [last]
    return [text for text in map(_bare, [*before, *(tail if len(tail) == 2 else [last])]) if text]


def _split(text: str, marks: str) -> list[str]:
    """Split at marks outside quotes and brackets; not inside a number such as 1,250."""
    parts, part, closing = [], "", ""
    inside_number = {found.start() for found in _DIGIT_COMMA.finditer(text)}
    for place, char in enumerate(text):
        if closing:
            closing = "" if char == closing else closing
        elif char == '"' and text.find('"', place + 1) > 0:
            closing = '"'
        elif char in _PAIRS and text.find(_PAIRS[char], place) > 0:
            closing = _PAIRS[char]
        elif char in marks and place not in inside_number:
            parts.append(part)
            part = ""
            continue
        part += char
    return [*parts, part]


def _bare(text: str) -> str:
    """Return an answer without marks of writing: bold, quotes, what ends a sentence or a line."""
    text = text.strip()
    bold = re.match(r"(\*\*|__)(?P<text>.+?)\1\s*(?:[:–—-]|$)", text)
    if bold:
        text = bold["text"]
    text = text.strip().strip("*_`").rstrip(",;").strip()
    text = re.sub(r"(?<=[\w)\]\"'”’])\.$", "", text) if not text.endswith("..") else text
    for opening, end in (('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("「", "」")):
        if len(text) > 1 and text[0] == opening and text[-1] == end and opening not in text[1:-1]:
            text = text[1:-1].strip()
    return text.rstrip(":").strip()
