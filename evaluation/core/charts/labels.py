"""Shorten names to the space in a chart, so that different names keep different labels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from evaluation.core.charts.svg import LETTERS, estimate_letter_width

ELLIPSIS = "…"
FEWEST = 5


def fit_labels(names: Sequence[str], width: float, size: float = LETTERS) -> list[str]:
    """Return the names shortened to one line of at most `width` pixels, still distinct.

    See `told_apart`; the last resort is a number, which may stand out a little.
    """
    widest = max(map(estimate_letter_width, names), default=1.0)
    return shorten_distinctly(names, int(width / (size * widest)))


def shorten_distinctly(names: Sequence[str], most: int) -> list[str]:
    """Return the names shortened to `most` characters each (5 at least), still distinct.

    A name that is too long keeps its beginning and its end. Where that makes different names the
    same, they keep where they differ instead: what all of them begin or end with is cut. Names that
    differ in more places than there is room for get a number each at the end.
    """
    most = max(FEWEST, most)
    lines = [" ".join(name.split()) for name in names]
    distinct = list(dict.fromkeys(lines))
    short = {name: _cut_middle(name, most) for name in distinct}
    for alike in _group_equal_labels(short):
        short |= dict(zip(alike, _shorten_to_difference(alike, most), strict=True))
    labels_used: set[str] = set()
    for name in distinct:
        label, number = short[name], 1
        while label in labels_used:
            number += 1
            end = f"{ELLIPSIS}{number}"
            label = f"{short[name][: most - len(end)].rstrip(ELLIPSIS + ' ')}{end}"
        labels_used.add(label)
        short[name] = label
    return [short[line] for line in lines]


def _group_equal_labels(short: dict[str, str]) -> list[list[str]]:
    """Return the groups of names that have the same short label."""
    of: dict[str, list[str]] = {}
    for name, label in short.items():
        of.setdefault(label, []).append(name)
    return [alike for alike in of.values() if len(alike) > 1]


def _cut_middle(name: str, most: int) -> str:
    """Return the name, cut in the middle if it has more than `most` characters."""
    if len(name) <= most:
        return name
    end = most // 2 - 1
    return f"{name[: most - 1 - end].rstrip()}{ELLIPSIS}{name[len(name) - end :].lstrip()}"


def _count_common_letters(names: Sequence[str]) -> int:
    """Return how many letters at the beginning all names share."""
    columns = zip(*names, strict=False)
    return sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, columns))


def _shorten_to_difference(alike: Sequence[str], most: int) -> list[str]:
    """Return names with equal beginning and end, shortened to the part that differs."""
    first = _count_common_letters(alike)
    last = _count_common_letters([name[first:][::-1] for name in alike])
    shortened = []
    for name in alike:
        differs = name[first : len(name) - last]
        # A few letters of the beginning say of what family it is.
        room = most - 2
        head = min(first, max(0, (room - len(differs)) // 2))
        tail = min(last, max(0, room - len(differs) - head))
        core = differs if len(differs) <= room else _cut_middle(differs, room)
        before = name[:head].rstrip()
        after = name[len(name) - tail :].lstrip() if tail else ""
        cut_before = ELLIPSIS if head < first else ""
        cut_after = ELLIPSIS if tail < last else ""
        shortened.append(f"{before}{cut_before}{core}{cut_after}{after}")
    return shortened
