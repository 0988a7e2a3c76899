"""Replies of systems to the wordings of items, a column a field: there may be millions."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from annotations.exchange import AnswerStatus

Ints = NDArray[np.int64]

STATUSES = tuple(AnswerStatus)
NO_REPLY = -1
CODE_OF = {status: code for code, status in enumerate(STATUSES)}
TEXT, EMPTY, ERROR = (
    CODE_OF[status] for status in (AnswerStatus.TEXT, AnswerStatus.EMPTY, AnswerStatus.ERROR)
)
MISSING = tuple(CODE_OF[status] for status in STATUSES if status.is_missing)
REFUSED = tuple(CODE_OF[status] for status in STATUSES if status.startswith("refused"))


@dataclass
class Replies:
    """Replies, one after the other, as numbers into lists of names.

    Attributes
    ----------
    systems : names in the order of first appearance. texts : distinct replies.
    of_system, items, variants, of_text, statuses : of each reply; items are numbers of the list of
        items, variant 0 is the original wording, statuses are numbers of `STATUSES`.
    lines : where each begins in its file, 0 where it has none.
    """

    systems: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    of_system: array[int] = field(default_factory=lambda: array("l"))
    items: array[int] = field(default_factory=lambda: array("l"))
    variants: array[int] = field(default_factory=lambda: array("l"))
    of_text: array[int] = field(default_factory=lambda: array("l"))
    statuses: array[int] = field(default_factory=lambda: array("b"))
    lines: array[int] = field(default_factory=lambda: array("l"))
    _systems: dict[str, int] = field(default_factory=dict)
    _texts: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.items)

    def add(
        self, system: str, item: int, variant: int, text: str, status: AnswerStatus, line: int = 0
    ) -> None:
        """Add a reply; one of status TEXT without any text is EMPTY."""
        if status is AnswerStatus.TEXT and not text.strip():
            status = AnswerStatus.EMPTY
        of_system = self.add_system(system)
        if (of_text := self._texts.get(text)) is None:
            of_text = self._texts[text] = len(self.texts)
            self.texts.append(text)
        self.of_system.append(of_system)
        self.items.append(item)
        self.variants.append(variant)
        self.of_text.append(of_text)
        self.statuses.append(CODE_OF[status])
        self.lines.append(line)

    def add_system(self, system: str) -> int:
        """Return the number of a system, which may be a new one."""
        number = self._systems.setdefault(system, len(self.systems))
        if number == len(self.systems):
            self.systems.append(system)
        return number

    def columns(self) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """Return of_system, items, variants, of_text and statuses as arrays of (N,)."""
        fields = (self.of_system, self.items, self.variants, self.of_text, self.statuses)
        return tuple(np.array(one, dtype=np.int64) for one in fields)  # type: ignore[return-value]

    def repetitions(self) -> tuple[Ints, Ints]:
        """Return the rows that repeat the system, item and variant of an earlier one, and which.

        Both are (D,), in the order of the later rows.
        """
        of_system, items, variants, _, _ = self.columns()
        order = np.lexsort((variants, items, of_system))
        same = np.ones(max(len(order) - 1, 0), dtype=np.bool_)
        for column in (of_system, items, variants):
            same &= column[order][1:] == column[order][:-1]
        # lexsort is stable: the first of a run of equal ones is the earliest row.
        begins = np.flatnonzero(np.concatenate([[True], ~same])) if len(order) else order
        run = np.searchsorted(begins, np.flatnonzero(same) + 1, side="right") - 1
        later, first = order[1:][same], order[begins[run]]
        by_row = np.argsort(later)
        return later[by_row], first[by_row]

    def without(self, rows: Ints) -> Replies:
        """Return the replies but for some rows."""
        if not len(rows):
            return self
        keep = np.ones(len(self), dtype=np.bool_)
        keep[rows] = False
        kept = Replies(self.systems, self.texts, _systems=self._systems, _texts=self._texts)
        for name in ("of_system", "items", "variants", "of_text", "statuses", "lines"):
            column = getattr(self, name)
            values = np.array(column)[keep]
            setattr(kept, name, array(column.typecode, values.tobytes()))
        return kept
