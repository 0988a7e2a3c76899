"""Uploaded demographic exports: proposed roles of their columns, and a preview of the join."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet

from annotations.exchange.importing.demographics import (
    find_answered_version,
    find_sets_of_workers,
    preview_join,
)
from annotations.exchange.presets import Head, LocatedTable
from annotations.exchange.presets.demographics import (
    DemographicFile,
    DemographicMapping,
    StatusRule,
    propose_demographic_mapping,
    read_demographics,
)
from annotations.exchange.presets.joining import DemographicJoin, describe_status_counts
from annotations.exchange.problems import InputError
from annotations.exchange.reading.source import Source, make_stored_source
from annotations.models import QuestionSet, QuestionSetVersion, Upload

MAX_WORKERS_SHOWN = 3
Example = tuple[str, list[tuple[str, str]]]
"""A worker's id, with the name and the cell of each column that will be stored."""


@dataclass(frozen=True)
class JoinPreview:
    """Preview of joining a demographic export, or the error that prevents reading it.

    Attributes
    ----------
    counts : the number of submissions not approved, by status, as text; "" if there are none.
    examples : the first matched workers with the cells that will be stored.
    others : question sets in which the participants answered, with their number, if none did here.
    version : the version whose answers get the facts; None without one.
    notes : sentences on ids that are read in another form than in the file.
    """

    error: InputError | None = None
    join: DemographicJoin | None = None
    counts: str = ""
    examples: list[Example] = field(default_factory=list)
    others: list[tuple[QuestionSet, int]] = field(default_factory=list)
    version: QuestionSetVersion | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def has_answers(self) -> bool:
        """Whether the question set has answers by workers who may come from Prolific."""
        return self.join is not None and bool(self.join.n_matched or self.join.only_in_answers)


def propose_demographic_options(arranged: LocatedTable, head: Head) -> dict[str, Any]:
    """Return proposed options of a demographic export: table position, roles and status rule."""
    return {
        "arrangement": arranged.as_dict(),
        "mapping": propose_demographic_mapping(head).as_dict(),
        "statuses": StatusRule.REFUSE.value,
        "keep_ids": False,
    }


def open_demographic_source(staged: Upload) -> Source:
    """Return a stored demographic export as a source of rows, at its sheet and header row."""
    stored = make_stored_source(staged.name, staged.open_file, staged.file.size)
    return LocatedTable.from_dict(stored, staged.options["arrangement"]).source


def preview_demographic_join(
    staged: Upload, question_set: QuestionSet, others: QuerySet[QuestionSet]
) -> JoinPreview:
    """Return the preview of joining a stored demographic export; nothing is changed.

    `others` are the question sets in which the participants are looked up if none answered here.
    """
    try:
        mapping = DemographicMapping.from_dict(staged.options["mapping"])
        keep_ids = staged.options.get("keep_ids", False)
        file = read_demographics(open_demographic_source(staged), mapping, keep_ids=keep_ids)
    except InputError as error:
        return JoinPreview(error)
    join = preview_join(question_set, file)
    return JoinPreview(
        join=join,
        counts=describe_status_counts(join.statuses),
        examples=_list_example_workers(file, join),
        others=[] if join.n_matched else find_sets_of_workers(others, list(file.rows)),
        version=find_answered_version(question_set),
        notes=[warning.removesuffix(".") for warning in file.warnings],
    )


def _list_example_workers(file: DemographicFile, join: DemographicJoin) -> list[Example]:
    """Return the first matched workers as (id, list of (column, cell to store))."""
    only = frozenset(join.only_in_file)
    matched = [(name, row) for name, row in file.rows.items() if name not in only]
    return [
        (name, [(column, row.cells.get(column, "")) for column in join.columns])
        for name, row in matched[:MAX_WORKERS_SHOWN]
    ]
