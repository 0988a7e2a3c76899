"""A panel's file is kept beside its answers, whole: the panel takes it back with two cells filled.

Rows belong to the submissions of their workers, and go when these go. The newest file that has an
assignment has it alone, so that a batch that was downloaded again replaces what it knew before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from annotations.exchange.importing.target import BATCH
from annotations.models import PanelFile, PanelRow, QuestionSetVersion, Submission
from annotations.models.panel_files import LONGEST_NAME


class KeptRow(NamedTuple):
    """A row of the file: whose it is, the panel's id of the work, and all cells."""

    worker: str
    assignment: str
    cells: list[str]


def keep_panel_file(
    version: QuestionSetVersion,
    name: str,
    panel: str,
    header: Sequence[str],
    rows: Iterable[KeptRow],
) -> None:
    """Keep the rows of a file whose answers were stored just now; a row of nobody is left out."""
    file = PanelFile.objects.create(version=version, name=name[:LONGEST_NAME], header=list(header))
    for start, some in _parts(rows):
        submissions = dict(
            Submission.objects.filter(
                version=version,
                worker__panel=panel,
                worker__external_id__in={row.worker for row in some},
            ).values_list("worker__external_id", "pk")
        )
        known = [row.assignment for row in some if row.assignment]
        PanelRow.objects.filter(file__version=version, assignment__in=known).delete()
        PanelRow.objects.bulk_create(
            PanelRow(
                file=file,
                submission_id=submissions[row.worker],
                position=position,
                assignment=row.assignment[:LONGEST_NAME],
                cells=row.cells,
            )
            for position, row in enumerate(some, start)
            if row.worker in submissions
        )
    PanelFile.objects.filter(version=version, rows=None).delete()


def _parts(rows: Iterable[KeptRow]) -> Iterator[tuple[int, list[KeptRow]]]:
    start, left = 0, iter(rows)
    while some := list(islice(left, BATCH)):
        yield start, some
        start += len(some)
