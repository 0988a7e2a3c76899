"""Convert nested objects of annotation tools and data hubs to table rows, one per answer.

Argilla's records hold responses by question, doccano's documents labels, Potato's user states
labels by instance; the rows API of the hub wraps each row. Who annotated is in doccano's older
exports only: today it writes a file for each annotator, named after them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from annotations.exchange.column_names import normalise_name, normalise_names
from annotations.exchange.presets.values import format_answer_cell, format_json_value
from annotations.exchange.problems import InputError
from annotations.exchange.reading.nested_records import is_hub_row

Row = dict[str, str]

STATE = "instance_id_to_label_to_value"
USER, RECORD, STATUS = "user", "record", "response_status"
RESPONSE = "response."
OF_USERS, OF_STATUSES, OF_RESPONSES = ".responses.users", ".responses.status", ".responses"
OF_SUGGESTIONS = (".suggestion.agent", ".suggestion.score", "-suggestion-metadata")
"""Endings of what Argilla's records hold of suggestions, whether or not anybody responded."""
OF_USER = re.compile(
    r"(?P<question>.+)\.response\.(?P<user>[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})"
)
"""Key of the response of one user, as Argilla 2 wrote it at first."""
SUGGESTED = ("-suggestion", ".suggestion", *OF_SUGGESTIONS)
OF_RECORD = ("", "Unnamed: 0", "id", "status", "external_id", "_server_id")
"""Columns of the exporting tool, neither question nor answer; the first two are row numbers."""
ANNOTATOR, DOCUMENT, LABEL = "annotator", "document", "label"
COMMON = frozenset({"all", "unknown", "admin", "data", "export", "doccano", "train", "test"})
"""Names of files that doccano, or the one who saved it, gives where they name no annotator."""
DOCUMENT_KEYS = frozenset(
    {"id", "text", "data", "filename", "label", "labels", "entities", "relations", "cats"}
    | {"comments", "Comments", "meta", "metadata", "annotation_approver", "annotations"}
    | {"doc_id", "external_id", "sentences", "Unnamed: 0"}
)
DOCUMENT_IDS = ("id", "doc_id", "external_id")
ANNOTATORS = ("username", "user", "_user", "annotator", "user_id", "annotated_by")
"""Keys by which documents of some exports of doccano name the annotator."""
LABEL_KEYS = ("label", "labels", "cats", "sentences")
PLAIN_KEYS = ("worker", "worker_id", "participant", "participant_id", "annotator", "user")
WORKER_KEYS = (
    *PLAIN_KEYS,
    *("PROLIFIC_PID", "prolific_pid", "prolific_id", "workerId"),
)
ANSWERS_KEYS = ("answers", "responses")
ENTRY_WORKERS = (*WORKER_KEYS, "annotator_id", "user_id", "rater", "rater_id", "coder", "labeler")
ENTRY_ANSWERS = ("answer", "response", "text", "value", "annotation", "explanation", "reply")
LISTS_OF_WORKERS = normalise_names(
    "annotators annotatorids workers workerids users userids raters raterids participants "
    "participantids coders labelers"
)
"""Keys whose lists say who gave each entry of a list of answers beside them."""


def unwrap_records(document: Any, file: str) -> Any:
    """Return the records in a JSON document, unwrapped from the layout of a data hub or tool.

    Raises `InputError` for rows of which the hub cut cells.
    """
    if isinstance(document, dict):
        rows = document.get("rows")
        if isinstance(rows, list) and rows and all(map(is_hub_row, rows)):
            cut = sum(bool(row.get("truncated_cells")) for row in rows)
            if cut:
                raise InputError.from_code(file, "hub_cells_cut", n_rows=cut)
            return [row["row"] for row in rows]
        items = document.get("items")
        if isinstance(items, list) and items and all(_is_argilla_listing(item) for item in items):
            return items
        if set(document) == {"responses"} and (
            flat := _unwrap_limesurvey_responses(document["responses"])
        ):
            return flat
        return [document] if STATE in document else document
    if isinstance(document, list) and document and all(isinstance(item, list) for item in document):
        return [record for part in document for record in part]
    return document


def _unwrap_limesurvey_responses(responses: Any) -> list[dict[str, Any]]:
    """Return the responses in a JSON export of LimeSurvey; [] for any other value.

    Older versions wrap each response in an object under its id.
    """
    flat = []
    for response in responses if isinstance(responses, list) else []:
        if isinstance(response, dict) and len(response) == 1:
            (response,) = response.values()
        if not isinstance(response, dict) or "submitdate" not in response:
            return []
        flat.append(response)
    return flat if not any(_is_nested(cell) for row in flat for cell in row.values()) else []


def _is_nested(value: Any) -> bool:
    """Return whether a JSON value is a list or an object."""
    return isinstance(value, list | dict)


def build_record_rows(record: dict[str, Any], file: str) -> list[Row] | None:
    """Return the table rows of a record of a known tool; None for any other record.

    Raises `InputError` for a record of a layout without the ids of its workers.
    """
    if isinstance(record.get(STATE), dict):
        return list(_iterate_potato_rows(record))
    if "row_idx" in record and any(key == "row" or key.startswith("row.") for key in record):
        raise InputError.from_code(file, "hub_rows_in_cells")
    if is_argilla_record(record):
        return list(_iterate_argilla_rows(record, file))
    if _is_doccano_document(record):
        return list(_iterate_doccano_rows(record, file))
    if isinstance(record.get("entities"), list) and set(record) <= DOCUMENT_KEYS:
        raise InputError.from_code(file, "doccano_spans")
    worker = next((key for key in WORKER_KEYS if record.get(key)), "")
    nested = next((record[key] for key in ANSWERS_KEYS if isinstance(record.get(key), dict)), None)
    is_trial = "trial_type" in record  # of jsPsych, whose responses are JSON as well
    if (
        worker
        and nested
        and not is_trial
        and not any(isinstance(inner, dict) for inner in nested.values())
    ):
        return [
            {
                # Not under a panel's heading: that would be a survey with a row for each worker.
                worker if worker in PLAIN_KEYS else "worker": format_json_value(record[worker]),
                "question": question,
                "response": format_json_value(answer),
            }
            for question, answer in nested.items()
        ]
    entries = _find_answer_entries(record)
    return list(_iterate_entry_rows(record, *entries)) if entries else None


def _find_answer_entries(record: dict[str, Any]) -> tuple[set[str], list[tuple[Any, Any]]] | None:
    """Return (keys of a record's answers, their (worker, answer) pairs); None if not found.

    Data hubs have a list of objects with a worker and an answer, or one list of each.
    """
    lists = {key: inner for key, inner in record.items() if isinstance(inner, list) and inner}
    of_objects = {}
    for key, entries in lists.items():
        if all(isinstance(entry, dict) for entry in entries):
            pairs = [
                (
                    _get_first_value(entry, ENTRY_WORKERS),
                    _get_first_value(entry, ENTRY_ANSWERS, or_empty=True),
                )
                for entry in entries
            ]
            # An empty text is an answer as well, if it has the key of one.
            if all(who is not None and isinstance(text, str) for who, text in pairs):
                of_objects[key] = pairs
    if len(of_objects) == 1:
        [(key, pairs)] = of_objects.items()
        return {key}, pairs
    workers = [key for key in lists if normalise_name(key) in LISTS_OF_WORKERS]
    texts = [
        key
        for key, inner in lists.items()
        if key not in workers and all(isinstance(text, str) for text in inner)
    ]
    if len(workers) != 1 or len(texts) != 1 or len(lists[workers[0]]) != len(lists[texts[0]]):
        return None
    return {workers[0], texts[0]}, list(zip(lists[workers[0]], lists[texts[0]], strict=True))


def _get_first_value(entry: dict[str, Any], keys: Sequence[str], *, or_empty: bool = False) -> Any:
    """Return the first non-empty value under these keys; without one None (or "", `or_empty`)."""
    found = next((entry[key] for key in keys if entry.get(key) not in (None, "")), None)
    is_empty = found is None and or_empty and any(key in entry for key in keys)
    return "" if is_empty else found


def _iterate_entry_rows(
    record: dict[str, Any], keys: set[str], pairs: Sequence[tuple[Any, Any]]
) -> Iterator[Row]:
    """Yield a row for each (worker, answer) pair of a record, with the record's other values."""
    base = {name: format_json_value(value) for name, value in record.items() if name not in keys}
    if "id" in base:
        base["item_id"] = base.pop("id")  # of the record, where else it is a worker's
    for who, text in pairs:
        yield {**base, "worker": format_json_value(who), "response": text}


def _is_argilla_listing(one: Any) -> bool:
    """Return whether an object is a record as Argilla's REST interface lists it."""
    return isinstance(one, dict) and isinstance(one.get("fields"), dict) and "responses" in one


def _iterate_potato_rows(state: dict[str, Any]) -> Iterator[Row]:
    """Yield a row for each instance that a user of Potato labelled, with a column per label."""
    for instance, labels in state[STATE].items():
        row = {USER: format_json_value(state.get("user_id", "")), "instance_id": instance}
        if isinstance(labels, dict):
            pairs = [
                ({"schema": schema, "name": name}, value)
                for schema, of in labels.items()
                for name, value in (of.items() if isinstance(of, dict) else (("", of),))
            ]
        else:
            pairs = [
                tuple(label) for label in labels if isinstance(label, list) and len(label) == 2
            ]
        for label, value in pairs:
            schema, name = label.get("schema", ""), label.get("name", "")
            row[f"{schema}:::{name}" if name else schema] = format_json_value(value)
        yield row


def may_be_tool_record(record: dict[str, Any]) -> bool:
    """Return whether a record has a nested value or a key that only annotation tools write."""
    return any(isinstance(inner, dict | list) for inner in record.values()) or any(
        key.endswith((OF_RESPONSES, OF_USERS, *OF_SUGGESTIONS)) or OF_USER.fullmatch(key)
        for key in record
    )


def is_argilla_record(record: dict[str, Any]) -> bool:
    """Return whether a record has Argilla's layout, with or without responses."""
    if isinstance(record.get("fields"), dict) and "responses" in record:
        return True
    ending = (OF_RESPONSES, OF_USERS, *OF_SUGGESTIONS)
    if any(key.endswith(ending) or OF_USER.fullmatch(key) for key in record):
        return True
    return bool(_group_responses(record))


def _group_responses(record: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the responses of a record in Argilla's older layout, by question.

    They are a list of objects, or an object of lists.
    """
    found = {}
    for key, value in record.items():
        if isinstance(value, dict) and isinstance(value.get("user_id"), list):
            parts = {name: inner for name, inner in value.items() if isinstance(inner, list)}
            n_users = len(parts["user_id"])
            if "value" not in parts or any(len(part) != n_users for part in parts.values()):
                continue
            value = [{name: inner[at] for name, inner in parts.items()} for at in range(n_users)]
        elif not isinstance(value, list) or not all(
            isinstance(item, dict) and {"user_id", "value"} <= set(item) for item in value
        ):
            continue
        if value:
            found[key] = value
    return found


def _iterate_argilla_rows(record: dict[str, Any], file: str) -> Iterator[Row]:
    """Yield a row for each user who responded to an Argilla record, with a column per question.

    Raises `InputError` if the responses have no user ids.
    """
    fields = record.get("fields")
    if not isinstance(fields, dict):
        fields = {
            key: inner
            for key, inner in record.items()
            if isinstance(inner, str)
            and key not in OF_RECORD
            and not key.endswith(SUGGESTED)
            and not OF_USER.fullmatch(key)
        }
    texts = {f"field.{name}": format_json_value(value) for name, value in fields.items()}
    known = (record[key] for key in ("id", "external_id", "_server_id") if record.get(key))
    base = {RECORD: format_json_value(next(known, "")), **texts}
    found: dict[str, Row] = {}
    for user, question, value, status in _iterate_argilla_responses(record, file):
        row = found.setdefault(format_json_value(user), {**base, USER: format_json_value(user)})
        row[RESPONSE + question] = format_answer_cell(value)
        row[STATUS] = format_json_value(status)
    yield from found.values()


def _iterate_argilla_responses(
    record: dict[str, Any], file: str
) -> Iterator[tuple[Any, str, Any, Any]]:
    """Yield (user, question, value, status) of each response of an Argilla record."""
    responses = record.get("responses")
    for answer in responses if isinstance(responses, list) else []:
        for question, value in (answer.get("values") or {}).items():
            inner = value.get("value") if isinstance(value, dict) else value
            yield answer.get("user_id"), question, inner, answer.get("status")
    by_question = responses if isinstance(responses, dict) else {}
    for question, listed in {**by_question, **_group_responses(record)}.items():
        for answer in listed or []:
            yield answer.get("user_id"), question, answer.get("value"), answer.get("status")
    for key, value in record.items():
        if value is not None and (user := OF_USER.fullmatch(key)):
            yield user["user"], user["question"], value, ""
    for key in [one for one in record if one.endswith(OF_RESPONSES)]:
        values, users = record[key] or [], record.get(f"{key}.users") or []
        # Parallel lists: with unequal lengths the author of an answer is unknown.
        if not isinstance(values, list) or len(values) != len(users):
            raise InputError.from_code(file, "argilla_nobody")
        statuses = record.get(f"{key}.status") or [""] * len(users)
        for user, value, status in zip(users, values, statuses, strict=False):
            yield user, key.removesuffix(OF_RESPONSES), value, status


def _is_doccano_document(record: dict[str, Any]) -> bool:
    """Return whether a record is an annotated document of doccano."""
    if not {"text", "data", "filename"} & set(record):
        return False
    if set(record) <= DOCUMENT_KEYS and isinstance(record.get("annotations"), list):
        return True
    labels = [key for key in LABEL_KEYS if isinstance(record.get(key), list)]
    if not labels or not any(key in record for key in DOCUMENT_IDS):
        return False
    # Values that were uploaded with a text are fields beside it.
    more = set(record) - DOCUMENT_KEYS
    is_signed = "Comments" in record or any(key in record for key in ANNOTATORS)
    return not more or (is_signed and not any(isinstance(record[key], list | dict) for key in more))


def _iterate_doccano_rows(record: dict[str, Any], file: str) -> Iterator[Row]:
    """Yield a row for each annotator of a doccano document, with the labels in one cell."""
    text = next((record[key] for key in ("text", "data", "filename") if record.get(key)), "")
    number = next((record[key] for key in DOCUMENT_IDS if record.get(key) is not None), "")
    base = {DOCUMENT: format_json_value(number), "text": format_json_value(text)}
    annotations = record.get("annotations")
    if isinstance(annotations, list):
        found: dict[str, list[str]] = {}
        for annotation in annotations:
            label = (
                annotation.get("text", annotation.get("label"))
                if isinstance(annotation, dict)
                else None
            )
            # A span is a place in a text, and no answer that could be compared with others.
            if label is None or "start_offset" in annotation:
                raise InputError.from_code(file, "doccano_spans")
            if not format_json_value(annotation.get("user", "")):
                raise InputError.from_code(file, "doccano_nobody")
            # Several labels of one annotator are one answer.
            found.setdefault(format_json_value(annotation["user"]), []).append(
                format_json_value(label)
            )
        for user, labels in found.items():
            yield {**base, ANNOTATOR: user, LABEL: "\n".join(labels)}
        return
    labels = next(record[key] for key in LABEL_KEYS if isinstance(record.get(key), list))
    if any(not isinstance(label, str | int) for label in labels):
        raise InputError.from_code(file, "doccano_spans")
    yield {
        **base,
        ANNOTATOR: next(
            (
                format_json_value(record[key])
                for key in ANNOTATORS
                if record.get(key) not in (None, "")
            ),
            "",
        )
        or extract_annotator(file),
        LABEL: "\n".join(map(format_json_value, labels)),
    }


def extract_annotator(file: str) -> str:
    """Return the annotator in the name of a doccano file; `InputError` for a common name.

    Raises `InputError` for a name that files of all annotators have.
    """
    name = Path(file).stem
    if name.casefold() in COMMON:
        raise InputError.from_code(file, "doccano_nobody")
    return name


def is_doccano_table(header: Sequence[str], ids: Sequence[str]) -> bool:
    """Return whether a table is a doccano export: document ids, texts and labels only."""
    return (
        {"id", "text", "label"} <= set(header) <= DOCUMENT_KEYS
        and all(name.strip().isdecimal() for name in ids)
        and len(set(ids)) == len(ids) > 0
    )
