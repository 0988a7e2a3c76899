"""Words that make a number approximate or a bound: about, at least, at most."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.grading.facts.texts.tokens import Token

AT_MOST, EXACT, AT_LEAST = -1, 0, 1

_ABOUT = frozenset(
    [
        "about",
        "around",
        "approximately",
        "approx",
        "roughly",
        "circa",
        "ca",
        "c",
        "nearly",
        "almost",
        "~",
        "≈",
        "some",
        "estimated",
    ]
)
_ABOUT_AFTER = frozenset(("or so", "give or", "plus or", "ish"))
_PHRASES: dict[tuple[str, ...], int] = {
    ("at", "least"): AT_LEAST,
    ("more", "than"): AT_LEAST,
    ("greater", "than"): AT_LEAST,
    ("longer", "than"): AT_LEAST,
    ("shorter", "than"): AT_MOST,
    ("no", "shorter", "than"): AT_LEAST,
    ("no", "less", "than"): AT_LEAST,
    ("not", "less", "than"): AT_LEAST,
    ("no", "fewer", "than"): AT_LEAST,
    ("no", "more", "than"): AT_MOST,
    ("not", "more", "than"): AT_MOST,
    ("never", "more", "than"): AT_MOST,
    ("no", "longer", "than"): AT_MOST,
    ("at", "most"): AT_MOST,
    ("less", "than"): AT_MOST,
    ("fewer", "than"): AT_MOST,
    ("up", "to"): AT_MOST,
    ("over",): AT_LEAST,
    ("above",): AT_LEAST,
    ("exceeding",): AT_LEAST,
    ("minimum",): AT_LEAST,
    ("minimum", "of"): AT_LEAST,
    (">",): AT_LEAST,
    ("≥",): AT_LEAST,
    ("under",): AT_MOST,
    ("below",): AT_MOST,
    ("within",): AT_MOST,
    ("maximum",): AT_MOST,
    ("maximum", "of"): AT_MOST,
    ("<",): AT_MOST,
    ("≤",): AT_MOST,
}
_AFTER: dict[tuple[str, ...], int] = {
    ("or", "more"): AT_LEAST,
    ("or", "over"): AT_LEAST,
    ("or", "less"): AT_MOST,
    ("or", "fewer"): AT_MOST,
    ("at", "least"): AT_LEAST,
    ("at", "most"): AT_MOST,
    ("+",): AT_LEAST,
}


def is_about(tokens: Sequence[Token], at: int, end: int) -> bool:
    """Return whether the number in tokens `at` to `end` is approximate, as in "about 5"."""
    before = [one.lower for one in tokens[max(0, at - 2) : at]]
    if any(word in _ABOUT for word in before):
        return True
    return " ".join(one.lower for one in tokens[end : end + 2]) in _ABOUT_AFTER


def find_bound(tokens: Sequence[Token], at: int, end: int) -> int:
    """Return the bound of the number in tokens `at` to `end`: -1 at most, 1 at least, 0 exact."""
    before = [one.lower for one in tokens[max(0, at - 3) : at]]
    for length in (3, 2, 1):
        bound = _PHRASES.get(tuple(before[-length:])) if len(before) >= length else None
        if bound is not None:
            return bound
    for length in (2, 1):
        bound = _AFTER.get(tuple(one.lower for one in tokens[end : end + length]))
        if bound is not None and (length > 1 or tokens[end].glued):
            return bound
    return EXACT
