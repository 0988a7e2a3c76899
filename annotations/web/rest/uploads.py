"""How a bulk upload is described in the schema."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema

from annotations.web.rest.bulk import CSV, LINES, ImportOptionsSerializer, ImportReportSerializer

IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
    OpenApiParameter.HEADER,
    description="Any text of yours. The same request with it again, within a day, gets the same "
    "answer and does nothing; another request with it is refused (422).",
)
HOW = (
    '\n\nThe body is an object `{{"rows": [...]}}`, or JSON Lines (`{lines}`), one row a line, '
    "which may be larger. Keys that are not known are kept with the row. Numbers stay as typed. "
    "Each bad row is named with its index (or line) and the reason, and nothing is stored."
)

AS_CSV = (
    "\n\nA file of CSV (`{csv}`) is taken as it is, too: its bad rows are named with their lines."
)


def bulk_schema(
    summary: str,
    description: str,
    rows: list[dict[str, Any]],
    report: dict[str, Any],
    options: Any = ImportOptionsSerializer,
    *,
    answer: Any = ImportReportSerializer,
    files: bool = False,
    **more: Any,
) -> Any:
    """Return the description of an upload whose rows look like those given.

    `answer` is what says what became of them; with `files` it may be CSV.
    """
    names = list(dict.fromkeys(key for row in rows for key in row))
    required = [name for name in names if all(name in row for row in rows)]
    row = {
        "type": "object",
        "properties": {name: {} for name in names},
        "required": required,
        "additionalProperties": True,
    }
    body = {
        "type": "object",
        "properties": {"rows": {"type": "array", "minItems": 1, "items": row}},
        "required": ["rows"],
        "additionalProperties": False,
        "example": {"rows": rows},
    }
    said = description + HOW.format(lines=LINES)
    return extend_schema(
        summary=summary,
        description=said + AS_CSV.format(csv=CSV) if files else said,
        parameters=[options, IDEMPOTENCY_KEY],
        request={"application/json": body}
        | {kind: {"type": "string", "format": "binary"} for kind in (LINES, CSV)[: 1 + files]},
        responses={200: answer},
        examples=[OpenApiExample("Stored", value=report, response_only=True)],
        **more,
    )
