"""Problem messages for JSON documents and JSON Lines files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotations.exchange.problem_messages.message import ProblemMessage

ONE_OBJECT = (
    'Write one object a line, such as {{"worker": "w1", "question": "q1", "answer": "..."}}.'
)


def _advise_adding_comma(values: Mapping[str, Any]) -> str:
    """Return the advice to add a missing comma or use --repair; "" if there is no such option."""
    return "Add it there, or let --repair add all of them." if values["has_repair"] else ""


JSON = {
    "key_missing": ProblemMessage("there is no {name}", "Every row needs it."),
    "cell_not_text": ProblemMessage(
        "the {name} is {kind}",
        "Write it as text in quotes.",
    ),
    "cell_unwritable": ProblemMessage(
        "there is {what}, which no text holds",
        "Remove it.",
    ),
    "json_colon_missing": ProblemMessage(
        "this is not JSON: a colon is expected behind the key {key}",
        "Correct it there.",
    ),
    "json_comma_missing": ProblemMessage(
        "this is not JSON: a comma is missing behind line {after_line}, column "
        "{after_column}, before what begins here",
        "Add it there.",
        _advise_adding_comma,
    ),
    "json_ends": ProblemMessage(
        "this is not JSON: the file ends where {wanted} is expected",
        "Check that it was saved completely.",
    ),
    "json_escape": ProblemMessage(
        "this is not JSON: the text holds an escape that JSON does not have ({error})",
        "Correct it there.",
    ),
    "json_expected": ProblemMessage(
        "this is not JSON: {wanted} is expected in place of {found}",
        "Correct it there.",
    ),
    "json_goes_on": ProblemMessage(
        "this is not JSON: something follows the end of the JSON value",
        "Remove it.",
    ),
    "json_key_expected": ProblemMessage(
        "this is not JSON: a key in quotes is expected in place of {found}", "Correct it there."
    ),
    "json_key_twice": ProblemMessage(
        "this is not JSON: the key {key} occurs twice",
        "Remove one of the two.",
    ),
    "json_key_unwritable": ProblemMessage(
        "a key holds a NUL character or half a surrogate pair",
        "Rename it.",
    ),
    "line_invalid": ProblemMessage(
        "this is not JSON: {error}",
        ONE_OBJECT,
    ),
    "line_key_twice": ProblemMessage(
        "the key {key} occurs twice",
        "Write every key once, and null for no value.",
    ),
    "line_no_object": ProblemMessage(
        "this is JSON but no object",
        ONE_OBJECT,
    ),
    "line_no_value": ProblemMessage(
        "{value} is no JSON value",
        "Write every key once, and null for no value.",
    ),
    "line_too_deep": ProblemMessage(
        "the JSON is nested too deeply",
        ONE_OBJECT,
    ),
    "json_text_open": ProblemMessage(
        "this is not JSON: the text that begins here is not closed on its line",
        "Correct it there.",
    ),
    "json_text_unwritable": ProblemMessage(
        "this is not JSON: the text holds a NUL character or half a surrogate pair",
        "Correct it there.",
    ),
    "json_too_deep": ProblemMessage(
        "this is not JSON: the JSON is nested too deeply",
        "Check that it is the right file.",
    ),
    "json_too_large": ProblemMessage(
        "the file takes more than is read: {error}",
        "Save it as several files, or as CSV with a row for each answer.",
    ),
    "json_too_many_values": ProblemMessage(
        "the file holds {n:,} values, and {most:,} are read",
        "Save it as JSON Lines or CSV, or as several files.",
    ),
    "too_many_keys": ProblemMessage(
        "its lines have more than {most:,} different keys",
        "Put what differs from line to line into one key, as an object.",
    ),
    "json_value_missing": ProblemMessage(
        "this is not JSON: a value is expected between the comma and {end}",
        "Correct it there.",
    ),
    "list_missing": ProblemMessage(
        "this is no list of {what}, or an empty one",
        "{layout}",
    ),
    "no_rows_complete": ProblemMessage(
        "there is no data row",
        "Check that it was saved completely.",
    ),
    "object_key_twice": ProblemMessage(
        "the key {key} occurs twice",
        "Write it once.",
    ),
    "object_line_invalid": ProblemMessage(
        "this is not JSON: {error}",
        "Correct it there.",
    ),
    "object_missing": ProblemMessage(
        "this is JSON but no object",
        "Write one object a line.",
    ),
    "object_too_deep": ProblemMessage(
        "the JSON is nested too deeply, or a number is too long",
    ),
    "object_unwritable": ProblemMessage(
        "there is a NUL character or half a surrogate pair, which no text holds",
        "Remove it.",
    ),
    "record_of_json": ProblemMessage("this is not JSON: {cause}", "Check the file."),
}
