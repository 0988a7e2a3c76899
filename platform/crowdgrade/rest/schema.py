"""The OpenAPI schema: what every operation has in common is added here."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotations.web.rest.problems import KINDS
from crowdgrade.rest.errors import MEDIA_TYPE

METHODS = ("get", "post", "put", "patch", "delete")
# Any request may end so (403 for an account without a role); the others depend on what it is.
ALWAYS = (401, 403, 406, 429, 500)


class FaultSerializer(serializers.Serializer[Any]):
    """One thing that is wrong with a request."""

    detail = serializers.CharField()
    pointer = serializers.CharField(required=False, help_text="Where in the body: #/rows/3/answer.")
    parameter = serializers.CharField(required=False, help_text="Which parameter of the query.")
    header = serializers.CharField(required=False, help_text="Which header.")
    index = serializers.IntegerField(required=False, help_text="Which row, counted from 0.")
    line = serializers.IntegerField(required=False, help_text="Which line, counted from 1.")
    remedy = serializers.CharField(required=False, help_text="What to do about it.")
    code = serializers.CharField(
        required=False, help_text="What is wrong, for programs, such as id_missing."
    )


class ProblemSerializer(serializers.Serializer[Any]):
    """Problem details (RFC 9457)."""

    type = serializers.URLField(help_text="An address that explains the kind of problem.")
    code = serializers.ChoiceField(choices=list(KINDS), help_text="The kind, for programs.")
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField(required=False)
    reason = serializers.CharField(
        required=False, help_text="Which of the kind's reasons, for programs."
    )
    instance = serializers.CharField(required=False, help_text="The address that was asked.")


def add_problems(result: dict[str, Any], generator: Any, request: Any, public: bool) -> Any:
    """Give every operation the problems it may end with (a hook of drf-spectacular)."""
    components = result["components"]
    components["responses"] = {
        name_of(status): response_of(status)
        for status in sorted({k.status for k in KINDS.values()})
    }
    components["schemas"] |= {
        "Problem": schema_of(ProblemSerializer()),
        "Fault": schema_of(FaultSerializer()),
    }
    components["schemas"]["Problem"]["properties"]["errors"] = {
        "type": "array",
        "items": {"$ref": "#/components/schemas/Fault"},
    }
    for name, schema in components["schemas"].items():
        if name.endswith("Request") and "properties" in schema:
            # A misspelt key is refused, not left out.
            schema["additionalProperties"] = False
    for path, operations in result["paths"].items():
        for method in METHODS:
            if method in operations:
                complete(operations[method], path, method)
    return result


def complete(operation: dict[str, Any], path: str, method: str) -> None:
    """Add the problems of one operation."""
    statuses = set(ALWAYS)
    if "{" in path:
        statuses.add(404)
    if any(parameter["in"] == "query" for parameter in operation.get("parameters", ())):
        statuses.add(400)
    if "requestBody" in operation:
        statuses |= {400, 413, 415}
    if method != "get":
        statuses |= {409, 503}
    if operation["tags"][0] in ("results", "exports"):
        statuses.add(409)
    if any(parameter["name"] == "Idempotency-Key" for parameter in operation.get("parameters", ())):
        statuses |= {400, 422}
    for status in statuses:
        operation["responses"].setdefault(
            str(status), {"$ref": f"#/components/responses/{name_of(status)}"}
        )
    operation["responses"] = dict(sorted(operation["responses"].items()))


def name_of(status: int) -> str:
    """Return the name of the response with a status."""
    return f"Problem{status}"


def response_of(status: int) -> dict[str, Any]:
    """Return the description of all problems of a status, with an example of each."""
    kinds = [kind for kind in KINDS.values() if kind.status == status]
    response: dict[str, Any] = {
        "description": "; ".join(kind.title for kind in kinds) + ".",
        "content": {
            MEDIA_TYPE: {
                "schema": {"$ref": "#/components/schemas/Problem"},
                "examples": {kind.code: {"value": example_of(kind.code)} for kind in kinds},
            }
        },
    }
    if status in (429, 503):
        seconds = {"schema": {"type": "integer"}, "description": "Seconds to wait."}
        response["headers"] = {"Retry-After": seconds}
    return response


def example_of(code: str) -> dict[str, Any]:
    """Return a problem document of a kind."""
    kind = KINDS[code]
    body: dict[str, Any] = {
        "type": f"https://crowdgrade.example.org/api/v1/problems/{code}/",
        "code": code,
        "title": kind.title,
        "status": kind.status,
        "instance": "/api/v1/runs/",
    }
    if code == "bad-rows":
        body["detail"] = "One bad row; nothing was stored."
        body["errors"] = [
            {
                "detail": "The worker is missing.",
                "pointer": "#/rows/3/worker",
                "index": 3,
                "remedy": "Fill in the id, or delete the row.",
                "code": "id_missing",
            }
        ]
    return body


def schema_of(serializer: serializers.Serializer[Any]) -> dict[str, Any]:
    """Return the schema of a serializer of plain fields."""
    types = {
        serializers.IntegerField: {"type": "integer"},
        serializers.URLField: {"type": "string", "format": "uri"},
    }
    properties: dict[str, Any] = {}
    for name, field in serializer.fields.items():
        properties[name] = dict(types.get(type(field), {"type": "string"}))
        if isinstance(field, serializers.ChoiceField):
            properties[name]["enum"] = list(field.choices)
        if field.help_text:
            properties[name]["description"] = str(field.help_text)
    return {
        "type": "object",
        "description": (serializer.__doc__ or "").strip(),
        "properties": properties,
        "required": [name for name, field in serializer.fields.items() if field.required],
    }
