"""Imports of many rows in a request's body, through the same stages as files."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO

from django.conf import settings
from rest_framework import serializers
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.exchange.importing import ImportReport
from annotations.exchange.problems import InputError, Problems
from annotations.exchange.reading.jsonlines import parse_strictly
from annotations.exchange.reading.source import (
    Readable,
    Source,
    make_rows_source,
    make_stored_source,
)
from annotations.exchange.writing.formats import CONTENT_TYPES
from annotations.web.rest.base import ApiViewSet
from annotations.web.rest.problems import ApiProblem, Fault, build_field_problem, build_rows_problem
from annotations.web.size_limit import LARGEST

CHUNK = 1 << 20
LINES = CONTENT_TYPES["jsonl"]
CSV = CONTENT_TYPES["csv"].partition(";")[0]
Load = Callable[..., ImportReport]


@dataclass
class Lines:
    """A body of JSON Lines in an unnamed temporary file, which disappears with its process.

    `name` is the file's name for readers; its extension tells them the format.
    """

    file: IO[bytes]
    sha256: str
    size: int
    name: str = "rows.jsonl"

    @property
    def source(self) -> Source:
        """The source that opens the file at its beginning, as often as needed."""
        return make_stored_source(self.name, self._open, self.size)

    def _open(self) -> BinaryIO:
        # Opened again by its descriptor, so that each reader has a position of its own.
        file = Path(f"/dev/fd/{self.file.fileno()}").open("rb")  # noqa: SIM115
        file.seek(0)
        return file


class RowsParser(BaseParser):
    """JSON with the rules of our files: numbers stay as typed, no repeated key, no NaN."""

    media_type = "application/json"

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        """Return the value of the body. Raises ParseError."""
        try:
            return parse_strictly(stream.read().decode())
        except UnicodeDecodeError as error:
            raise ParseError("The body is not in UTF-8.") from error
        except RecursionError as error:
            raise ParseError("The body is nested too deeply.") from error
        except ValueError as error:
            raise ParseError(f"The body is not JSON: {error}.") from error


class LinesParser(BaseParser):
    """JSON Lines, one row a line, written to a file while they arrive and never held in memory."""

    media_type = LINES
    name = "rows.jsonl"

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        """Return the body as `Lines`."""
        # BulkViewSet.finalize_response closes it.
        file = tempfile.TemporaryFile()  # noqa: SIM115
        digest = hashlib.sha256()
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
            file.write(chunk)
        file.flush()
        return Lines(file, digest.hexdigest(), file.tell(), self.name)


class CsvParser(LinesParser):
    """A CSV file as it is, read like an uploaded one."""

    media_type = CSV
    name = "rows.csv"


class ImportOptionsSerializer(serializers.Serializer[Any]):
    """How rows are taken in: in the query, because a body of JSON Lines has no place for it."""

    dry_run = serializers.BooleanField(
        default=False, help_text="Do everything, report it, and store nothing."
    )


class VersionOptionsSerializer(ImportOptionsSerializer):
    """Into which version."""

    version = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=2**31 - 1,
        help_text="Number of the version; the latest, if it is left out.",
    )


class ImportReportSerializer(serializers.Serializer[Any]):
    """What became of the rows; n_rows = n_new + n_unchanged + n_repeated + n_superseded."""

    what = serializers.CharField(help_text="answers, model answers, questions or passages")
    question_set = serializers.UUIDField()
    version = serializers.IntegerField()
    changed = serializers.BooleanField(
        help_text="Whether anything was added: false for rows that were all there already."
    )
    n_rows = serializers.IntegerField()
    n_new = serializers.IntegerField()
    n_unchanged = serializers.IntegerField(help_text="Said what was there before.")
    n_repeated = serializers.IntegerField(help_text="Said what an earlier row said.")
    n_superseded = serializers.IntegerField(
        help_text="Gave way to another answer of the same worker to the same question."
    )
    n_empty = serializers.IntegerField(help_text="Without an answer, among new and unchanged.")
    n_completed = serializers.IntegerField(help_text="Questions that got the text they lacked.")
    created = serializers.DictField(
        child=serializers.IntegerField(), help_text="What the rows brought along, such as workers."
    )
    n_thinking = serializers.IntegerField(
        help_text="Answers of models whose thinking is put aside."
    )
    n_thinking_kept = serializers.IntegerField(
        help_text="Answers of models that keep their thinking (keep_thinking)."
    )
    kept_aside = serializers.ListField(
        child=serializers.CharField(), help_text="Further keys, kept with the rows."
    )
    notes = serializers.ListField(child=serializers.CharField())
    warnings = serializers.ListField(child=serializers.CharField())
    dry_run = serializers.BooleanField()


class BulkViewSet(ApiViewSet):
    """A resource whose rows are imported in one request; all rows are stored or none."""

    parser_classes = (RowsParser, LinesParser)
    required_keys: tuple[str, ...]
    reader: Callable[[Readable], Any]
    """Reads rows without storing them. Raises InputError with the invalid ones."""

    @property
    def throttle_scope(self) -> str | None:
        """The rate limit of imports, which is stricter than that of other requests."""
        return "bulk" if getattr(self, "action", None) == "create" else None

    def get_parsers(self) -> list[BaseParser]:
        """Return the parsers; JSON Lines are for imports only."""
        is_import = (getattr(self.request, "method", None) or "POST").upper() == "POST"
        return [RowsParser(), LinesParser()] if is_import else [RowsParser()]

    def most_bytes(self, request: Request) -> int:
        """Return the most bytes of the body; less for JSON rows, which are held in memory."""
        if getattr(self, "action", None) != "create":
            return super().most_bytes(request)
        kind = (request.content_type or "").partition(";")[0].strip().lower()
        return LARGEST if kind == LINES else settings.API_BULK_BYTES

    def finalize_response(self, request: Request, *args: Any, **kwargs: Any) -> Any:
        """Close the temporary file of the body."""
        data = getattr(request, "_full_data", None)
        if isinstance(data, Lines):
            data.file.close()
        return super().finalize_response(request, *args, **kwargs)

    def taken_in(self, load: Load, into: Any, options: dict[str, Any]) -> Response:
        """Import the rows of the body and return the report. Raises `ApiProblem` for bad rows."""
        with self.telling_rows():
            report = load(into, self.source(), **options)
        return self.answer(into, report)

    def source(self) -> Source:
        """Return the rows of the body as a source. Raises `InputError` for invalid ones."""
        data = self.request.data
        return data.source if isinstance(data, Lines) else self._write_lines(read_rows(data))

    @contextmanager
    def telling_rows(self) -> Iterator[None]:
        """Convert an InputError of the block into an `ApiProblem`."""
        try:
            yield
        except InputError as error:
            raise build_rows_problem(error, lines=isinstance(self.request.data, Lines)) from error

    def answer(self, into: Any, report: ImportReport) -> Response:
        """Return the response with the report of an import."""
        body = {**report.as_dict(), "changed": report.changed, "question_set": into.public_id}
        return Response(ImportReportSerializer(body).data)

    def _write_lines(self, rows: list[Any]) -> Source:
        """Return the rows as JSON Lines, row i in line i + 1. Raises `InputError` for bad ones.

        The complete rows are checked even if others lack keys, to report all problems at once.
        """
        problems = Problems("rows")
        for line, row in enumerate(rows, 1):
            for key in _find_missing_keys(row, self.required_keys):
                problems.add_code(line, key, "key_missing", name=key)
        # Readers skip an empty line, so the other rows keep their line numbers.
        lines = make_rows_source(
            "rows", (None if _find_missing_keys(row, self.required_keys) else row for row in rows)
        )
        if problems.total:
            try:
                self.reader(lines)
            except InputError as error:
                problems.extend(problem for problem in error.problems if problem.line is not None)
        problems.raise_if_any()
        return lines


def read_rows(data: Any) -> list[Any]:
    """Return the rows of a body {"rows": [...]}. Raises `ApiProblem` for any other body."""
    if not isinstance(data, dict):
        raise ApiProblem("invalid", 'Write an object: {"rows": [...]}.', [Fault("no object", "#")])
    if unknown := [key for key in data if key != "rows"]:
        raise build_field_problem(unknown[0], "there is no such key; options stand in the address")
    rows = data.get("rows")
    if not isinstance(rows, list) or not rows:
        raise build_field_problem("rows", "write a list of at least one object")
    return rows


def read_options(request: Request, serializer: type[serializers.Serializer[Any]]) -> dict[str, Any]:
    """Return the options in the query. Raises `ApiProblem` for invalid or unknown ones."""
    params = dict(request.query_params.items())
    option_serializer = serializer(data=params)
    faults = [
        Fault("there is no such option", parameter=name)
        for name in params
        if name not in option_serializer.fields
    ]
    if not option_serializer.is_valid():
        faults += [
            Fault(str(reason), parameter=name)
            for name, reasons in option_serializer.errors.items()
            for reason in reasons
        ]
    if faults:
        raise ApiProblem("invalid", f"{faults[0].parameter}: {faults[0].detail}", faults)
    return dict(option_serializer.validated_data)


def _find_missing_keys(row: Any, required: tuple[str, ...]) -> list[str]:
    """Return the required keys that a row lacks; [] for a row that is no object."""
    return [key for key in required if key not in row] if isinstance(row, dict) else []
