"""An answer that is no number but an expression with a variable, such as 3n + 5.

English words end a run of other tokens; a run of letters, digits, brackets and signs of the four
operations is an expression if it holds a letter.
"""

from __future__ import annotations

import re

from evaluation.flow.umwp.english import is_word
from evaluation.flow.umwp.pieces import FIXED, LAST, PAPER, sentences

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
"""Abbreviations of units, ordinals and the like: no variables behind a number or by themselves."""

_OF_NUMBER = re.compile(
    r"(?<![A-Za-z0-9])\d[\d.,]*(?P<unit>[A-Za-z]{1,4})(?:\d|\^\d)?(?![A-Za-z0-9])"
)
_UNIT_BY_UNIT = re.compile(r"(?<![A-Za-z])([A-Za-z]{1,3})\s?/\s?([A-Za-z]{1,3})(?![A-Za-z])")
# Marks of formulas in TeX.
_TEX = re.compile(r"\$(?=[A-Za-z(])|(?<=[A-Za-z)])\$|\\[()\[\]]")
_TIMES = re.compile(r"(?<=[\d)])\s*[xX×]\s*(?=[\d(])")
# A variable that has its value has done its work.
_SOLVED = re.compile(r"(?<![A-Za-z0-9])([A-Za-z])\s*(?:=|is|equals)\s*[-$€£]?\d")
_NAMED = re.compile(
    r"\b(?:let|where|suppose|assume|denote|call|say|if|using|variable|unknown|with|as|by|for|of|"
    r"solve)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_LONE_CAPITAL = re.compile(r"\b(?:is|are|be|was|equals?|answer)\s*:?\s*$", re.IGNORECASE)


def expression_in(reply: str, rules: str = FIXED) -> str | None:
    """Return the expression with a variable in the last three sentences; None if there is none.

    Fixed rules: neither units and ordinals (5cm, 3rd), nor names and other long tokens, nor a sign
    of multiplication (3 x 5), nor a variable that the reply solves (x = 7) or only introduces (let
    x be ...) is one.
    """
    for sentence in sentences(reply, rules)[-LAST:]:
        found = _in_paper(sentence) if rules == PAPER else _in_fixed(sentence, reply)
        if found is not None:
            return found
    return None


def _in_paper(sentence: str) -> str | None:
    run = ""
    for token in [*_TOKEN.findall(sentence), None]:
        if token is not None and token in _SKIPPED:
            continue
        if token is not None and not is_word(token):
            run += token
            continue
        if _EXPRESSION.fullmatch(run) and _LETTER.search(run):
            return run
        run = ""
    return None


def _in_fixed(sentence: str, reply: str) -> str | None:
    solved = {letter.lower() for letter in _SOLVED.findall(reply)}
    text = _TIMES.sub("*", _TEX.sub(" ", sentence))
    text = _OF_NUMBER.sub(_without_unit, _UNIT_BY_UNIT.sub(_without_units, text))
    run, start = "", 0
    for token in [*_TOKEN_FIXED.finditer(text), None]:
        if token is not None and token[0] in _SKIPPED:
            continue
        if token is not None and not run and token[0] == "=":
            continue  # "total = 20n" tells the answer, "x + y = 10" does not
        if token is not None and not _ends_run(token[0]):
            start = start if run else token.start()
            run += token[0]
            continue
        if _EXPRESSION_FIXED.fullmatch(run) and _is_open(run, text[:start], solved):
            return run
        run = ""
    return None


def _without_unit(found: re.Match[str]) -> str:
    """Drop a unit behind a number; any other letter stays, as in 3n."""
    is_unit = found["unit"].lower() in UNITS
    return found[0][: found.start("unit") - found.start()] if is_unit else found[0]


def _without_units(found: re.Match[str]) -> str:
    """Drop a unit of speed or price, such as km/h."""
    return " " if all(part.lower() in UNITS for part in found.groups()) else found[0]


def _ends_run(word: str) -> bool:
    if is_word(word):
        return True
    if _LETTER.search(word) is None:
        return word in ":;"
    bare = re.sub(r"\d", "", word)
    # Names, misspelt and foreign words are long; products of variables are short.
    return len(bare) > 2 or (len(bare) > 1 and bare.lower() in UNITS) or "'" in word


def _is_open(run: str, before: str, solved: set[str]) -> bool:
    """Whether a run holds a variable of which the reply does not say the value."""
    letters = _LETTER.findall(run)
    if not letters or all(letter.lower() in solved for letter in letters):
        return False
    if len(run.strip("()[]")) > 1:
        # A list of options, (A), or an abbreviation, TV, is no expression.
        return re.search(r"[\d+\-*/]", run) is not None or (run.islower() and len(letters) > 1)
    if letters[0].isupper():
        return _LONE_CAPITAL.search(before) is not None
    return _NAMED.search(before) is None
