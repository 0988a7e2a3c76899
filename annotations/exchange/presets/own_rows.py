"""Read the answers of a table in our own format, whose questions have only ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from itertools import chain, islice

from annotations.exchange.header import ColumnNames, Row
from annotations.exchange.ids import read_as_wording
from annotations.exchange.markup import FormattingReader
from annotations.exchange.presets.laying_flat import iterate_json_lines
from annotations.exchange.presets.mapping import Mapping
from annotations.exchange.presets.preset import Preset
from annotations.exchange.presets.table import LAYING_FLAT, convert_to_json_lines
from annotations.exchange.presets.whole_ids import WholeIds
from annotations.exchange.problems import Problems
from annotations.exchange.reading.answers import AnswerRows
from annotations.exchange.reading.duplicates import DuplicateRule
from annotations.exchange.reading.json_document import READ_HERE, read_lines_in_process
from annotations.exchange.reading.mturk import MturkQuestion
from annotations.exchange.reading.source import Readable, make_source
from annotations.exchange.reading.tables import open_table
from annotations.exchange.records import AnswerRecord

WORKER, QUESTION, ANSWER = range(3)
"""Positions of the cells of a row, in the order of `ColumnNames.for_answers`."""


def convert_json_list(given: Readable) -> Readable:
    """Convert a JSON list of objects to a JSON Lines source; return any other file unchanged."""
    source = convert_to_json_lines(make_source(given))
    if source.suffix != ".json":
        return source
    if source.stamp()[0] > READ_HERE:
        arguments = ["lines", source.name, "", 0, False]
        content = b"".join(read_lines_in_process(source, LAYING_FLAT, arguments))
    else:
        content = "".join(f"{line}\n" for line in iterate_json_lines(source)).encode()
    return replace(source, name=f"{source.name}l", opener=lambda: BytesIO(content))


class OwnRows(AnswerRows):
    """Reader of the answers of a table in our own format, whose questions have only ids."""

    def __init__(
        self,
        given: Readable,
        mapping: Mapping,
        duplicates: DuplicateRule,
        preset: Preset,
    ) -> None:
        names = ColumnNames(mapping.worker, mapping.question, mapping.answers[0])
        super().__init__(given, names, duplicates)
        self.questions: dict[str, MturkQuestion] = {}
        self._ignored = frozenset(mapping.ignored)
        self._source, self._mapping, self._preset = given, mapping, preset
        self.formatting = FormattingReader(preset.keeps_html)
        self.whole_ids = WholeIds({}, tuple)

    @property
    def notes(self) -> list[str]:
        """Return sentences on how cells were read, complete when all rows have been read."""
        ignored = [f"Columns ignored: {', '.join(sorted(self._ignored))}"] if self._ignored else []
        return [*super().notes, *self.whole_ids.notes, *self.formatting.notes, *ignored]

    def __iter__(self) -> Iterator[tuple[AnswerRecord, int]]:
        self.table.rows = self._clean(self.table.rows)
        for record, key in super().__iter__():
            if self._ignored and record.extra:
                cells = zip(self.table.kept_aside, record.extra, strict=False)
                extra = tuple("" if name in self._ignored else cell for name, cell in cells)
                record = replace(record, extra=extra)
            if record.question not in self.questions:
                text = read_as_wording(record.question)
                self.questions[record.question] = MturkQuestion(text, {}, record.line)
            yield record, key

    def finish(self) -> None:
        """Raise `InputError` if any row was bad or the file has no data row."""
        self.whole_ids.explain(self.problems)
        super().finish()

    def _clean(self, rows: Iterator[Row]) -> Iterator[Row]:
        """Yield rows with ids and answers in their stored form; those of our export unchanged."""
        first = list(islice(rows, 1))  # of_export is known once a row was read
        rows = chain(first, rows)
        if self.of_export:
            yield from rows
            return
        ids = {self._mapping.worker: WORKER, self._mapping.question: QUESTION}
        self.whole_ids = WholeIds(ids, self._read_again, keeps=self._preset.keeps_ids)
        for line, cells, extra in rows:
            worker, question = (
                self.whole_ids.read(cells, WORKER),
                self.whole_ids.read(cells, QUESTION),
            )
            answer = self.formatting.read(cells[ANSWER])
            yield line, (worker, question, answer, *cells[ANSWER + 1 :]), extra

    def _read_again(self) -> Iterator[Sequence[str]]:
        names = ColumnNames(self._mapping.worker, self._mapping.question, self._mapping.answers[0])
        again = open_table(self._source, names.for_answers(), Problems(""))
        return (cells for _, cells, _ in again.rows)
