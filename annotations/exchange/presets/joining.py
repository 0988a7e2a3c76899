"""Join the participants of a demographic export to the answers of a file, by the worker's id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from annotations.exchange.header import map_extra_cells
from annotations.exchange.presets.demographics import (
    ASKED_ABOUT,
    DemographicFile,
    StatusRule,
    format_first_workers,
)
from annotations.exchange.presets.own_rows import OwnRows
from annotations.exchange.presets.rows import MappedRows
from annotations.exchange.problems import Problems
from annotations.exchange.prolific import REJECTED, describe_status
from annotations.exchange.reading.mturk import MturkQuestion, MturkRows
from annotations.exchange.records import AnswerFacts, AnswerRecord


@dataclass(slots=True)
class DemographicJoin:
    """Match of a demographic export's participants with answers: ids, counts and columns.

    `only_in_file` and `only_in_answers` are ids. `statuses` counts the matched workers by each
    status in `ASKED_ABOUT`; `affected` are their ids. `replaced` counts, by column, the matched
    workers who had another value before.
    """

    file: str
    n_rows: int
    n_matched: int
    only_in_file: tuple[str, ...]
    only_in_answers: tuple[str, ...]
    columns: tuple[str, ...]
    ignored: tuple[str, ...]
    statuses: dict[str, int]
    affected: tuple[str, ...]
    n_deleted: int = 0
    n_withheld: int = 0
    replaced: dict[str, int] = field(default_factory=dict)

    @classmethod
    def from_workers(
        cls,
        file: DemographicFile,
        workers: Iterable[str],
        replaced: Mapping[str, int] | None = None,
    ) -> DemographicJoin:
        """Return the join of an export with the workers who gave answers."""
        known = dict.fromkeys(workers)
        matched = {name: row for name, row in file.rows.items() if name in known}
        affected = [name for name, row in matched.items() if row.status in ASKED_ABOUT]
        counts = Counter(matched[name].status for name in affected)
        return cls(
            file.name,
            len(file.rows),
            len(matched),
            tuple(name for name in file.rows if name not in known),
            tuple(name for name in known if name not in file.rows),
            file.mapping.extra,
            file.ignored,
            {status: counts[status] for status in ASKED_ABOUT if counts[status]},
            tuple(affected),
            file.n_deleted,
            file.n_withheld,
            dict(replaced or {}),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return all fields as JSON values, by name."""
        return asdict(self)

    def lines(self) -> Iterator[str]:
        """Yield sentences on who matches, and on the columns that are joined or ignored."""
        yield (
            f"Participants in {self.file}: {self.n_rows:,}; with answers: {self.n_matched:,}; only "
            f"in the file: {len(self.only_in_file):,}; workers only in the answers: "
            f"{len(self.only_in_answers):,}"
        )
        if self.only_in_file:
            yield f"Only in {self.file}: {format_first_workers(self.only_in_file)}"
        if self.only_in_answers:
            yield f"Only in the answers: {format_first_workers(self.only_in_answers)}"
        yield f"Joined as extra information: {', '.join(self.columns) or 'no column'}"
        if self.ignored:
            yield f"Columns of {self.file} ignored: {', '.join(self.ignored)}"
        for column, count in self.replaced.items():
            yield f"Another value of {column} is replaced, of workers: {count:,}"
        if self.n_deleted or self.n_withheld:
            yield (
                "Deleted by Prolific and read as missing: participants "
                f"{self.n_deleted:,}, cells of other participants {self.n_withheld:,}"
            )

    def describe_status_rule(self, rule: StatusRule, *, are_stored: bool = False) -> Iterator[str]:
        """Yield for each status in `ASKED_ABOUT` a sentence on how its answers are treated.

        Answers that `are_stored` already are flagged in place of being left out.
        """
        for status, count in self.statuses.items():
            done = "left out"
            if rule == StatusRule.KEEP:
                done = "kept"
            elif status == REJECTED or are_stored:
                done = "flagged as rejected"
            yield f"Workers with the status {describe_status(status)}: {count:,}; answers {done}"


class JoinedAnswers:
    """Reader of answers that adds the cells of a demographic export to each answer.

    It wraps a reader of answers and has its attributes. Rows of workers whose submission was
    returned or timed out are left out if the rule is APPLY, those of rejected ones are flagged.
    """

    def __init__(
        self, rows: MappedRows | MturkRows | OwnRows, file: DemographicFile, rule: StatusRule
    ) -> None:
        self._rows, self._file, self._rule = rows, file, rule
        self._workers: dict[str, None] = {}
        self._replaced: dict[str, set[str]] = {}
        self._left_out: Counter[str] = Counter()
        self.table, self.problems = rows.table, rows.problems

    @property
    def n_rows(self) -> int:
        """Number of answers, without those that were left out."""
        return self._rows.n_rows - self._left_out.total()

    @property
    def questions(self) -> dict[str, MturkQuestion]:
        """The questions that were answered, by their ids."""
        return self._rows.questions

    @property
    def join(self) -> DemographicJoin:
        """The join with the workers read so far; complete when all rows have been read."""
        replaced = {column: len(workers) for column, workers in self._replaced.items()}
        return DemographicJoin.from_workers(self._file, self._workers, replaced)

    @property
    def notes(self) -> list[str]:
        """Sentences on the file and on the join, complete when all rows have been read."""
        join = self.join
        notes = [*self._rows.notes, *join.lines(), *join.describe_status_rule(self._rule)]
        if n_answers := self._left_out.total():
            notes.append(f"Left out: answers {n_answers:,}, of workers {len(self._left_out):,}")
        return notes

    def __iter__(self) -> Iterator[tuple[AnswerRecord, int]]:
        """Yield (record, number) of each answer that counts, with the cells of its worker added."""
        for record, number in self._rows:
            self._workers[record.worker] = None
            row = self._file.rows.get(record.worker)
            if row is None:
                yield record, number
                continue
            is_asked_about = row.status in ASKED_ABOUT and self._rule == StatusRule.APPLY
            if is_asked_about and row.status != REJECTED:
                self._left_out[record.worker] += 1
                continue
            facts = record.facts or AnswerFacts(rejected=None)
            aside = map_extra_cells(record.extra, self.table.kept_aside)
            before = {**facts.extra, **aside}
            for column, cell in row.cells.items():
                if before.get(column) not in (None, "", cell):
                    self._replaced.setdefault(column, set()).add(record.worker)
            facts = replace(facts, extra={**before, **row.cells})
            if is_asked_about:
                facts = replace(facts, rejected=True)
            yield replace(record, extra=(), facts=facts), number

    def record_conflict(
        self, record: AnswerRecord, first_line: int, *, of_flag: bool = False
    ) -> None:
        """Record a problem: a worker answered a question twice, with different answers."""
        self._rows.record_conflict(record, first_line, of_flag=of_flag)

    def raise_problems(self) -> None:
        """Raise `InputError` if a row was bad, no worker matches, or a status has no decision."""
        self._rows.raise_problems()
        problems = Problems(self._file.name)
        record_join_problems(problems, self.join, self._rule, self._file.mapping.worker)
        problems.raise_if_any()


def record_join_problems(
    problems: Problems, join: DemographicJoin, rule: StatusRule, column: str
) -> None:
    """Record why a join cannot be made: no worker matches, or a status has no decision.

    `column` holds the participants' ids.
    """
    if not join.n_matched:
        values = {"first": format_first_workers(join.only_in_file, 1), "n": join.n_rows}
        answering = format_first_workers(join.only_in_answers, 1) or "none"
        problems.add_code(None, column, "participants_unmatched", answering=answering, **values)
    elif join.statuses and rule == StatusRule.REFUSE:
        problems.add_code(
            None,
            None,
            "panel_statuses_undecided",
            counts=describe_status_counts(join.statuses),
            workers=format_first_workers(join.affected),
        )


def describe_status_counts(statuses: Mapping[str, int]) -> str:
    """Return counts of workers by status as text, such as "2 returned, 1 rejected"."""
    return ", ".join(f"{count:,} {describe_status(status)}" for status, count in statuses.items())
