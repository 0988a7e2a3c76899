"""OpenAPI schema, with the errors that every operation may return."""

from __future__ import annotations

from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from rest_framework import serializers

from annotations.web.rest.problems import KINDS
from crowdgrade.rest.errors import MEDIA_TYPE

METHODS = ("get", "post", "put", "patch", "delete")
# Statuses of every operation; 403 is for an account without a role.
ALWAYS = (401, 403, 406, 429, 500)


@cache
def build_schema() -> Any:
    """Return the OpenAPI schema, generated once per process, as it depends only on the code."""
    generator: Any = SchemaGenerator  # without annotations
    return generator().get_schema(request=None, public=True)


class CachedSchemaGenerator(SchemaGenerator):
    """Schema generator that caches the OpenAPI schema, because generating takes seconds."""

    def get_schema(self, request: Any = None, public: bool = False) -> Any:
        """Return the cached OpenAPI schema, which is the same for every user."""
        return build_schema()


class FaultSerializer(serializers.Serializer[Any]):
    """One error of a request, such as an invalid value, with its place in the request."""

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
    """Problem details (RFC 9457), the body of all error responses."""

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
    """Add to every operation the errors that it may return (a drf-spectacular hook)."""
    components = result["components"]
    components["responses"] = {
        build_response_name(status): build_status_response(status)
        for status in sorted({k.status for k in KINDS.values()})
    }
    components["schemas"] |= {
        "Problem": build_serializer_schema(ProblemSerializer()),
        "Fault": build_serializer_schema(FaultSerializer()),
    }
    components["schemas"]["Problem"]["properties"]["errors"] = {
        "type": "array",
        "items": {"$ref": "#/components/schemas/Fault"},
    }
    for name, schema in components["schemas"].items():
        if name.endswith("Request") and "properties" in schema:
            # The API refuses unknown keys, so that a misspelt key is noticed.
            schema["additionalProperties"] = False
    for path, operations in result["paths"].items():
        for method in METHODS:
            if method in operations:
                add_error_responses(operations[method], path, method)
                require_body(operations[method], components["schemas"])
    return result


def require_body(operation: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Mark an operation's body as required if all its alternatives require a key.

    drf-spectacular does so for a serializer, not for the `oneOf` of several.
    """
    for content in operation.get("requestBody", {}).get("content", {}).values():
        alternatives = _resolve_reference(content["schema"], schemas).get("oneOf", ())
        if alternatives and all(
            _resolve_reference(alternative, schemas).get("required") for alternative in alternatives
        ):
            operation["requestBody"]["required"] = True


def _resolve_reference(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """Return the schema to which a reference points, or the schema itself."""
    return schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def add_error_responses(operation: dict[str, Any], path: str, method: str) -> None:
    """Add to an OpenAPI operation the error responses that it may return."""
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
        # A response that the view describes itself is more precise, so it stays.
        operation["responses"].setdefault(
            str(status), {"$ref": f"#/components/responses/{build_response_name(status)}"}
        )
    operation["responses"] = dict(sorted(operation["responses"].items()))


def build_response_name(status: int) -> str:
    """Return the name of the OpenAPI response component for an error status."""
    return f"Problem{status}"


def build_status_response(status: int) -> dict[str, Any]:
    """Return the OpenAPI response component for an error status, with examples."""
    kinds = [kind for kind in KINDS.values() if kind.status == status]
    response: dict[str, Any] = {
        "description": "; ".join(kind.title for kind in kinds) + ".",
        "content": {
            MEDIA_TYPE: {
                "schema": {"$ref": "#/components/schemas/Problem"},
                "examples": {
                    kind.code: {"value": build_problem_example(kind.code)} for kind in kinds
                },
            }
        },
    }
    if status in (429, 503):
        seconds = {"schema": {"type": "integer"}, "description": "Seconds to wait."}
        response["headers"] = {"Retry-After": seconds}
    return response


def build_problem_example(code: str) -> dict[str, Any]:
    """Return an example problem document with this code."""
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


def build_serializer_schema(serializer: serializers.Serializer[Any]) -> dict[str, Any]:
    """Return the JSON schema of a serializer without nested fields."""
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
