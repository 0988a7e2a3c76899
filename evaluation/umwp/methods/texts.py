"""Sentences, numbers and expressions with a variable in the text of a reply.

Split replies into sentences and into windows of six words (Sun et al. 2024).

Find numbers and expressions with a variable in the text of a reply.

English words end a run of other tokens. An expression such as 3n + 5 is a run of letters, digits,
brackets and the signs of the four operations that contains a variable. The words are those of
pyspellchecker's dictionary (MIT, 160,000 words).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from spellchecker import SpellChecker

FIXED, PAPER = "fixed", "paper"
WINDOW = 6
N_LAST_SENTENCES = 3

_ENDS = re.compile(r"[.!?\n。！？．｡\u2028\u2029\r]+")
# A point between digits is that of a decimal number.
_ENDS_FIXED = re.compile(r"(?:[!?\n。！？｡\u2028\u2029\r]|(?<!\d)[.．]|[.．](?!\d))+")
_PUNCTUATION = re.compile(r"[^\w\s]$")


def split_sentences(reply: str, rules: str = FIXED) -> list[str]:
    """Return the nonempty sentences of a reply, split at . ! ? and line ends.

    The full stops of Chinese and Japanese end a sentence too. With the rules "paper" a decimal
    point ends a sentence; with "fixed" it does not.
    """
    ends = _ENDS if rules == PAPER else _ENDS_FIXED
    return [part.strip() for part in ends.split(reply) if part.strip()]


def normalize_sentence(sentence: str) -> str:
    """Return a sentence in lower case, without final punctuation and extra white space."""
    return _PUNCTUATION.sub("", " ".join(sentence.lower().split())).strip()


def list_windows(reply: str, rules: str = FIXED) -> list[str]:
    """Return all runs of six consecutive words within a sentence of a reply, in lower case.

    A sentence of six words or fewer is one window.
    """
    result = []
    for sentence in split_sentences(reply, rules):
        words = normalize_sentence(sentence).split()
        if not words:
            continue
        starts = range(max(1, len(words) - WINDOW + 1))
        result += [" ".join(words[start : start + WINDOW]) for start in starts]
    return result


# The dictionary lists every letter and many pairs of letters as rare words.
LETTERS = frozenset({"a", "i"})
_COMMON = 1000


def is_english_word(token: str) -> bool:
    """Return whether a token is an English word or a common name, in any case."""
    word = token.lower().replace("’", "'")
    if len(word) == 1:
        return word in LETTERS
    return _load_dictionary().get(word, 0) >= (_COMMON if len(word) == 2 else 1)


@cache
def _load_dictionary() -> Mapping[str, int]:
    """Return the frequency of each English word, from the spell checker's dictionary."""
    frequencies: Mapping[str, int] = SpellChecker(language="en").word_frequency.dictionary
    return frequencies


_TOKEN = re.compile(
    r"""(?:'s|’s)(?![A-Za-z])            # of a genitive
    |[A-Za-z]+(?:['’][A-Za-z]+)+        # don't
    |[0-9A-Za-z]+                       # a word, a number, or both, such as 5cm and 2x
    |[^\s0-9A-Za-z]""",
    re.VERBOSE,
)
_TOKEN_FIXED = re.compile(
    r"""(?:'s|’s)(?![A-Za-z])
    |[A-Za-z]+(?:['’][A-Za-z]+)+
    |\d[\d,]*\.\d+[A-Za-z]*
    |[0-9A-Za-z]+
    |[^\s0-9A-Za-z]""",
    re.VERBOSE,
)
# Tokens that neither belong to a run nor end it.
_SKIPPED = frozenset({",", ".", "'s", "’s", '"', "'", "’", "‘", "“", "”", "`", "``", "''"})
_EXPRESSION = re.compile(r"[0-9A-Za-z()+\-*/\[\]]+")
_EXPRESSION_FIXED = re.compile(r"[0-9A-Za-z.()+\-*/\[\]]+")
_LETTER = re.compile(r"[A-Za-z]")

_UNITS = """
    mm cm dm m km in ft yd mi mg g kg lb lbs oz ml cl dl l gal qt pt s sec secs min mins h hr hrs
    wk wks mo mos yr yrs am pm mph kph kmh kmph fps rpm hz khz mhz ghz kb mb gb tb kw kwh ma
    kj cal kcal pa kpa bar usd eur gbp cad aud inr rs st nd rd th sq cu pcs pc no nos vs
    etc eg ie approx avg max hwy ok tv tvs dvd dvds cd cds
"""
UNITS = frozenset(_UNITS.split())
"""Abbreviations of units and ordinals: they are not variables, after a number or alone."""

_NUMBER_WITH_UNIT = re.compile(
    r"(?<![A-Za-z0-9])\d[\d.,]*(?P<unit>[A-Za-z]{1,4})(?:\d|\^\d)?(?![A-Za-z0-9])"
)
_UNIT_BY_UNIT = re.compile(r"(?<![A-Za-z])([A-Za-z]{1,3})\s?/\s?([A-Za-z]{1,3})(?![A-Za-z])")
# Marks of formulas in TeX.
_TEX = re.compile(r"\$(?=[A-Za-z(])|(?<=[A-Za-z)])\$|\\[()\[\]]")
_TIMES = re.compile(r"(?<=[\d)])\s*[xX×]\s*(?=[\d(])")
# A variable whose value the reply gives (x = 7) does not leave the problem open.
_SOLVED = re.compile(r"(?<![A-Za-z0-9])([A-Za-z])\s*(?:=|is|equals)\s*[-$€£]?\d")
# Words before a variable that the reply only introduces, such as "let x be".
_NAMED = re.compile(
    r"\b(?:let|where|suppose|assume|denote|call|say|if|using|variable|unknown|with|as|by|for|of|"
    r"solve)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
# A single capital is a variable only as the answer: "the answer is N", not "option A".
_LONE_CAPITAL = re.compile(r"\b(?:is|are|be|was|equals?|answer)\s*:?\s*$", re.IGNORECASE)


def find_variable_expression(reply: str, rules: str = FIXED) -> str | None:
    """Return the first expression with a variable in a reply's last three sentences, or None.

    With the rules "fixed" these are not variables: units and ordinals (5cm, 3rd), names and other
    long tokens, a multiplication sign (3 x 5), and a variable that the reply solves (x = 7) or only
    introduces (let x be ...).
    """
    for sentence in split_sentences(reply, rules)[-N_LAST_SENTENCES:]:
        expression = (
            _find_expression_by_paper_rules(sentence)
            if rules == PAPER
            else _find_expression_by_fixed_rules(sentence, reply)
        )
        if expression is not None:
            return expression
    return None


def _find_expression_by_paper_rules(sentence: str) -> str | None:
    """Return a sentence's first expression with a variable by the published script's rules."""
    run = ""
    for token in [*_TOKEN.findall(sentence), None]:
        if token is not None and token in _SKIPPED:
            continue
        if token is not None and not is_english_word(token):
            run += token
            continue
        if _EXPRESSION.fullmatch(run) and _LETTER.search(run):
            return run
        run = ""
    return None


def _find_expression_by_fixed_rules(sentence: str, reply: str) -> str | None:
    """Return a sentence's first expression whose variable the reply leaves unsolved."""
    # A variable that an earlier sentence solves is not open in a later one.
    solved = {letter.lower() for letter in _SOLVED.findall(reply)}
    text = _TIMES.sub("*", _TEX.sub(" ", sentence))
    text = _NUMBER_WITH_UNIT.sub(_drop_unit, _UNIT_BY_UNIT.sub(_drop_unit_ratio, text))
    run, start = "", 0
    for token in [*_TOKEN_FIXED.finditer(text), None]:
        if token is not None and token[0] in _SKIPPED:
            continue
        if token is not None and not run and token[0] == "=":
            continue  # "total = 20n" gives the answer, "x + y = 10" does not
        if token is not None and not _is_end_of_formula(token[0]):
            start = start if run else token.start()
            run += token[0]
            continue
        if _EXPRESSION_FIXED.fullmatch(run) and _has_open_variable(run, text[:start], solved):
            return run
        run = ""
    return None


def _drop_unit(match: re.Match[str]) -> str:
    """Return a matched number without its unit of measurement; a variable stays, as in 3n."""
    is_unit = match["unit"].lower() in UNITS
    return match[0][: match.start("unit") - match.start()] if is_unit else match[0]


def _drop_unit_ratio(match: re.Match[str]) -> str:
    """Return a space for a unit of speed or price such as km/h, else the matched text."""
    return " " if all(part.lower() in UNITS for part in match.groups()) else match[0]


def _is_end_of_formula(word: str) -> bool:
    """Return whether a token ends a formula, because it cannot be part of one."""
    if is_english_word(word):
        return True
    if _LETTER.search(word) is None:
        return word in ":;"
    bare = re.sub(r"\d", "", word)
    # Names, misspelt and foreign words are long; products of variables are short.
    return len(bare) > 2 or (len(bare) > 1 and bare.lower() in UNITS) or "'" in word


def _has_open_variable(run: str, before: str, solved: set[str]) -> bool:
    """Return whether a formula contains a variable whose value the reply does not give."""
    letters = _LETTER.findall(run)
    if not letters or all(letter.lower() in solved for letter in letters):
        return False
    if len(run.strip("()[]")) > 1:
        # An option of a list, (A), and an abbreviation, TV, are no expressions.
        return re.search(r"[\d+\-*/]", run) is not None or (run.islower() and len(letters) > 1)
    if letters[0].isupper():
        return _LONE_CAPITAL.search(before) is not None
    return _NAMED.search(before) is None


_NUMBER = re.compile(
    r"""(?:(?<![\w)\]])(?<!\d\ )[-−](?=[$€£]?[\d.]))?[$€£]?   # a sign, and none between two numbers
    (?:\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|(?<!\d)\.\d+)""",
    re.VERBOSE,
)
_DIGITS = re.compile(r"\d+")
_ANSWER_IS = re.compile(r"\banswer\s+is\b", re.IGNORECASE)
# Relative tolerance: replies round numbers such as 1/3.
_CLOSE = 1e-6


def read_answer_number(reply: str) -> float | None:
    """Return the last number behind "answer is", else the last number of a reply, or None.

    Decimal points and thousands separators are read: 1,250.5 is one number.
    """
    phrases = list(_ANSWER_IS.finditer(reply))
    number = _read_last_number(reply[phrases[-1].end() :]) if phrases else None
    return _read_last_number(reply) if number is None else number


def is_right_number(reply: str, answers: tuple[float, ...], rules: str = FIXED) -> bool:
    """Return whether the number that a reply answers is one of the accepted numbers.

    With the rules "paper" a reply is right if any run of digits in its last three sentences is a
    right number. There 2.5 is read as 2 and 5, and 1,250 as 1 and 250.
    """
    if rules == PAPER:
        runs = _DIGITS.findall(" ".join(split_sentences(reply, PAPER)[-N_LAST_SENTENCES:]))
        # Much longer runs of digits overflow `float` to infinity.
        return any(float(digits) in answers for digits in runs if len(digits) < 300)
    number = read_answer_number(reply)
    return number is not None and any(
        abs(number - answer) <= _CLOSE * max(1.0, abs(answer)) for answer in answers
    )


def _read_last_number(text: str) -> float | None:
    """Return the last number in a text; None without one, or if it is over 300 characters long."""
    numbers = _NUMBER.findall(text)
    if not numbers or len(numbers[-1]) > 300:
        return None
    return float(re.sub(r"[,\s$€£]", "", numbers[-1]).replace("−", "-"))
