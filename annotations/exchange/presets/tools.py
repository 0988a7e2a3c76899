"""Convert JSON exports of annotation tools to table rows, one row per annotation.

Label Studio's JSON has tasks with their data, annotations and, in these, results; its JSON_MIN is
flat already. Potato writes a line for each instance and annotator with labels by schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from annotations.exchange.header import refuse_too_many_columns
from annotations.exchange.presets.literals import parse_literal
from annotations.exchange.presets.shapes import (
    build_record_rows,
    is_argilla_record,
    may_be_tool_record,
    unwrap_records,
)
from annotations.exchange.presets.values import format_answer_cell, format_json_value
from annotations.exchange.problems import InputError
from annotations.exchange.reading.json_document import JsonObject

CANCELLED = "was_cancelled"
LABELS = "label_annotations"
DATA = "data."
# How a person is known, where an annotation holds them as an object.
PERSON = ("email", "username", "id")
# Keys of a result's value that hold what was said; others, such as spans, are places in a text.
SAID = ("text", "choices", "rating", "number", "datetime", "taxonomy")
TEXT_AREA = "textarea"


@dataclass(slots=True)
class FlatRows:
    """Table rows made from a JSON document, each with its line in the file.

    `fields` are the columns that annotators filled in (only those of texts, if there are any),
    `task` the columns of the task's data; both are empty if the document does not distinguish them.
    """

    rows: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    fields: tuple[str, ...] = ()
    task: tuple[str, ...] = ()


def flatten_document(document: Any, file: str) -> FlatRows:
    """Convert a JSON document to table rows; `InputError` if it is no list of objects.

    A key that is not known stays, its value as JSON if it is no text.
    """
    document = unwrap_records(document, file)
    if not isinstance(document, list) or not all(isinstance(item, dict) for item in document):
        raise InputError.from_code(file, "not_object_list")
    return flatten_objects(document, file)


def flatten_objects(items: Iterable[dict[str, Any]], file: str) -> FlatRows:
    """Convert objects to table rows; a known tool's object without answers has no row.

    Objects of a known shape without an answer, such as records without responses, have no row.
    """
    flattened = FlatRows()
    types: dict[str, set[str]] = {}
    task: dict[str, None] = {}
    of_argilla = False
    for item in items:
        line = item.line if isinstance(item, JsonObject) else 0
        rows = _build_item_rows(item, file, types, task)
        if rows is None:
            refuse_too_many_columns(file, len(item))
            rows = [{name: format_json_value(value) for name, value in item.items()}]
        elif not rows:
            # Only records without a row: if all are so, the problem is that there is no response.
            of_argilla = of_argilla or is_argilla_record(item)
        flattened.rows += ((line, row) for row in rows)
    if of_argilla and not flattened.rows:
        raise InputError.from_code(file, "argilla_unanswered")
    texts = tuple(name for name, kinds in types.items() if TEXT_AREA in kinds)
    flattened.fields = texts or tuple(types)
    flattened.task = tuple(name for name in task if name not in types)
    return flattened


def is_tool_record(item: dict[str, Any], file: str) -> bool:
    """Return whether an object has a known tool's layout, with answers nested in it.

    Raises `InputError` for an object without the ids of its workers.
    """
    return _build_item_rows(item, file, {}, {}) is not None


def _build_item_rows(
    item: dict[str, Any], file: str, types: dict[str, set[str]], task: dict[str, None]
) -> list[dict[str, str]] | None:
    """Return the table rows of a known tool's object; None for any other object.

    Learns the types of Label Studio's fields, and the columns of what was shown.
    """
    if not may_be_tool_record(item):
        return None
    data = _get_task_data(item)
    # Label Studio before version 1 called annotations completions.
    annotations = item.get("annotations", item.get("completions"))
    if isinstance(annotations, list) and data is not None:
        task |= dict.fromkeys(data)
        return list(_iterate_task_rows(item | {"annotations": annotations}, data, types))
    if isinstance(item.get(LABELS), dict):
        return [_build_instance_row(item)]
    return build_record_rows(item, file)


def _get_task_data(item: dict[str, Any]) -> dict[str, Any] | None:
    """Return the data of a Label Studio task; None for another object.

    pandas flattens the data to keys such as data.text; these are read too.
    """
    data = item.get("data")
    if isinstance(data, dict):
        return data
    flat = {key.removeprefix(DATA): inner for key, inner in item.items() if key.startswith(DATA)}
    return flat or None


def _iterate_task_rows(
    task: dict[str, Any], shown: dict[str, Any], types: dict[str, set[str]]
) -> Iterator[dict[str, str]]:
    """Yield a row for each annotation of a Label Studio task; add its field types to `types`."""
    data = {name: format_json_value(value) for name, value in shown.items()}
    for annotation in task["annotations"]:
        if not isinstance(annotation, dict):
            continue
        said: dict[str, list[str]] = {}
        for result in annotation.get("result") or ():
            if isinstance(result, dict) and isinstance(result.get("value"), dict):
                name = str(result.get("from_name", ""))
                values = [
                    format_answer_cell(result["value"][key])
                    for key in SAID
                    if key in result["value"]
                ]
                said.setdefault(name, []).extend(values)
                if name and values:
                    types.setdefault(name, set()).add(str(result.get("type", "")))
        row = {"id": format_json_value(task.get("id", "")), **data}
        # A field may be called like one of the data: what was said stands for it then.
        row |= {name: "\n".join(values) for name, values in said.items() if name and values}
        row |= {
            "annotator": _format_annotator(annotation.get("completed_by")),
            "annotation_id": format_json_value(annotation.get("id", "")),
            "created_at": format_json_value(annotation.get("created_at", "")),
            "lead_time": format_json_value(annotation.get("lead_time", "")),
            CANCELLED: format_json_value(annotation.get(CANCELLED, False)),
        }
        yield row


def _build_instance_row(item: dict[str, Any]) -> dict[str, str]:
    """Return the row of an instance annotated in Potato, with one column per label."""
    row = {
        name: format_json_value(value)
        for name, value in item.items()
        if name not in (LABELS, "span_annotations", "behavioral_data")
    }
    for schema, labels in item[LABELS].items():
        for label, value in labels.items() if isinstance(labels, dict) else (("", labels),):
            row[f"{schema}:::{label}" if label else schema] = format_json_value(value)
    return row


def read_label_studio_cell(cell: str) -> str:
    """Return the answer text in a Label Studio cell: the entries of a list become lines."""
    value = parse_literal(cell)
    if isinstance(value, dict) and len(value) == 1 and set(value) <= {"choices", "text"}:
        [value] = value.values()
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "\n".join(value)
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        said = [format_answer_cell(item[key]) for item in value for key in SAID if key in item]
        return "\n".join(said) if said else cell
    return cell


def _format_annotator(who: Any) -> str:
    """Return the name of the annotator, which may be an object; "" without any."""
    if isinstance(who, dict):
        return next((format_json_value(who[key]) for key in PERSON if who.get(key)), "")
    return format_json_value(who)
