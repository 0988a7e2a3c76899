"""Store a panel's file row by row, so it can be returned with approvals and rejections filled in.

Rows belong to the submissions of their workers and are deleted with them. Only the newest file with
an assignment stores it, so that a batch that is downloaded again replaces the older rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from annotations.exchange.importing.target import BATCH
from annotations.models import PanelFile, PanelRow, QuestionSetVersion, Submission
from annotations.models.panel_files import LONGEST_NAME


class PanelFileRow(NamedTuple):
    """One row of a panel's file: its worker, the panel's id of the assignment, all its cells."""

    worker: str
    assignment: str
    cells: list[str]


def store_panel_file(
    version: QuestionSetVersion,
    name: str,
    panel: str,
    header: Sequence[str],
    rows: Iterable[PanelFileRow],
) -> None:
    """Store the rows of a panel's file after its answers; leave out rows of unknown workers."""
    file = PanelFile.objects.create(version=version, name=name[:LONGEST_NAME], header=list(header))
    for start, chunk in _split_rows_in_chunks(rows):
        submissions = dict(
            Submission.objects.filter(
                version=version,
                worker__panel=panel,
                worker__external_id__in={row.worker for row in chunk},
            ).values_list("worker__external_id", "pk")
        )
        assignments = [row.assignment for row in chunk if row.assignment]
        PanelRow.objects.filter(file__version=version, assignment__in=assignments).delete()
        PanelRow.objects.bulk_create(
            PanelRow(
                file=file,
                submission_id=submissions[row.worker],
                position=position,
                assignment=row.assignment[:LONGEST_NAME],
                cells=row.cells,
            )
            for position, row in enumerate(chunk, start)
            if row.worker in submissions
        )
    PanelFile.objects.filter(version=version, rows=None).delete()


def _split_rows_in_chunks(rows: Iterable[PanelFileRow]) -> Iterator[tuple[int, list[PanelFileRow]]]:
    """Yield (position of the first row, rows) in chunks of at most 2,000 rows."""
    start, remaining = 0, iter(rows)
    while chunk := list(islice(remaining, BATCH)):
        yield start, chunk
        start += len(chunk)
