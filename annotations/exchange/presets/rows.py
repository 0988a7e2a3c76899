"""Read the answers of another tool's file, with its preset and a mapping of its columns."""

from __future__ import annotations

import glob
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from itertools import chain, islice
from typing import Any
from zoneinfo import ZoneInfo

from annotations.exchange.facts import read_seconds
from annotations.exchange.header import number_repeated_names
from annotations.exchange.ids import IdCleaner, extract_prolific_id, extract_wording, is_blank
from annotations.exchange.markup import FormattingReader, remove_formatting, strip_markup
from annotations.exchange.presets.attention import (
    find_attention_checks,
    find_unresolved_checks,
    is_right_answer,
)
from annotations.exchange.presets.cells import WORDS, compute_mean_words, is_json
from annotations.exchange.presets.columns import is_personal_column
from annotations.exchange.presets.header_rows import is_repeated_header
from annotations.exchange.presets.mapping import ROW_NUMBER, Mapping, Role
from annotations.exchange.presets.own_rows import OwnRows, convert_json_list
from annotations.exchange.presets.preset import Preset, get_named_cell
from annotations.exchange.presets.stray_rows import are_ids_without_spaces, find_stray_row_reason
from annotations.exchange.presets.table import (
    PEEKED,
    Head,
    is_header_missing,
    open_foreign_table,
    read_head,
)
from annotations.exchange.presets.times import (
    classify_time_columns,
    compute_elapsed_seconds,
    find_time_columns,
)
from annotations.exchange.problems import KEPT, Problems, describe_line
from annotations.exchange.reading.answers import LONGEST_ANSWER, report_damaged_ids
from annotations.exchange.reading.duplicates import DuplicateRule, Duplicates
from annotations.exchange.reading.mturk import COLUMNS, MturkQuestion, MturkRows, QuestionTemplate
from annotations.exchange.reading.mturk_columns import (
    ANSWER,
    INPUT,
    describe_form_fields,
    restore_spelling,
)
from annotations.exchange.reading.source import Readable, make_source
from annotations.exchange.reading.tables import OpenTable
from annotations.exchange.records import AnswerFacts, AnswerRecord
from annotations.exchange.whole_ids import WholeIdReader

PLACEHOLDER = re.compile(
    r"\{\{%?.*\}\}|\$\{.*\}|\[\w+\]|\[object Object\]|undefined|%\w+%", re.IGNORECASE
)
"""What survey tools write in place of an id that their link did not have."""
_ID_OF_INPUT = re.compile(r"(id|idx|index|number|num|row)$", re.IGNORECASE)
LISTED = 20
"""Workers that are named in a note."""
TRIAL = "test"
"""What authors of a survey write into every box when they try it."""
HEADERS = "rows that repeat the header"
QUESTIONS_NAMED = 8
"""Questions that a problem names, of those that a worker answered twice."""
GUESSED = ("worker", "question", "answer")


def propose_mapping(preset: Preset, head: Head, given: Readable) -> Mapping:
    """Return the column mapping that a preset proposes for a file, from the file's beginning.

    Its worker or its answers are empty where no column looks like it, and all of it where the file
    has no header row.
    """
    if not preset.is_fixed and is_header_missing(head):
        return Mapping(guessed=GUESSED)
    of_answers = drop_excluded_rows(preset, head)
    mapping = _separate_attention_checks(preset, preset.propose(of_answers), of_answers)
    if preset.slug == "mturk":
        fields = tuple(
            ANSWER + column.name
            for column in describe_form_fields(given, COLUMNS)
            if column.is_answer
        )
        return Mapping(mapping.worker, mapping.question, fields)
    if preset.is_fixed:
        return mapping
    return replace(mapping, guessed=GUESSED)


def _separate_attention_checks(preset: Preset, mapping: Mapping, head: Head) -> Mapping:
    """Return the mapping of a wide file with its attention checks moved out of the answers."""
    if mapping.question or preset.slug in ("own", "mturk"):
        return mapping
    known = {mapping.worker, mapping.text}
    rest = [name for name in head.header if name not in known]
    checks = find_attention_checks(head, rest)
    unclear = find_unresolved_checks(head, rest)
    found = replace(mapping, checks=checks).drop_checks_from_answers()
    answers = tuple(name for name in found.answers if name not in unclear)
    # A file of nothing but such columns stays as it was proposed.
    return replace(found, answers=answers) if answers else mapping


def drop_excluded_rows(preset: Preset, head: Head) -> Head:
    """Return the file's beginning without excluded rows; unchanged if all are excluded."""
    rows = [
        row for row in head.rows if not preset.find_exclusion_reason(map_cells_by_name(head, row))
    ]
    return replace(head, rows=rows) if rows else head


def assign_column_roles(head: Head, preset: Preset, mapping: Mapping) -> dict[str, Role]:
    """Return the role of each column of a file under a mapping, by column."""
    single = {mapping.worker: Role.WORKER, mapping.question: Role.QUESTION, mapping.text: Role.TEXT}
    times = find_time_columns(head, preset.times) if mapping.times is None else mapping.times
    roles = {
        **dict.fromkeys(mapping.ignored, Role.IGNORE),
        **dict.fromkeys(mapping.extra, Role.EXTRA),
        **dict.fromkeys(times, Role.TIME),
        **dict.fromkeys((column for column, _ in mapping.checks), Role.CHECK),
        **dict.fromkeys(mapping.answers, Role.ANSWER),
        # The later ones win: a column with several roles has the most important one.
        **single,
    }
    found = {}
    for name in filter(None, dict.fromkeys(head.header)):
        is_private = name not in roles and preset.has_private and is_personal_column(head, name)
        found[name] = roles.get(name, Role.IGNORE if is_private else Role.EXTRA)
    return found


def map_cells_by_name(head: Head, cells: Sequence[str]) -> dict[str, str]:
    """Return the cells of a row by the normalised names of their columns."""
    return {name: cells[at] for name, at in head.places.items()}


def open_answer_rows(
    given: Readable,
    preset: Preset,
    mapping: Mapping,
    duplicates: DuplicateRule = Duplicates.REFUSE,
    template: QuestionTemplate | None = None,
) -> MappedRows | MturkRows | OwnRows:
    """Return an iterable reader of a file's answers, of the class that the preset needs.

    `template` makes the wordings of the questions of Mechanical Turk out of its Input columns.
    """
    if preset.slug == "mturk":
        # `MturkRows` takes globs; these are names, in which a bracket is no pattern.
        chosen = [glob.escape(name) for name in mapping.answers]
        return MturkRows(given, template or _find_input_template(given), chosen, duplicates)
    is_own = preset.slug == "own" and mapping.question and len(mapping.answers) == 1
    if is_own and mapping.times is None and not mapping.text:
        return OwnRows(convert_json_list(given), mapping, duplicates, preset)
    return MappedRows(given, preset, mapping, duplicates)


def _find_input_template(given: Readable) -> QuestionTemplate | None:
    """Return a template of the only Input column with texts, if all others are ids; else None."""
    head = read_head(given)
    names = restore_spelling(head.header)
    inputs = {name: head.get_values(of) for name, of in zip(names, head.header, strict=True)}
    inputs = {name: values for name, values in inputs.items() if name.startswith(INPUT)}
    texts = [name for name, values in inputs.items() if compute_mean_words(values) >= WORDS]
    others = [name for name in inputs if name not in texts]
    if len(texts) != 1 or not others or not all(map(_ID_OF_INPUT.search, others)):
        return None
    field = texts[0].removeprefix(INPUT)
    return None if set("{}$") & set(field) else QuestionTemplate(f"${{{field}}}")


def _ignore_cell(column: str, code: str, /, **values: Any) -> None:
    """Ignore a bad cell (a `FaultRecorder`): it is stored with the answer's further cells."""


class MappedRows:
    """Reader of the answers of another tool's file; it yields records like `AnswerRows`.

    `questions` (by their ids), `skipped` (rows that are no answers, by the reason) and `left_out`
    (columns that identify or locate a person) are complete when all rows have been read;
    `n_rows` counts answers: rows times columns of answers. Cells that are not mapped stay with the
    answers. Raises `InputError` at the first row if a mapped column is not there.
    """

    def __init__(
        self,
        given: Readable,
        preset: Preset,
        mapping: Mapping,
        duplicates: DuplicateRule = Duplicates.REFUSE,
    ) -> None:
        self._preset, self._mapping = preset, mapping
        self.problems, self._ids = Problems(make_source(given).name), IdCleaner()
        self._foreign = foreign = open_foreign_table(given, self.problems)
        self._source, self.formatting = given, FormattingReader(preset.keeps_html)
        self.whole_ids = WholeIdReader({}, tuple)
        self.table = OpenTable(
            foreign.name, foreign.sha256, None, iter(()), [], set(), foreign.warnings
        )
        self.n_rows = self.n_people = self.n_blank = self.n_mails = 0
        self.questions: dict[str, MturkQuestion] = {}
        self.skipped: Counter[str] = Counter()
        self._duplicates = duplicates
        self.passed: dict[str, dict[str, bool]] = {column: {} for column, _ in mapping.checks}
        self.n_checked = 0
        self.left_out: list[str] = []
        self._times = preset.times
        self._conflicts: dict[tuple[str, int, int, bool], list[str]] = {}

    @property
    def notes(self) -> list[str]:
        """Report sentences about the file, complete when all rows have been read."""
        n_columns = len(self._mapping.answers)
        notes = []
        if self._foreign.n_labels == 1:
            notes.append("The row under the header was read as a second header row")
        if n_columns > 1:
            counts = f"{self.n_people} rows x {n_columns} columns of answers"
            counts += f" - {self.n_blank} cells of other events" if self.n_blank else ""
            notes.append(f"{counts} = {self.n_rows - self.n_checked} answers")
        for column, right in self._mapping.checks:
            failed = [who for who, has_passed in self.passed[column].items() if not has_passed]
            more = f" and {len(failed) - LISTED} more" if len(failed) > LISTED else ""
            who = f": {', '.join(failed[:LISTED])}{more}" if failed else ""
            notes.append(
                f"Attention check {column}, right answer “{right}”: {len(failed)} of "
                f"{len(self.passed[column])} workers failed{who}"
            )
        if self.n_mails:
            notes.append(f"E-mail addresses by Prolific, read as the ids in them: {self.n_mails:,}")
        notes += [*self.whole_ids.notes, *self.formatting.notes]
        notes += [f"Left out: {count} {reason}" for reason, count in self.skipped.items()]
        if self.left_out:
            notes.append(f"Columns left out, because they are personal: {', '.join(self.left_out)}")
        if self._mapping.ignored:
            notes.append(f"Columns ignored: {', '.join(self._mapping.ignored)}")
        return notes

    def __iter__(self) -> Iterator[tuple[AnswerRecord, int]]:
        """Yield (record, number) of each valid answer; bad rows go to `problems`."""
        header, mapping, preset = self._foreign.header, self._mapping, self._preset
        at = mapping.find_positions(header, self.table.name)
        first_rows = list(islice(self._foreign.rows, PEEKED))
        cells_of_first = [cells for _, cells in first_rows]
        head = Head(self.table.name, header, cells_of_first, self._foreign.wordings)
        aside = self._list_extra_columns(head, at)
        workers = head.get_values(mapping.worker)
        is_part = bool(head.find_column(*preset.parts)) and len(set(workers)) < len(workers)
        rows = chain(first_rows, self._foreign.rows)
        self.whole_ids = self._build_whole_id_reader(at)
        worker_place = at.get(mapping.worker)
        has_codes = worker_place is not None and are_ids_without_spaces(
            cells_of_first, worker_place
        )
        for n_before, (line, cells) in enumerate(rows):
            row = map_cells_by_name(head, cells)
            is_header = is_repeated_header(cells, at, self._foreign.wordings)
            if reason := HEADERS if is_header else preset.find_exclusion_reason(row):
                self.skipped[reason] += 1
                continue
            answers = [(name, self._read_answer(cells[at[name]])) for name in mapping.answers]
            texts = [text for _, text in answers]
            if mapping.worker == ROW_NUMBER:
                # A row in which nothing was answered is nobody.
                worker = str(n_before + 1) if any(not is_blank(text) for text in texts) else ""
            else:
                worker = self._read_worker(self.whole_ids.read_id(cells, at[mapping.worker]))
            others = [cell for place, cell in enumerate(cells) if place != worker_place]
            if reason := find_stray_row_reason(worker, texts, others, are_codes=has_codes):
                self.skipped[reason] += 1
                continue
            if len(texts) > 1 and {text.strip(" .!").casefold() for text in texts} == {TRIAL}:
                self.table.warnings.append(
                    f"Worker {worker} (line {line}) answered “{TRIAL}” to every question. Delete "
                    "the row from the file if it is your own trial."
                )
            if is_part:
                self.n_blank += sum(map(is_blank, texts))
                answers = [(name, text) for name, text in answers if not is_blank(text)]
            first = self.n_rows
            self.n_rows += len(answers)
            self.n_people += 1
            row_id = self._read_row_id(cells, at)
            has_faults = self._foreign.record_faults(self.problems, line, at)
            if has_faults or self._lacks_id(line, worker, row_id):
                continue
            facts = self._build_answer_facts(
                row, {name: cells[i] for i, name in aside if cells[i].strip()}
            )
            wording = self._read_wording(cells, at)
            for offset, (column, text) in enumerate(answers):
                if self._foreign.holds_objects and is_json(text):
                    self.problems.add_code(line, column, "answer_is_object")
                    continue
                if len(text.encode()) > LONGEST_ANSWER:
                    self.problems.add_code(line, column, "foreign_answer_long", most=LONGEST_ANSWER)
                    continue
                question = mapping.build_question_id(row_id, column)
                self._store_wording(question, column, wording, line)
                text = "" if is_blank(text) else text
                number = first + offset
                yield AnswerRecord(number, line, worker, question, text, facts=facts), number
            yield from self._iterate_attention_answers(line, worker, cells, at, facts)

    def _build_whole_id_reader(self, places: dict[str, int]) -> WholeIdReader:
        """Return the reader of the ids, which reads the file again if an id is a decimal."""
        mapping, wordings = self._mapping, self._foreign.wordings
        named = {
            name: places[name] for name in (mapping.worker, mapping.question) if name in places
        }
        return WholeIdReader(
            named,
            lambda: (cells for _, cells in open_foreign_table(self._source, Problems("")).rows),
            lambda cells: is_repeated_header(cells, places, wordings),
            keeps=self._preset.keeps_ids,
        )

    def _read_answer(self, cell: str) -> str:
        """Return the text in an answer cell, with or without its formatting as the preset says."""
        return self.formatting.read_answer(self._preset.cell(cell))

    def _read_row_id(self, cells: Sequence[str], places: dict[str, int]) -> str:
        """Return the cleaned question id of a row; "" without a column of question ids."""
        name = self._mapping.question
        cell = self.whole_ids.read_id(cells, places[name]) if name else ""
        return self._ids.clean_and_record(cell)

    def _read_wording(self, cells: Sequence[str], places: dict[str, int]) -> str:
        """Return the question's text in a row; "" without a column of question texts."""
        wording = cells[places[self._mapping.text]].strip() if self._mapping.text else ""
        return wording if self._preset.keeps_html else remove_formatting(wording)

    def _read_worker(self, cell: str) -> str:
        """Return a worker's id; for an e-mail address by Prolific the id in it, and count these."""
        worker = self._ids.clean_and_record(cell)
        if panel_id := extract_prolific_id(worker):
            self.n_mails += 1
            return panel_id
        return worker

    def _list_extra_columns(self, head: Head, mapped: Collection[str]) -> list[tuple[int, str]]:
        """Return (position, name) of the columns that are stored as extra information.

        Sets the personal columns that are left out, and the columns of times.
        """
        mapping, preset = self._mapping, self._preset
        if preset.has_private:
            self.left_out = [
                name
                for name in dict.fromkeys(head.header)
                if name not in mapped
                and name not in mapping.extra
                and name not in mapping.ignored
                and is_personal_column(head, name)
            ]
        if mapping.times is not None:
            self._times = classify_time_columns(head, mapping.times, preset.times)
        not_stored = frozenset((*self.left_out, *mapping.ignored))
        checks = {column for column, _ in mapping.checks}
        titles = number_repeated_names(tuple(head.header))
        return [
            (position, title)
            for position, (name, title) in enumerate(zip(head.header, titles, strict=True))
            if (name not in mapped or name in checks) and name not in not_stored
        ]

    def _iterate_attention_answers(
        self, line: int, worker: str, cells: Sequence[str], at: dict[str, int], facts: AnswerFacts
    ) -> Iterator[tuple[AnswerRecord, int]]:
        """Yield a worker's answers to the attention checks; record which checks were passed."""
        for column, right in self._mapping.checks:
            text = self._read_answer(cells[at[column]]).strip()
            text = "" if is_blank(text) else text
            known = self.passed[column]
            # As for answers: an empty cell never replaces a text.
            if worker not in known or (
                text and self._duplicates.get_rule(worker) == Duplicates.LAST
            ):
                known[worker] = is_right_answer(text, right)
            self._store_wording(column, column, "", line, right)
            number, self.n_rows = self.n_rows, self.n_rows + 1
            self.n_checked += 1
            yield AnswerRecord(number, line, worker, column, text, facts=facts), number

    def _lacks_id(self, line: int, worker: str, row_id: str) -> bool:
        """Return whether a row lacks a worker or question id; record a problem if so."""
        named = [(self._mapping.worker, worker)]
        if self._mapping.question:
            named.append((self._mapping.question, row_id))
        for column, value in named:
            if column == self._mapping.worker and PLACEHOLDER.fullmatch(value):
                self.problems.add_code(line, column, "id_is_placeholder", text=value[:60])
                return True
            if not value:
                what = "worker" if column == self._mapping.worker else "question"
                self.problems.add_code(line, column, "id_missing", name=what)
        return not all(value for _, value in named)

    def _store_wording(
        self, question: str, column: str, wording: str, line: int, right: str = ""
    ) -> None:
        """Store the text of a question when its first answer is read."""
        if question in self.questions:
            return
        label = self._foreign.wordings.get(column, "")
        if not self._mapping.question and not label and " " in column:
            # A question in full at the head of its column.
            label = self._preset.wording(column)
            label = label if self._preset.keeps_html else strip_markup(label)
        text = "\n".join(part for part in (wording, label) if part) or extract_wording(question)
        self.questions[question] = MturkQuestion(text, {}, line, right)

    def _build_answer_facts(self, row: dict[str, str], extra: dict[str, str]) -> AnswerFacts:
        """Return the facts of an answer: times, rejection and further cells."""
        preset, times = self._preset, self._times
        begun, ended = get_named_cell(row, *times.started), get_named_cell(row, *times.submitted)
        seconds = get_named_cell(row, *times.seconds)
        started, submitted = self._parse_time(begun), self._parse_time(ended)
        if started and submitted and submitted < started:
            started = submitted = None  # clocks that went back; the cells stay beside the answer
        rejected = self._preset.rejected(row)
        return AnswerFacts(
            rejected=rejected,
            started_at=started,
            submitted_at=submitted,
            work_seconds=read_seconds("seconds", seconds, _ignore_cell)
            if seconds or preset.is_fixed
            else compute_elapsed_seconds(begun, ended),
            session_started_at=started,
            session_submitted_at=submitted,
            extra=extra,
        )

    def _parse_time(self, cell: str) -> datetime | None:
        """Parse an ISO 8601 time to UTC, in the file's zone by default; None if invalid."""
        try:
            value = datetime.fromisoformat(cell.strip())
        except ValueError:
            return None
        zone: tzinfo | None = value.tzinfo
        if zone is None:
            try:
                name = self._foreign.zone or self._times.zone
                zone = ZoneInfo(name) if name else None
            except (ValueError, OSError, KeyError):
                zone = None
        return None if zone is None else value.replace(tzinfo=zone).astimezone(UTC)

    def record_conflict(
        self, record: AnswerRecord, first_line: int, *, of_flag: bool = False
    ) -> None:
        """Record a conflict: a worker answered a question twice, with different answers."""
        key = (record.worker, first_line, record.line, of_flag)
        # The others are only counted: a file may contradict itself in every row.
        if key in self._conflicts or len(self._conflicts) < KEPT:
            self._conflicts.setdefault(key, []).append(record.question)
        else:
            self.problems.total += 1

    def _record_conflicts(self) -> None:
        """Add a problem for each pair of rows in which a worker's answers contradict each other."""
        for (worker, first_line, line, of_flag), questions in self._conflicts.items():
            values = {
                "choosable": True,
                "who": "worker",
                "name": worker,
                "first_line": first_line,
                "first_place": describe_line(first_line, self.problems.get_row(first_line)),
                "guess": self._mapping.describe_guessed_columns(),
            }
            if of_flag or len(questions) == 1:
                code = "rejection_differs" if of_flag else "answers_differ"
                for question in questions:
                    more = {"question": question, "what": "text"}
                    self.problems.add_code(line, None, code, **values, **more)
                continue
            named = ", ".join(question[:40] for question in questions[:QUESTIONS_NAMED])
            rest = len(questions) - QUESTIONS_NAMED
            named += f" and {rest} more" if rest > 0 else ""
            self.problems.add_code(
                line, None, "attempts_differ", **values, n=len(questions), questions=named
            )

    def raise_problems(self) -> None:
        """Raise `InputError` if a row was bad or the file has no answers."""
        self._record_conflicts()
        self.problems.sort_by_line()
        self.whole_ids.insert_mixed_column_problems(self.problems)
        if not self.n_rows and not self.problems.total:
            said = "; ".join(f"{count} {reason}" for reason, count in self.skipped.items())
            if said:
                self.problems.add_code(None, None, "rows_left_out", left_out=said)
            else:
                self.problems.add_code(None, None, "no_rows", what="answers")
        report_damaged_ids(self._ids, self.problems, self.table)
