"""Read the answers of a table with the standard columns, whose questions have only ids."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO

from annotations.exchange.header import ColumnNames
from annotations.exchange.ids import extract_wording
from annotations.exchange.markup import FormattingReader
from annotations.exchange.presets.laying_flat import iterate_json_lines
from annotations.exchange.presets.mapping import Mapping
from annotations.exchange.presets.preset import Preset
from annotations.exchange.presets.table import LAYING_FLAT, convert_to_json_lines
from annotations.exchange.reading.answers import AnswerRows
from annotations.exchange.reading.duplicates import DuplicateRule
from annotations.exchange.reading.json_document import READ_HERE, read_lines_in_process
from annotations.exchange.reading.mturk import MturkQuestion
from annotations.exchange.reading.source import Readable, make_source
from annotations.exchange.records import AnswerRecord


def convert_json_list(given: Readable) -> Readable:
    """Return a JSON list of objects as a JSON Lines source; any other file unchanged."""
    source = convert_to_json_lines(make_source(given))
    if source.suffix != ".json":
        return source
    if source.read_stamp()[0] > READ_HERE:
        arguments = ["lines", source.name, "", 0, False]
        content = b"".join(read_lines_in_process(source, LAYING_FLAT, arguments))
    else:
        content = "".join(f"{line}\n" for line in iterate_json_lines(source)).encode()
    return replace(source, name=f"{source.name}l", opener=lambda: BytesIO(content))


class OwnRows(AnswerRows):
    """Reader of the answers of a table with the standard columns, whose questions have only ids."""

    def __init__(
        self,
        given: Readable,
        mapping: Mapping,
        duplicates: DuplicateRule,
        preset: Preset,
    ) -> None:
        names = ColumnNames(mapping.worker, mapping.question, mapping.answers[0])
        self.formatting = FormattingReader(preset.keeps_html)
        super().__init__(given, names, duplicates, self.formatting, preset.keeps_ids)
        self.questions: dict[str, MturkQuestion] = {}
        self._ignored = frozenset(mapping.ignored)

    @property
    def notes(self) -> list[str]:
        """Sentences on how cells were read, complete when all rows have been read."""
        ignored = [f"Columns ignored: {', '.join(sorted(self._ignored))}"] if self._ignored else []
        return [*super().notes, *self.whole_ids.notes, *self.formatting.notes, *ignored]

    def __iter__(self) -> Iterator[tuple[AnswerRecord, int]]:
        """Yield (record, number) of each valid row, without the cells of ignored columns."""
        for record, key in super().__iter__():
            if self._ignored and record.extra:
                cells = zip(self.table.kept_aside, record.extra, strict=False)
                extra = tuple("" if name in self._ignored else cell for name, cell in cells)
                record = replace(record, extra=extra)
            if record.question not in self.questions:
                text = extract_wording(record.question)
                self.questions[record.question] = MturkQuestion(text, {}, record.line)
            yield record, key
