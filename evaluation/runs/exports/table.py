"""Define a table to download: columns, rows read while they are written, and its expected size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.db.models import QuerySet

from annotations.exchange.writing.formats import FORMATS, write_table
from annotations.models import QuestionSetVersion, ScopedQuerySet
from annotations.models.access import AnyUser

AT_ONCE = 2000
"""Rows fetched by one call."""

Row = Sequence[object]


@dataclass(frozen=True)
class Export:
    """A table of a version's data to download.

    Attributes
    ----------
    what : "answers", "model-answers", "questions" or "passages".
    rows : begins anew with every call.
    n_rows : as counted beforehand; n_characters : of the long texts, about the size of the file.
    """

    what: str
    version: QuestionSetVersion
    header: tuple[str, ...]
    rows: Callable[[], Iterator[Row]]
    n_rows: int
    n_characters: int

    @property
    def about_bytes(self) -> int:
        """Estimated size of the CSV file in bytes: the long texts, and 6 bytes per cell."""
        return self.n_characters + self.n_rows * 6 * len(self.header)

    def chunks(self, kind: str) -> Iterator[bytes]:
        """Return the table as a file in a format of `FORMATS`, in chunks of bytes."""
        return FORMATS[kind](self.header, self.rows())

    def write(
        self, path: Path, kind: str, progress: Callable[[str, int, int], None] | None = None
    ) -> int:
        """Write the table to a file, all or nothing; return the number of bytes.

        `progress` is called with what it is, rows done and rows in all. Raises `InputError` if the
        place cannot be written to, or a text is not for the format.
        """
        return write_table(path, kind, self.header, self._counted(progress))

    def _counted(self, progress: Callable[[str, int, int], None] | None) -> Iterator[Row]:
        done = 0
        for done, row in enumerate(self.rows(), 1):
            if progress is not None and done % AT_ONCE == 0:
                progress(self.what, done, max(done, self.n_rows))
            yield row
        if progress is not None:
            progress(self.what, done, done)


def seen_by(user: AnyUser | None, rows: ScopedQuerySet) -> QuerySet:  # type: ignore[type-arg]
    """Return the rows that the user may see; all rows for None (a command)."""
    return rows.all() if user is None else rows.visible_to(user)
