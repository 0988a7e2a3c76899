"""Read files of workers' answers and of models' answers, and check every row."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from annotations.exchange.facts import (
    ASKING,
    FACTS,
    READ_IN,
    SIGNALS,
    list_optional_answer_columns,
    list_optional_model_answer_columns,
    read_answer_facts,
    read_model_request,
)
from annotations.exchange.header import OF_ANSWERS, OF_MODEL_ANSWERS, ColumnNames, map_extra_cells
from annotations.exchange.ids import IdCleaner, is_blank
from annotations.exchange.markup import FormattingReader
from annotations.exchange.model_replies import (
    THINKING_KEPT,
    describe_thinking_counts,
    split_model_reply,
)
from annotations.exchange.problems import Problems
from annotations.exchange.reading.duplicates import (
    DuplicateRule,
    Duplicates,
    describe_superseded,
    should_replace,
)
from annotations.exchange.reading.model_logs import LogOptions, convert_log, recognise_log
from annotations.exchange.reading.source import Readable, make_source
from annotations.exchange.reading.tables import OpenTable, open_table
from annotations.exchange.records import AnswerRecord, AnswerStatus, ModelAnswerRecord
from annotations.exchange.whole_ids import KnownIdReader, WholeIdReader

WORKER, QUESTION, ANSWER = range(3)
"""Positions of the cells of a row, in the order of `ColumnNames.build_answer_columns`."""
LONGEST_ANSWER = 100_000
"""Bytes that an answer may have in UTF-8."""

DEFAULT_COLUMNS = ColumnNames()


@dataclass(frozen=True, slots=True)
class _FileFacts:
    """Name, hash, encoding, row counts, further columns and warnings of one file of answers.

    `n_rows` counts the data rows, `n_repeated` those left out because they repeat what an
    earlier row has: n_rows == len(records) + n_repeated, but see `AnswerFile`. `n_empty` counts
    the records without an answer. `encoding` is None for a workbook.
    """

    name: str
    sha256: str
    encoding: str | None
    n_rows: int
    n_empty: int
    n_repeated: int
    kept_aside: tuple[str, ...]
    warnings: list[str]

    def get_extra_cells(self, record: AnswerRecord | ModelAnswerRecord) -> dict[str, str]:
        """Return the further cells of a record by the names of their columns."""
        return map_extra_cells(record.extra, self.kept_aside)


@dataclass(frozen=True, slots=True)
class AnswerFile(_FileFacts):
    """Workers' answers in the order of the file, at most one per worker and question.

    `n_superseded` counts the rows that gave way to another answer of the same worker to the same
    question, as `duplicates` specifies: n_rows == len(records) + n_repeated + n_superseded.
    `keeps_html` is True if answers with HTML were read as typed, `keeps_ids` if ids such as 101.0
    were to be; `n_html_removed` counts the answers that were read without their HTML.
    """

    records: list[AnswerRecord]
    n_superseded: int = 0
    duplicates: Duplicates | None = None
    keeps_html: bool = False
    keeps_ids: bool = False
    n_html_removed: int = 0

    @property
    def hashes(self) -> dict[str, str]:
        """SHA-256 hashes by name, with the file as the input `answers`; see `build_hashes`."""
        return self.build_hashes("answers")

    def build_hashes(self, role: str) -> dict[str, str]:
        """Return SHA-256 hashes by name: of the file (`role`), and of options of its reading."""
        hashes = {role: self.sha256}
        if self.duplicates not in (None, Duplicates.REFUSE):
            hashes["duplicates"] = hashlib.sha256(self.duplicates.encode()).hexdigest()
        if self.keeps_html:
            hashes["keep_html"] = hashlib.sha256(b"keep_html").hexdigest()
        if self.keeps_ids:
            hashes["keep_ids"] = hashlib.sha256(b"keep_ids").hexdigest()
        return hashes

    @property
    def ids(self) -> KnownIdReader:
        """Reader of a joined file's ids in the spelling of these answers."""
        pairs = ((record.worker, record.question) for record in self.records)
        return KnownIdReader(pairs, keeps=self.keeps_ids)


@dataclass(frozen=True, slots=True)
class ModelAnswerFile(_FileFacts):
    """Models' answers in the order of the file, at most one per model and question.

    `notes` are sentences on how a log of another tool was read; [] for a table.
    """

    records: list[ModelAnswerRecord]
    notes: tuple[str, ...] = ()


def read_answers(
    path: Readable,
    columns: ColumnNames = DEFAULT_COLUMNS,
    duplicates: Duplicates | None = None,
    formatting: FormattingReader | None = None,
    keeps_ids: bool | None = None,
) -> AnswerFile:
    """Read workers' answers from a CSV, TSV, JSON Lines or XLSX file, checking every row.

    Raises `InputError` with every bad row: a missing worker or question, the same worker and
    question with another text (unless `duplicates` selects one; None where the caller offers no
    such choice), an answer over 100,000 bytes, what the format forbids; or with one problem, if
    the whole file cannot be read.

    `formatting` reads the texts of answers, which stay as typed without it. Ids such as 101.0 in a
    column of whole numbers are read without “.0”, unless `keeps_ids` (then a note says that 101
    and 101.0 are two) or None. Notes on both are among the warnings. Our exports are read as is.
    """
    rows = AnswerRows(path, columns, duplicates, formatting, keeps_ids)
    seen: dict[int, AnswerRecord] = {}
    panels: dict[str, str] = {}
    n_repeated = n_superseded = 0
    for record, key in rows:
        panel = record.facts.panel if record.facts else ""
        if panels.setdefault(record.worker, panel) != panel:
            rows.record_two_panels(record, panels[record.worker])
        first = seen.setdefault(key, record)
        if first is record:
            continue
        if is_same_text(first.text, record.text):
            n_repeated += 1
        elif duplicates is None or duplicates == Duplicates.REFUSE:
            rows.record_conflict(record, first.line)
        else:
            n_superseded += 1
            if should_replace(record.text, first.text, duplicates):
                seen[key] = record
    rows.raise_problems()
    # A later answer that replaced an earlier one has its place in `seen`, so sort by row again.
    records = sorted(seen.values(), key=lambda record: record.row)
    n_empty = sum(not record.text for record in records)
    facts = _build_file_facts(rows.table, rows.n_rows, n_empty, n_repeated)
    facts[-1].extend(describe_superseded(n_superseded, duplicates))
    notes = [*rows.whole_ids.notes, *(formatting.notes if formatting is not None else ())]
    facts[-1].extend(f"{note}." for note in notes)
    keeps_html = formatting is not None and formatting.keeps_formatted
    n_html_removed = 0 if formatting is None or keeps_html else formatting.n_formatted
    how = (n_superseded, duplicates, keeps_html, bool(keeps_ids), n_html_removed)
    return AnswerFile(*facts, records, *how)


class AnswerRows:
    """Reader of a file of workers' answers that checks each row and yields a record for it.

    Iterating (once) yields each sound row's record with a number for its worker (and panel) and
    question: equal numbers mean that one repeats or contradicts the other. Bad rows are noted;
    `finish` raises `InputError` with all of them, and if there was no row at all. `is_own_export`
    is True if this is our own export, from the first row on. `formatting` and `keeps_ids` are as
    in `read_answers`.
    """

    def __init__(
        self,
        path: Readable,
        columns: ColumnNames = DEFAULT_COLUMNS,
        duplicates: DuplicateRule | None = None,
        formatting: FormattingReader | None = None,
        keeps_ids: bool | None = None,
    ) -> None:
        self._checks = _RowChecker(make_source(path).name, "worker")
        self._choosable, self._formatting = duplicates is not None, formatting
        self._path, self._columns = path, columns
        ids = {} if keeps_ids is None else {columns.worker: WORKER, columns.question: QUESTION}
        self.whole_ids = WholeIdReader(ids, self._reread_rows, keeps=bool(keeps_ids))
        self.problems = self._checks.problems
        wanted = (*columns.build_answer_columns(), *list_optional_answer_columns())
        self.table = open_table(path, wanted, self.problems)
        self.n_rows = 0
        self.graded_by: set[str] = set()

    @property
    def is_own_export(self) -> bool:
        """Whether the file is Crowdgrade's own export of answers."""
        return OF_ANSWERS in self.table.marks

    @property
    def notes(self) -> list[str]:
        """Sentences on columns that were not read, complete when all rows have been read."""
        sentence = (
            "The grades in the file (columns run_...) were read over: a run computes them anew."
        )
        return [sentence] if self.graded_by else []

    def __iter__(self) -> Iterator[tuple[AnswerRecord, int]]:
        """Yield (record, number) of each valid row; a number stands for a worker and question."""
        checks, n_facts = self._checks, 3 + len(FACTS) + len(SIGNALS) + len(READ_IN)
        row = -1
        for row, (line, cells, extra) in enumerate(self.table.rows):
            raw_worker, raw_question, text = cells[: ANSWER + 1]
            facts = None
            sound = True
            if not self.is_own_export:
                raw_worker = self.whole_ids.read_id(cells, WORKER)
                raw_question = self.whole_ids.read_id(cells, QUESTION)
                if self._formatting is not None:
                    text = self._formatting.read_answer(text)
            text = "" if is_blank(text) else text
            if self.is_own_export:
                before = self.problems.total
                note = partial(self.problems.add_code, line)
                facts = read_answer_facts(cells[3:n_facts], text, note)
                sound = self.problems.total == before
                if cells[n_facts]:
                    self.graded_by.add(cells[n_facts])
            panel = facts.panel if facts else ""
            ids = checks.number_ids(line, raw_worker, raw_question, panel)
            if ids is None or not checks.is_short_enough(line, text) or not sound:
                continue
            worker, question, key = ids
            yield AnswerRecord(row, line, worker, question, text, extra, facts), key
        self.n_rows = row + 1

    def record_conflict(self, record: AnswerRecord, first: int, *, of_flag: bool = False) -> None:
        """Record a problem: an answer's text or rejection differs from an earlier row's."""
        pair = (record.worker, record.question)
        code = "rejection_differs" if of_flag else "answers_differ"
        self._checks.record_conflict(
            record.line, *pair, first, "text", code, choosable=self._choosable
        )

    def record_two_panels(self, record: AnswerRecord, other: str) -> None:
        """Record a problem: one worker id occurs in two panels, so it may be two people."""
        assert record.facts is not None
        self.problems.add_code(
            record.line,
            "panel",
            "worker_two_panels",
            worker=record.worker,
            panel=record.facts.panel or "(none)",
            other=other or "(none)",
        )

    def raise_problems(self) -> None:
        """Raise `InputError` if any row was bad or the file has no data row."""
        self.whole_ids.insert_mixed_column_problems(self.problems)
        self._checks.raise_problems(self.n_rows, self.table)

    def _reread_rows(self) -> Iterator[Sequence[str]]:
        """Return an iterator of the cells of all rows, read from the file again."""
        again = open_table(self._path, self._columns.build_answer_columns(), Problems(""))
        return (cells for _, cells, _ in again.rows)


def read_model_answers(
    path: Readable,
    columns: ColumnNames = DEFAULT_COLUMNS,
    keep_thinking: bool = False,
    model: str = "",
    ids: KnownIdReader | None = None,
) -> ModelAnswerFile:
    """Read models' answers from a CSV, TSV, JSON Lines or XLSX file, checking every row.

    Also from a log of Inspect or lm-evaluation-harness: `model` is then the name of its model,
    "" to take it from the log, and `columns.question` the path of the questions' ids in a sample.

    The ids of questions are read as the answers have them whose `ids` are given.

    As `read_answers`, with model in place of worker and an optional status; a row whose status is
    text, or empty, and whose answer is empty gets the status EMPTY. The thinking in an answer is
    removed from its text, unless `keep_thinking`, and a column finish_reason is used
    (`split_model_reply`). Also an `InputError`: an unknown status, the status empty beside an
    answer, the same model and question with another text or status.
    """
    source = make_source(path)
    checks = _RowChecker(source.name, "model")
    sha256, notes = "", tuple[str, ...]()
    if tool := recognise_log(source):
        of_question = "" if columns.question == DEFAULT_COLUMNS.question else columns.question
        table_source, about = convert_log(source, tool, LogOptions(model.strip(), of_question))
        sha256, notes = source.compute_digest(), tuple(about.describe_reading())
        path, columns = table_source, DEFAULT_COLUMNS
    wanted = (*columns.build_model_answer_columns(), *list_optional_model_answer_columns())
    table = open_table(path, wanted, checks.problems)
    records: list[ModelAnswerRecord] = []
    seen: dict[object, ModelAnswerRecord] = {}
    n_empty = n_repeated = 0
    row = -1
    for row, (line, cells, extra) in enumerate(table.rows):
        raw_model, raw_question, text, raw_status, *more = cells
        asking = None
        if OF_MODEL_ANSWERS in table.marks:
            before = checks.problems.total
            note = partial(checks.problems.add_code, line)
            asking = read_model_request(more[: len(ASKING)], note)
            if checks.problems.total > before:
                continue
        if ids is not None:
            raw_question = ids.read_question_id(raw_question)
        numbered = checks.number_ids(line, raw_model, raw_question)
        text = "" if is_blank(text) else text
        status = checks.read_status(line, raw_status, text)
        if numbered is None or status is None:
            continue
        # Only an export of ours has the finish reason in a column of its own.
        reason = asking.finish_reason if asking else _find_finish_reason(extra, table.kept_aside)
        keeps_thinking = keep_thinking or bool(asking and asking.extra.get(THINKING_KEPT))
        reply = split_model_reply(text, status, reason, keeps_thinking)
        text, status = reply.text, reply.status
        if not checks.is_short_enough(line, text):
            continue
        model, question, key = numbered
        record = ModelAnswerRecord(
            row, line, model, question, text, status, extra, asking, reply.thinking
        )
        # The same question with another sample, prompt or parameters has an answer of its own.
        request = None if asking is None else (asking.sample, asking.prompt, str(asking.parameters))
        first = seen.setdefault((key, request), record)
        if first is record:
            records.append(record)
            n_empty += status is AnswerStatus.EMPTY
        elif status is not first.status:
            checks.record_conflict(line, model, question, first.line, "status")
        elif is_same_text(first.text, text):
            n_repeated += 1
        else:
            checks.record_conflict(line, model, question, first.line, "text")
    checks.raise_problems(row + 1, table)
    facts = _build_file_facts(table, row + 1, n_empty, n_repeated)
    facts[-1].extend(describe_thinking_counts(sum(bool(record.thinking) for record in records)))
    facts = (source.name, sha256 or facts[1], *facts[2:])
    return ModelAnswerFile(*facts, records, notes)


def _find_finish_reason(cells: tuple[str, ...], kept_aside: Sequence[str]) -> str:
    """Return the cell of a column named like "finish_reason"; "" if there is no such column."""
    for name, cell in zip(kept_aside, cells, strict=False):
        if "".join(name.casefold().split("_")).replace(" ", "") in ("finishreason", "stopreason"):
            return cell
    return ""


def _build_file_facts(
    table: OpenTable, n_rows: int, n_empty: int, n_repeated: int
) -> tuple[str, str, str | None, int, int, int, tuple[str, ...], list[str]]:
    """Return the values of the fields of `_FileFacts`, in order, for a table that was read."""
    return (
        table.name,
        table.sha256,
        table.encoding,
        n_rows,
        n_empty,
        n_repeated,
        tuple(table.kept_aside),
        table.warnings,
    )


def is_same_text(one: str, other: str) -> bool:
    """Return whether two answers are equal after trimming and Unicode normalisation (NFC)."""
    return one == other or normalise_text(one) == normalise_text(other)


def normalise_text(text: str) -> str:
    """Return a text trimmed and in Unicode's NFC; for ids use `ids.clean_id`."""
    return unicodedata.normalize("NFC", text).strip()


def report_damaged_ids(cleaner: IdCleaner, problems: Problems, table: OpenTable) -> None:
    """Raise `InputError` if there are problems, damaged ids first; else warn of such ids.

    A spreadsheet may have merged several ids into one, and their answers then contradict each
    other.
    """
    if problems.total and cleaner.n_damaged:
        values = {"n_ids": cleaner.n_damaged, "examples": cleaner.damaged}
        problems.insert_file_problem("ids_damaged", **values)
    problems.raise_if_any()
    table.warnings.extend(cleaner.warnings)


class _RowChecker:
    """Checker of ids, text and status in rows of answers; it records faults in `problems`."""

    def __init__(self, name: str, who: str) -> None:
        self.problems = Problems(name)
        self._who = who
        self._cleaner = IdCleaner()
        # Id as typed -> normalised id and its number. Each id is stored as one string, and a pair
        # of ids as one int: half the memory of a tuple, which matters with a million rows.
        self._ids: tuple[dict[str, tuple[str, int]], ...] = ({}, {})
        self._numbers: tuple[dict[str, int], ...] = ({}, {})

    def number_ids(
        self, line: int, raw_who: str, raw_question: str, panel: str = ""
    ) -> tuple[str, str, int] | None:
        """Return (worker or model, question, number of the pair); None if an id is missing.

        The same name in two panels is two workers.
        """
        if panel:
            key = f"{raw_who}\0{panel}"  # no file of text holds the parting character
            who = self._ids[0].get(key) or self._number_id(0, raw_who, panel)
        else:
            who = self._ids[0].get(raw_who) or self._number_id(0, raw_who)
        question = self._ids[1].get(raw_question) or self._number_id(1, raw_question)
        if who[0] and question[0]:
            return who[0], question[0], who[1] << 32 | question[1]
        for name, value in ((self._who, who[0]), ("question", question[0])):
            if not value:
                self.problems.add_code(line, name, "id_missing", name=name)
        return None

    def _number_id(self, which: int, raw: str, panel: str = "") -> tuple[str, int]:
        """Return (cleaned id, its number); an id has one number in each panel."""
        name = self._cleaner.clean_and_record(raw)
        numbers = self._numbers[which]
        of_panel = f"\0{panel}" if panel else ""
        number = numbers.setdefault(name + of_panel, len(numbers))
        numbered = self._ids[which][raw + of_panel] = (name, number)
        return numbered

    def is_short_enough(self, line: int, text: str) -> bool:
        """Return whether an answer has at most 100,000 bytes; record a problem if not."""
        # A character has at most four bytes, so most answers need not be encoded to know.
        if len(text) <= LONGEST_ANSWER // 4 or (size := len(text.encode())) <= LONGEST_ANSWER:
            return True
        self.problems.add_code(line, "answer", "answer_too_long", size=size, most=LONGEST_ANSWER)
        return False

    def read_status(self, line: int, raw: str, text: str) -> AnswerStatus | None:
        """Return a row's status, EMPTY if it has no text; None if it is bad (then recorded)."""
        word = raw.strip().casefold()
        try:
            status = AnswerStatus(word) if word else AnswerStatus.TEXT
        except ValueError:
            accepted = ", ".join(AnswerStatus)
            self.problems.add_code(
                line, "status", "status_unknown", status=word[:40], accepted=accepted
            )
            return None
        if status is AnswerStatus.EMPTY and text:
            self.problems.add_code(line, "status", "status_empty_answered")
            return None
        return AnswerStatus.EMPTY if status is AnswerStatus.TEXT and not text else status

    def record_conflict(
        self,
        line: int,
        who: str,
        question: str,
        first_line: int,
        what: str,
        code: str = "answers_differ",
        *,
        choosable: bool = False,
    ) -> None:
        """Record a problem: two rows with the same worker (or model) and question differ."""
        self.problems.add_code(
            line,
            None,
            code,
            who=self._who,
            name=who,
            question=question,
            first_line=first_line,
            choosable=choosable,
            what=what,
        )

    def raise_problems(self, n_rows: int, table: OpenTable) -> None:
        """Raise `InputError` if any row was bad or the file has no data row.

        Notes on cleaned or damaged ids are added to the warnings of the table.
        """
        if not n_rows and not self.problems.total:
            self.problems.add_code(None, None, "no_rows", what="answers")
        report_damaged_ids(self._cleaner, self.problems, table)
