"""Errors of the REST API, by the `code` of their problem document (RFC 9457)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.text import capfirst
from rest_framework.exceptions import APIException

from annotations.exchange import InputError, Problem
from annotations.exchange.reading.jsonlines import ONE_OBJECT


@dataclass(frozen=True)
class ProblemKind:
    """Kind of API error: its code, HTTP status and title."""

    code: str
    status: int
    title: str


KINDS = {
    kind.code: kind
    for kind in (
        ProblemKind("malformed", 400, "The request cannot be read"),
        ProblemKind("invalid", 400, "Some values are invalid"),
        ProblemKind("bad-cursor", 400, "No page handed out this cursor"),
        ProblemKind("bad-rows", 400, "Some rows are invalid; nothing was stored"),
        ProblemKind("not-authenticated", 401, "The request has no valid credentials"),
        ProblemKind("forbidden", 403, "You may not do this"),
        ProblemKind("not-found", 404, "There is nothing at this address, or nothing you may see"),
        ProblemKind("method-not-allowed", 405, "This address does not take the method"),
        ProblemKind("not-acceptable", 406, "No form you accept is offered"),
        ProblemKind("conflict", 409, "The state of things does not allow it"),
        ProblemKind("no-results", 409, "The run has no results"),
        ProblemKind("too-large", 413, "The body is too large"),
        ProblemKind("unsupported-media-type", 415, "The body is of a kind that is not read here"),
        ProblemKind("key-reused", 422, "The idempotency key came with another request before"),
        ProblemKind("throttled", 429, "Too many requests"),
        ProblemKind("server-error", 500, "Something broke on our side"),
        ProblemKind("busy", 503, "The site is busy; nothing was stored"),
        ProblemKind("database-lost", 503, "The database cannot be reached"),
        ProblemKind("storage-full", 507, "The disk is full; nothing was stored"),
        ProblemKind("read-only", 507, "Nothing can be stored at the moment"),
    )
}


@dataclass(frozen=True)
class Fault:
    """One error of a request: an invalid value in the body, the query or a header.

    `pointer` is a JSON pointer as a URI fragment, such as #/rows/3/answer. `index` is the row of a
    bulk import from 0, `line` the line of JSON Lines from 1. `code` names the fault.
    """

    detail: str
    pointer: str | None = None
    parameter: str | None = None
    header: str | None = None
    index: int | None = None
    line: int | None = None
    remedy: str = ""
    code: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the fields that have a value, by name, for JSON."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: value for name, value in values.items() if value not in (None, "")}


class ApiProblem(APIException):
    """Error of the REST API, sent as a problem document (RFC 9457).

    `headers` are added to the response.

    `reason` is a code for the reason; "" if the type has only one.
    """

    def __init__(
        self,
        code: str,
        detail: str,
        faults: Iterable[Fault] = (),
        headers: Mapping[str, str] | None = None,
        reason: str = "",
        **more: Any,
    ) -> None:
        super().__init__(detail, code)
        self.kind = KINDS[code]
        self.status_code = self.kind.status
        self.faults = tuple(faults)
        self.headers = dict(headers or {})
        self.more = more | ({"reason": reason} if reason else {})


def build_parameter_problem(
    name: str, detail: str, code: str = "invalid", reason: str = ""
) -> ApiProblem:
    """Return the API error for a query parameter; `reason` is a more precise code."""
    fault = Fault(detail, parameter=name, code=reason)
    return ApiProblem(code, f"{name}: {detail}", [fault])


def build_field_problem(name: str, detail: str, code: str = "") -> ApiProblem:
    """Return the API error for a value in the body; `name` may be a path such as a/b."""
    fault = Fault(detail, pointer=f"#/{name}", code=code)
    return ApiProblem("invalid", f"{name}: {detail}", [fault])


def build_rows_problem(error: InputError, *, lines: bool, path: str = "rows") -> ApiProblem:
    """Return the API error for an import, with an entry for each invalid row.

    `lines` states that the body was JSON Lines, whose rows have no JSON pointer.
    """
    problems = sorted(error.problems, key=lambda problem: problem.line or 0)
    faults = [_build_row_fault(problem, lines, path) for problem in problems]
    detail = f"{error.total:,} bad rows; nothing was stored."
    if error.total == 1:
        detail = "One bad row; nothing was stored."
    if not any(problem.line for problem in error.problems):
        detail = " ".join(fault.detail for fault in faults)
    return ApiProblem("bad-rows", detail, faults, total=error.total)


def _build_row_fault(problem: Problem, lines: bool, path: str) -> Fault:
    """Return the API error's entry for one invalid row of an import."""
    reason = capfirst(problem.reason) + "."
    remedy = problem.remedy
    if problem.code in ONE_OBJECT and not lines:
        remedy = "Every row is an object."
    if problem.line is None:
        return Fault(reason, remedy=remedy, code=problem.code)
    if lines:
        return Fault(reason, line=problem.line, remedy=remedy, code=problem.code)
    # The rows of a JSON body are read as JSON Lines, one a line.
    index = problem.line - 1
    pointer = f"#/{path}/{index}"
    if isinstance(problem.column, str):
        pointer += "/" + escape_pointer_key(problem.column)
    return Fault(reason, pointer=pointer, index=index, remedy=remedy, code=problem.code)


def escape_pointer_key(key: str) -> str:
    """Return a key escaped for use in a JSON pointer (RFC 6901)."""
    # First "~": the other way round, the "~" of "~1" would be escaped again.
    return key.replace("~", "~0").replace("/", "~1")
