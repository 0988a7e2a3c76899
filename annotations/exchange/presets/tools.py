"""Exports of annotation tools in JSON, laid flat: a row for each annotation, named like columns.

Label Studio's JSON has tasks with their data, annotations and, in these, results; its JSON_MIN is
flat already. Potato writes a line for each instance and annotator with labels by schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from annotations.exchange.problems import InputError
from annotations.exchange.reading.json_document import Located

CANCELLED = "was_cancelled"
LABELS = "label_annotations"
# How a person is known, where an annotation holds them as an object.
PERSON = ("email", "username", "id")
# Keys of a result's value that hold what was said; others, such as spans, are places in a text.
SAID = ("text", "choices", "rating", "number", "datetime", "taxonomy")


def flattened(document: Any, file: str) -> list[tuple[int, dict[str, str]]]:
    """The rows of a document, each with its line. Raises `InputError` if it is no list of objects.

    A key that is not known stays, its value as JSON if it is no text.
    """
    if not isinstance(document, list) or not all(isinstance(one, dict) for one in document):
        raise InputError.from_code(file, "not_object_list")
    rows: list[tuple[int, dict[str, str]]] = []
    for item in document:
        line = item.line if isinstance(item, Located) else 0
        if isinstance(item.get("annotations"), list) and isinstance(item.get("data"), dict):
            rows += ((line, row) for row in _of_task(item))
        elif isinstance(item.get(LABELS), dict):
            rows.append((line, _of_instance(item)))
        else:
            rows.append((line, {name: written(value) for name, value in item.items()}))
    return rows


def _of_task(task: dict[str, Any]) -> Iterator[dict[str, str]]:
    """A row for each annotation of a task of Label Studio."""
    data = {name: written(value) for name, value in task["data"].items()}
    for annotation in task["annotations"]:
        if not isinstance(annotation, dict):
            continue
        said: dict[str, list[str]] = {}
        for result in annotation.get("result") or ():
            if isinstance(result, dict) and isinstance(result.get("value"), dict):
                values = [_said(result["value"][key]) for key in SAID if key in result["value"]]
                said.setdefault(str(result.get("from_name", "")), []).extend(values)
        row = {"id": written(task.get("id", "")), **data}
        # A field may be called like one of the data: what was said stands for it then.
        row |= {name: "\n".join(values) for name, values in said.items() if name and values}
        row |= {
            "annotator": _person(annotation.get("completed_by")),
            "annotation_id": written(annotation.get("id", "")),
            "created_at": written(annotation.get("created_at", "")),
            "lead_time": written(annotation.get("lead_time", "")),
            CANCELLED: written(annotation.get(CANCELLED, False)),
        }
        yield row


def _of_instance(item: dict[str, Any]) -> dict[str, str]:
    """An annotated instance of Potato, with a column SCHEMA:::LABEL for each label."""
    row = {
        name: written(value)
        for name, value in item.items()
        if name not in (LABELS, "span_annotations", "behavioral_data")
    }
    for schema, labels in item[LABELS].items():
        for label, value in labels.items() if isinstance(labels, dict) else (("", labels),):
            row[f"{schema}:::{label}" if label else schema] = written(value)
    return row


def cell_of(cell: str) -> str:
    """A cell of Label Studio's CSV: several texts stand in it as a list, choices as an object."""
    if cell[:1] not in ("[", "{"):
        return cell
    try:
        value = json.loads(cell)
    except ValueError:
        return cell
    if isinstance(value, dict) and set(value) == {"choices"}:
        value = value["choices"]
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return "\n".join(value)
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        said = [_said(one[key]) for one in value for key in SAID if key in one]
        return "\n".join(said) if said else cell
    return cell


def written(value: Any) -> str:
    """A value of JSON as the cell of a table."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False)


def _said(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(written(one) for one in value)
    return written(value)


def _person(who: Any) -> str:
    if isinstance(who, dict):
        return next((written(who[key]) for key in PERSON if who.get(key)), "")
    return written(who)
