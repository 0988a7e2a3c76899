"""Join Prolific's demographic export to the stored answers of its participants."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from annotations.exchange.importing.import_records import create_import
from annotations.exchange.importing.report import DRY_RUN, NOTHING_CHANGED
from annotations.exchange.importing.target import (
    BATCH,
    IDS,
    lock_question_set,
    open_transaction,
    split_in_chunks,
)
from annotations.exchange.presets import LocatedTable
from annotations.exchange.presets.demographics import (
    DemographicFile,
    DemographicMapping,
    StatusRule,
    read_demographics,
)
from annotations.exchange.presets.joining import DemographicJoin, record_join_problems
from annotations.exchange.problems import Problems
from annotations.exchange.reading.mturk import PANEL as MTURK
from annotations.exchange.reading.source import Readable, make_source
from annotations.models import (
    Import,
    JoinedFacts,
    QuestionSet,
    QuestionSetVersion,
    Response,
    Submission,
)


@dataclass(slots=True)
class DemographicReport:
    """Report on a demographic export that was joined to a version's answers.

    `n_new` counts workers whose extra information changes, `n_flagged` the answers that are newly
    flagged as rejected. `brought_by` is the id of the stored import, which can be undone; None if
    nothing changed or nothing was stored.
    """

    join: DemographicJoin
    version: int
    question_set: str
    n_new: int
    n_flagged: int
    rule: StatusRule
    warnings: list[str] = field(default_factory=list)
    dry_run: bool = False
    brought_by: UUID | None = None

    @property
    def changed(self) -> bool:
        """Whether the import changed anything or, in a dry run, would change anything."""
        return bool(self.n_new or self.n_flagged)

    def as_dict(self) -> dict[str, Any]:
        """Return the report's values as JSON values, for the page of an upload."""
        return {
            "what": "demographics",
            "version": self.version,
            "n_rows": self.join.n_rows,
            "n_new": self.n_new,
            "n_flagged": self.n_flagged,
            "import": None if self.brought_by is None else str(self.brought_by),
            "n_matched": self.join.n_matched,
            "n_only_in_file": len(self.join.only_in_file),
            "n_only_in_answers": len(self.join.only_in_answers),
            "notes": [*self.join.lines(), *self._describe_flags()],
            "warnings": self.warnings,
        }

    def lines(self) -> Iterator[str]:
        """Yield the report as sentences, one per line."""
        yield f"{self.join.file} into {self.question_set}, version {self.version}"
        yield from self.join.lines()
        yield from self._describe_flags()
        yield from (f"Warning: {warning}" for warning in self.warnings)
        if not self.changed:
            yield NOTHING_CHANGED
        elif self.dry_run:
            yield DRY_RUN

    def _describe_flags(self) -> Iterator[str]:
        """Yield sentences on panel statuses and on answers flagged as rejected."""
        yield from self.join.describe_status_rule(self.rule, are_stored=True)
        if self.n_flagged:
            yield f"Answers flagged as rejected, and left out of runs: {self.n_flagged:,}"


def import_demographics(
    question_set: QuestionSet,
    given: Readable,
    *,
    mapping: Mapping[str, Any],
    statuses: str = StatusRule.REFUSE,
    arrangement: Mapping[str, Any] | None = None,
    keep_ids: bool = False,
    dry_run: bool = False,
    imported_by: int | None = None,
) -> DemographicReport:
    """Store a demographic export's cells with the answers of its participants; return a report.

    What each answer had before is stored, so that the import can be undone.

    The answers are those of the version that has the newest answers; their workers have the panel
    Prolific or none. With the rule APPLY, answers of returned, timed-out and rejected submissions
    are flagged as rejected, so that runs leave them out. Ids such as 101.0 in a column of whole
    numbers are read as 101, unless `keep_ids`. Raises `InputError` for bad rows, for a
    file without a worker of the answers, and for statuses without a decision.
    """
    source = LocatedTable.from_dict(make_source(given), arrangement or {}).source
    roles = DemographicMapping.from_dict(dict(mapping))
    file = read_demographics(source, roles, keep_ids=keep_ids)
    rule = StatusRule(statuses)
    with open_transaction(dry_run):
        target = find_answered_version(question_set if dry_run else lock_question_set(question_set))
        submissions = load_submissions(target)
        stored = _load_answer_keys(submissions, file)
        join = DemographicJoin.from_workers(
            file, submissions, _count_replaced_workers(stored, file)
        )
        problems = Problems(file.name)
        record_join_problems(problems, join, rule, file.mapping.worker)
        problems.raise_if_any()
        changes = _collect_answer_changes(stored, file)
        rejected = join.affected if rule == StatusRule.APPLY else ()
        n_flagged = _mark_answers_rejected(
            changes, [key for name in rejected for key in submissions[name]]
        )
        n_new = len({change.worker for change in changes.values() if change.changes_cells})
        brought_by = None
        if target is not None and not dry_run and (n_new or n_flagged):
            _store_changes(changes)
            brought_by = _store_import_of_changes(
                changes, target, file, join, imported_by
            ).public_id
    return DemographicReport(
        join,
        target.number if target else 0,
        question_set.name,
        n_new,
        n_flagged,
        rule,
        file.warnings,
        dry_run,
        brought_by,
    )


def preview_join(question_set: QuestionSet, file: DemographicFile) -> DemographicJoin:
    """Return the join of a demographic export with the stored answers, without storing it."""
    submissions = load_submissions(find_answered_version(question_set))
    stored = _load_answer_keys(submissions, file)
    return DemographicJoin.from_workers(file, submissions, _count_replaced_workers(stored, file))


def find_answered_version(question_set: QuestionSet) -> QuestionSetVersion | None:
    """Return the newest published version with answers, else the latest; None without any."""
    return question_set.get_default_version(answered=True)


def load_submissions(version: QuestionSetVersion | None) -> dict[str, list[int]]:
    """Return the keys of a version's submissions that may be Prolific's, by worker id."""
    found: dict[str, list[int]] = {}
    rows = Submission.objects.filter(version=version, responses__state="submitted")
    # A worker without a panel may be Prolific's: survey files do not name it.
    rows = rows.filter(withdrawn_at=None).exclude(worker__panel=MTURK).distinct()
    for name, key in rows.order_by("pk").values_list("worker__external_id", "pk"):
        found.setdefault(name, []).append(key)
    return found


def find_sets_of_workers(
    sets: QuerySet[QuestionSet], workers: Sequence[str], most: int = 5
) -> list[tuple[QuestionSet, int]]:
    """Return (question set, number) of the sets in which most of these workers answered."""
    counts: Counter[int] = Counter()
    for chunk in split_in_chunks(workers, IDS):
        rows = Submission.objects.filter(worker__external_id__in=chunk, withdrawn_at=None)
        rows = rows.filter(version__question_set__in=sets, responses__state="submitted")
        pairs = rows.values_list("version__question_set", "worker__external_id").distinct()
        counts.update(key for key, _ in pairs)
    found = {
        question_set.pk: question_set
        for question_set in sets.filter(pk__in=[key for key, _ in counts.most_common(most)])
    }
    return [(found[key], count) for key, count in counts.most_common(most) if key in found]


_Stored = dict[tuple[str, str], list[int]]
"""Keys of answers by their worker and their extra information as JSON."""


def _load_answer_keys(submissions: Mapping[str, Sequence[int]], file: DemographicFile) -> _Stored:
    """Return the keys of the participants' answers, by (worker, extra information as JSON)."""
    names = {key: name for name in file.rows for key in submissions.get(name, ())}
    found: _Stored = {}
    for chunk in split_in_chunks(names, IDS):
        rows = Response.objects.filter(submission__in=chunk).order_by("pk")
        for key, submission, extra in rows.values_list("pk", "submission", "extra"):
            found.setdefault((names[submission], json.dumps(extra)), []).append(key)
    return found


def _count_replaced_workers(stored: _Stored, file: DemographicFile) -> dict[str, int]:
    """Return the number of workers whose stored value differs from the file's, by column."""
    replaced: dict[str, set[str]] = {}
    for name, text in stored:
        extra = json.loads(text)
        for column, cell in file.rows[name].cells.items():
            if extra.get(column) not in (None, "", cell):
                replaced.setdefault(column, set()).add(name)
    return {column: len(names) for column, names in replaced.items()}


@dataclass(slots=True)
class _AnswerChange:
    """Changes that a file makes to one answer: its extra cells, and whether it is rejected."""

    worker: str
    before: dict[str, Any]
    cells: dict[str, str]
    rejects: bool = False
    flagged: bool = False

    @property
    def changes_cells(self) -> bool:
        """Whether a cell of the file differs from the stored one."""
        return any(self.before.get(name) != cell for name, cell in self.cells.items())


def _collect_answer_changes(stored: _Stored, file: DemographicFile) -> dict[int, _AnswerChange]:
    """Return the changes that the file's cells make to the participants' answers, by answer key."""
    return {
        key: _AnswerChange(name, json.loads(text), file.rows[name].cells)
        for (name, text), keys in stored.items()
        for key in keys
    }


def _mark_answers_rejected(changes: Mapping[int, _AnswerChange], submissions: Sequence[int]) -> int:
    """Mark submitted answers as rejected in `changes`; return how many were not rejected before."""
    n_flagged = 0
    for chunk in split_in_chunks(submissions, IDS):
        rows = Response.objects.filter(submission__in=chunk, state="submitted")
        for key, was_rejected in rows.values_list("pk", "rejected"):
            changes[key].rejects, changes[key].flagged = True, not was_rejected
            n_flagged += not was_rejected
    return n_flagged


def _store_changes(changes: Mapping[int, _AnswerChange]) -> None:
    """Store the cells and flags of a file with the answers.

    The time of the change is set for flags only: runs do not read the cells, so grades stay
    current.
    """
    equal: dict[str, list[int]] = {}
    for key, change in changes.items():
        if change.changes_cells:
            after = json.dumps({**change.before, **change.cells})
            equal.setdefault(after, []).append(key)
    for text, keys in equal.items():
        for chunk in split_in_chunks(keys, IDS):
            Response.objects.filter(pk__in=chunk).update(extra=json.loads(text))
    flagged = [key for key, change in changes.items() if change.flagged]
    for chunk in split_in_chunks(flagged, IDS):
        Response.objects.filter(pk__in=chunk).update(rejected=True, updated_at=timezone.now())


def _store_import_of_changes(
    changes: Mapping[int, _AnswerChange],
    target: QuestionSetVersion,
    file: DemographicFile,
    join: DemographicJoin,
    imported_by: int | None,
) -> Import:
    """Store and return the import, with the earlier values of every answer that it changed."""
    changed = {
        change.worker for change in changes.values() if change.changes_cells or change.flagged
    }
    brought = create_import(
        Import.What.DEMOGRAPHICS,
        target,
        file,
        imported_by=imported_by,
        n_new=len(changed),
        n_unchanged=join.n_matched - len(changed),
        columns=list(join.columns),
    )
    assert brought is not None
    rows = (
        JoinedFacts(
            brought_by=brought,
            response_id=key,
            # All cells, also equal ones: undoing an earlier file must not take them away.
            stored=change.cells,
            before={name: change.before[name] for name in change.cells if name in change.before},
            rejects=change.rejects,
            flagged=change.flagged,
        )
        for key, change in changes.items()
        if change.cells or change.rejects
    )
    for batch in split_in_chunks(rows, BATCH):
        JoinedFacts.objects.bulk_create(batch)
    return brought
