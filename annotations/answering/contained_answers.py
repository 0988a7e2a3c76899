"""Test whether a free text contains an accepted answer, as whole words that are not negated."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile, pairwise

UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u309f\u3400-\u4dbf\u4e00-\u9fff"
"""Thai, Lao, Burmese, Khmer, hiragana and Chinese have no spaces: each character is a word."""
INDIC = "\u0900-\u0963\u0966-\u0dff"
"""Scripts with vowel signs, which are no letters for `re`."""
TOKEN = re.compile(
    r"(?P<number>(?<!\w)[-+\u2212]?(?:\d+(?:[.,:]\d+)*|\.\d+)(?![.,:]?\d))"
    rf"|(?P<sign>[{UNSPACED}])"
    rf"|(?P<word>(?:(?![{UNSPACED}])(?:[^\W_]|[{INDIC}])'?)+)"
    r"|(?P<symbol>[#%&@$\u20ac\u00a3\u00b0+=<>*^|~])"
    r"|(?P<end>[.;:!?\u2026()\u3002\uff01\uff1f\u061f\u061b\u2013\u2014]+)"
    r"|(?P<comma>[,\u060c\u3001\uff0c]+)"
)
THOUSANDS = re.compile(r"-?\d{1,3}(?:,\d{3})+")
INITIALS = re.compile(r"\b(?:[^\W\d_]\.){2,}")
"""An abbreviation such as "U.S."."""


def _split_words(text: str) -> frozenset[str]:
    """Return the set of words in a text that is split at white space."""
    return frozenset(text.split())


NEGATIONS = _split_words(
    # English, German, Dutch, French, Spanish, Portuguese, Italian, Polish, Russian, Turkish,
    # Arabic, Hebrew, Hindi, Chinese
    "not no never neither nor none without cannot hardly except unlike "
    "nicht kein keine keinen keinem keiner keines nie niemals weder ohne niet geen nooit zonder "
    "non pas jamais sans nunca ni sin tampoco não nem sem mai senza bez "
    "не нет ни никогда без değil yok ليس ليست لا لم لن غير بدون לא אין בלי नहीं "
    "不 非 没 沒 未 無 无"
)
CONTRACTED = _split_words(
    "aint arent cant couldnt didnt doesnt dont hadnt hasnt havent isnt mustnt shouldnt wasnt "
    "werent wont wouldnt cannot"
)
"""Verbs that hold a negation, without apostrophe."""
CONTRASTS = _split_words("but rather instead sondern aber maar mais sino pero però بل لكن")
"""Words that end what a negation before them is about."""
EXCEPTIONS = frozenset(
    {("anything", "but"), ("everything", "but"), ("all", "but"), ("far", "from")}
)
ALTERNATIVES = _split_words("or nor oder noch of ou ni или أو ولا")
"""Words that go on with what a negation before the comma is about."""
SKIPPED = _split_words(
    "is was are were be it this that the a an do does did can could will would "
    "ist war es das est es fue è era"
)
"""Words between an answer and a negation after it."""
DENIALS = _split_words("wrong false incorrect untrue falsch faux falso sbagliato خطأ")
AFTER = ("ではない", "じゃない", "でない", "ではありません", "じゃありません", "değil")
"""Negations that follow what they negate: Japanese, Turkish."""
BEFORE = ("ไม",)
"""Negations of several characters that each count as a word: Thai."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence as words; `goes_on` if only a comma divides it from the part before."""

    words: tuple[str, ...]
    goes_on: bool


def contains_answer(text: str, accepted: Sequence[str]) -> bool:
    """Return whether a text contains an accepted answer that is not negated.

    Case, spacing, punctuation and the composition of characters are ignored. An answer is found
    as whole words in one part of a sentence: "it is yellow." contains "yellow", "yellowish" and
    "not yellow" do not. A number is one word with its sign and decimals. An answer such as "no"
    must be a part of the sentence by itself. An answer without a word, such as "?", must be the
    whole text.
    """
    clauses = list(_split_clauses(text))
    whole = _fold_text(text)
    for answer in accepted:
        # An answer may hold several parts of a sentence; punctuation does not separate its words.
        wanted = tuple(word for clause in _split_clauses(answer) for word in clause.words)
        if not wanted:
            if _fold_text(answer) == whole:
                return True
        elif _has_answer(clauses, wanted):
            return True
    return False


def _fold_text(text: str) -> str:
    """Return a text normalized for comparison: NFKC, case-folded, with single spaces."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    # Case folding can leave characters that are to be composed again.
    return " ".join(unicodedata.normalize("NFKC", folded).replace("\u2019", "'").split())


def _split_clauses(text: str) -> Iterator[Clause]:
    """Yield the clauses of a text: its parts between punctuation and before "but"."""
    words: list[str] = []
    goes_on = False
    for kind, word in _iterate_tokens(text):
        is_mark = kind in ("end", "comma")
        is_contrast = word in CONTRASTS and (*words[-1:], word) not in EXCEPTIONS
        if is_mark or is_contrast:
            if words:
                yield Clause(tuple(words), goes_on)
                words = []
            goes_on = kind == "comma"
        if not is_mark:
            words.append(word)
    if words:
        yield Clause(tuple(words), goes_on)


def _iterate_tokens(text: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, text) of each word, number, symbol and punctuation mark of a text."""
    plain = INITIALS.sub(lambda match: match.group().replace(".", ""), _fold_text(text))
    # Combining marks, which are left where no composed character exists, would divide words.
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    for match in TOKEN.finditer(plain):
        kind, word = match.lastgroup or "", match.group()
        if kind == "number":
            word = word.replace("\u2212", "-").removeprefix("+")
            yield kind, word.replace(",", "") if THOUSANDS.fullmatch(word) else word
        elif kind == "word" and "'" in word and word.replace("'", "") not in CONTRACTED:
            yield from ((kind, part) for part in word.split("'") if part)
        else:
            yield kind, word.replace("'", "")


def _has_answer(clauses: Sequence[Clause], wanted: tuple[str, ...]) -> bool:
    """Return whether the `wanted` words occur in sequence without a negation."""
    if len(wanted) == 1 and wanted[0] in NEGATIONS:
        return any(clause.words == wanted for clause in clauses)
    words = tuple(word for clause in clauses for word in clause.words)
    return any(
        words[start : start + len(wanted)] == wanted
        and not _is_negated(*_find_context(clauses, start, start + len(wanted)))
        for start in range(len(words) - len(wanted) + 1)
    )


def _find_context(
    clauses: Sequence[Clause], start: int, end: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words before and after the answer at `start` to `end` that may negate it."""
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    first = 0
    for number, clause in enumerate(clauses):
        last = first + len(clause.words)
        if first <= start < last:
            before = clause.words[: start - first]
            # "not green, red or yellow": the negation is about the whole list.
            at = number
            while at and clauses[at].goes_on and any(word in ALTERNATIVES for word in before):
                at -= 1
                before = clauses[at].words + before
        if first < end <= last:
            after = clause.words[end - first :]
        first = last
    return before, after


def _is_negated(before: Sequence[str], after: Sequence[str]) -> bool:
    """Return whether the words before and after an answer negate it."""
    negating = NEGATIONS | CONTRACTED
    if any(word in negating for word in before) or any(
        pair in EXCEPTIONS for pair in pairwise(before)
    ):
        return True
    if any(word in "".join(before) for word in BEFORE) or "".join(after).startswith(AFTER):
        return True
    rest = list(dropwhile(SKIPPED.__contains__, after))
    if not rest:
        return False
    # "yellow not green" negates the other answer.
    is_about_it = len(rest) < len(after) or len(rest) == 1
    return rest[0] in CONTRACTED or (is_about_it and rest[0] in negating | DENIALS)
