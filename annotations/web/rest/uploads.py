"""Descriptions of bulk imports for the OpenAPI schema."""

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
BODY_HELP = (
    '\n\nThe body is an object `{{"rows": [...]}}`, or JSON Lines (`{lines}`), one row a line, '
    "which may be larger. Unknown keys are stored with the row. Numbers stay as typed. "
    "Each bad row is named with its index (or line) and the reason, and nothing is stored."
)

CSV_HELP = (
    "\n\nA file of CSV (`{csv}`) is taken as it is, too: its bad rows are named with their lines."
)


def describe_bulk_upload(
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
    """Return the OpenAPI description of an import, with `rows` as example of its body.

    `answer` is the serializer of the response; with `files` the body may be CSV.
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
    full_description = description + BODY_HELP.format(lines=LINES)
    return extend_schema(
        summary=summary,
        description=full_description + CSV_HELP.format(csv=CSV) if files else full_description,
        parameters=[options, IDEMPOTENCY_KEY],
        request={"application/json": body}
        | {kind: {"type": "string", "format": "binary"} for kind in (LINES, CSV)[: 1 + files]},
        responses={200: answer},
        examples=[OpenApiExample("Stored", value=report, response_only=True)],
        **more,
    )
