"""Imports of many rows in a request body, processed like uploaded files."""

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
from annotations.exchange.reading.jsonlines import parse_json_strictly
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
class StoredBody:
    """Request body in JSON Lines or CSV, stored in an unnamed temporary file.

    `name` is the file's name for readers; its extension is that of the format.
    """

    file: IO[bytes]
    sha256: str
    size: int
    name: str = "rows.jsonl"

    @property
    def source(self) -> Source:
        """Source of rows that can open the temporary file repeatedly, at its beginning."""
        return make_stored_source(self.name, self._open_file, self.size)

    def _open_file(self) -> BinaryIO:
        """Return the temporary file, open at its beginning."""
        # Opened again by its descriptor, so that each reader has a position of its own.
        file = Path(f"/dev/fd/{self.file.fileno()}").open("rb")  # noqa: SIM115
        file.seek(0)
        return file


class StrictJSONParser(BaseParser):
    """Strict JSON parser: keeps numbers as written, refuses repeated keys and NaN."""

    media_type = "application/json"

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        """Return the JSON value of a request's body; raise ParseError if it is invalid."""
        try:
            return parse_json_strictly(stream.read().decode())
        except UnicodeDecodeError as error:
            raise ParseError("The body is not in UTF-8.") from error
        except RecursionError as error:
            raise ParseError("The body is nested too deeply.") from error
        except ValueError as error:
            raise ParseError(f"The body is not JSON: {error}.") from error


class LinesParser(BaseParser):
    """Parser that writes a JSON Lines body to a temporary file while it arrives."""

    media_type = LINES
    name = "rows.jsonl"

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        """Return the request body, stored in a temporary file while it arrives."""
        # BulkViewSet.finalize_response closes it.
        file = tempfile.TemporaryFile()  # noqa: SIM115
        digest = hashlib.sha256()
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
            file.write(chunk)
        file.flush()
        return StoredBody(file, digest.hexdigest(), file.tell(), self.name)


class CsvParser(LinesParser):
    """Parser that writes a CSV body to a temporary file, to be read like an upload."""

    media_type = CSV
    name = "rows.csv"


class ImportOptionsSerializer(serializers.Serializer[Any]):
    """Options of an import in the URL query, because JSON Lines and CSV bodies have only rows."""

    dry_run = serializers.BooleanField(
        default=False, help_text="Do everything, report it, and store nothing."
    )


class VersionOptionsSerializer(ImportOptionsSerializer):
    """Options of an import, with the number of the version that gets the rows."""

    version = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=2**31 - 1,
        help_text="Number of the version; the latest, if it is left out.",
    )


class ImportReportSerializer(serializers.Serializer[Any]):
    """Report of an import; n_rows = n_new + n_unchanged + n_repeated + n_superseded."""

    what = serializers.CharField(help_text="answers, model answers, questions or passages")
    question_set = serializers.UUIDField()
    version = serializers.IntegerField()
    changed = serializers.BooleanField(
        help_text="Whether anything was added: false for rows that were all there already."
    )
    n_rows = serializers.IntegerField()
    n_new = serializers.IntegerField()
    n_unchanged = serializers.IntegerField(help_text="Repeated what was stored before.")
    n_repeated = serializers.IntegerField(help_text="Repeated an earlier row.")
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
        child=serializers.CharField(), help_text="Further keys, stored with the rows."
    )
    notes = serializers.ListField(child=serializers.CharField())
    warnings = serializers.ListField(child=serializers.CharField())
    dry_run = serializers.BooleanField()


class BulkViewSet(ApiViewSet):
    """Base class of API endpoints that import many rows in one request, all or none."""

    parser_classes = (StrictJSONParser, LinesParser)
    required_keys: tuple[str, ...]
    reader: Callable[[Readable], Any]
    """Reads rows without storing them. Raises InputError with the invalid ones."""

    @property
    def throttle_scope(self) -> str | None:
        """Name of the stricter rate limit for imports; None for other requests."""
        return "bulk" if getattr(self, "action", None) == "create" else None

    def get_parsers(self) -> list[BaseParser]:
        """Return the parsers of request bodies; JSON Lines only for imports."""
        is_import = (getattr(self.request, "method", None) or "POST").upper() == "POST"
        return [StrictJSONParser(), LinesParser()] if is_import else [StrictJSONParser()]

    def get_max_bytes(self, request: Request) -> int:
        """Return the largest permitted body in bytes; less for JSON, which is held in memory."""
        if getattr(self, "action", None) != "create":
            return super().get_max_bytes(request)
        kind = (request.content_type or "").partition(";")[0].strip().lower()
        return LARGEST if kind == LINES else settings.API_BULK_BYTES

    def finalize_response(self, request: Request, *args: Any, **kwargs: Any) -> Any:
        """Return the response, after closing the temporary file of the body."""
        # Not `request.data`, which would parse a body that was not read yet.
        data = getattr(request, "_full_data", None)
        if isinstance(data, StoredBody):
            data.file.close()
        return super().finalize_response(request, *args, **kwargs)

    def import_rows(self, load: Load, into: Any, options: dict[str, Any]) -> Response:
        """Import the rows of the body and return the report; raise `ApiProblem` if invalid."""
        with self.convert_row_errors():
            report = load(into, self.build_source(), **options)
        return self.build_report_response(into, report)

    def build_source(self) -> Source:
        """Return the rows of the body as a source; raise `InputError` for invalid ones."""
        data = self.request.data
        return (
            data.source
            if isinstance(data, StoredBody)
            else self._build_lines_source(read_body_rows(data))
        )

    @contextmanager
    def convert_row_errors(self) -> Iterator[None]:
        """Raise an `ApiProblem` in place of an `InputError` in the block."""
        try:
            yield
        except InputError as error:
            raise build_rows_problem(
                error, lines=isinstance(self.request.data, StoredBody)
            ) from error

    def build_report_response(self, into: Any, report: ImportReport) -> Response:
        """Return the response with the report of an import into the question set `into`."""
        body = {**report.as_dict(), "changed": report.changed, "question_set": into.public_id}
        return Response(ImportReportSerializer(body).data)

    def _build_lines_source(self, rows: list[Any]) -> Source:
        """Return the rows as a source in JSON Lines; raise `InputError` if invalid.

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


def read_body_rows(data: Any) -> list[Any]:
    """Return the rows of a body {"rows": [...]}; raise `ApiProblem` for other bodies."""
    if not isinstance(data, dict):
        raise ApiProblem("invalid", 'Write an object: {"rows": [...]}.', [Fault("no object", "#")])
    if unknown := [key for key in data if key != "rows"]:
        raise build_field_problem(unknown[0], "there is no such key; options belong in the address")
    rows = data.get("rows")
    if not isinstance(rows, list) or not rows:
        raise build_field_problem("rows", "write a list of at least one object")
    return rows


def read_import_options(
    request: Request, serializer: type[serializers.Serializer[Any]]
) -> dict[str, Any]:
    """Return the import options of the URL query; raise `ApiProblem` if invalid."""
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
    """Return the required keys that a row lacks; [] if the row is not an object."""
    return [key for key in required if key not in row] if isinstance(row, dict) else []
