"""Report of an import: how many rows of a file were new, unchanged, repeated or superseded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

NOTHING_CHANGED = "Nothing changed: all of it was there already."
DRY_RUN = "This was a dry run: nothing was stored."
"""The last line of a report whose file brought nothing, and of one that stored nothing."""


@dataclass(slots=True)
class ImportReport:
    """Report of an import; `n_rows == n_new + n_unchanged + n_repeated + n_superseded`.

    `what` is answers, model answers, questions or passages. `n_repeated` rows repeat an earlier
    row of the file, another answer of the same worker replaced `n_superseded` rows,
    `n_unchanged` rows were stored before. `n_completed` of the new ones filled in a question
    whose text was not known. `n_empty` counts rows without an answer among the new
    and unchanged ones, `n_rejected` those rejected where they were collected, `n_reflagged` the
    unchanged ones whose flag alone was updated. The thinking was removed from `n_thinking` answers
    of models, and remains in `n_thinking_kept`. `created` counts rows of other kinds, such as
    workers; `notes` and `warnings` are sentences for people.
    """

    what: str
    file: str
    sha256: str
    question_set: str
    version: int
    n_rows: int
    n_new: int
    n_unchanged: int
    n_repeated: int
    n_empty: int = 0
    n_completed: int = 0
    n_rejected: int = 0
    n_reflagged: int = 0
    n_superseded: int = 0
    created: dict[str, int] = field(default_factory=dict)
    kept_aside: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    dry_run: bool = False
    n_thinking: int = 0
    n_thinking_kept: int = 0

    def __post_init__(self) -> None:
        counted = self.n_new + self.n_unchanged + self.n_repeated + self.n_superseded
        if self.n_rows != counted:
            raise AssertionError(f"{self.file}: rows were lost or doubled: {self}")

    @property
    def changed(self) -> bool:
        """Whether the import added anything or, in a dry run, would add anything."""
        return bool(self.n_new or self.n_reflagged or any(self.created.values()))

    def as_dict(self) -> dict[str, Any]:
        """Return all fields of the report as JSON values, by name."""
        return asdict(self)

    def lines(self) -> Iterator[str]:
        """Yield the report as sentences, one per line, for a terminal or a page."""
        yield f"{self.file} into {self.question_set}, version {self.version}"
        empty = f"; {self.n_empty} of them empty" if self.n_empty else ""
        again = f" + {self.n_superseded} superseded" if self.n_superseded else ""
        yield (
            f"{self.n_rows} {self.what} in the file = {self.n_new} new + "
            f"{self.n_unchanged} unchanged + {self.n_repeated} repeated{again}{empty}"
        )
        if self.n_rejected:
            yield (
                f"{self.n_rejected} of them were rejected where they were collected: they are "
                "flagged, and left out of runs"
            )
        if self.n_reflagged:
            yield f"{self.n_reflagged} unchanged ones got the flag of the file"
        if self.n_completed:
            yield f"{self.n_completed} questions got the text they lacked"
        created = [f"{count} {name}" for name, count in self.created.items() if count]
        if created:
            yield "Also new: " + ", ".join(created)
        if self.kept_aside:
            yield "Columns stored as extra information: " + ", ".join(self.kept_aside)
        yield from self.notes
        yield from (f"Warning: {warning}" for warning in self.warnings)
        if not self.changed:
            yield NOTHING_CHANGED
        elif self.dry_run:
            yield DRY_RUN
