"""A field mapper: records of other people's files become items (see `mappings` for ready ones).

A path leads through a record by its keys, "question.stem"; "*" goes through a list, or the values
of an object. "^" is the object that the record stands in, "^^" the one around that. "A,B,C" is
several of them in their order. Of alternatives the first that is there counts.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any, Self

from annotations.exchange import InputError
from annotations.exchange.problems import Problems
from annotations.exchange.reading.decoding import open_text
from annotations.exchange.reading.source import source_of
from evaluation.files.multiqa.reading import Fault, ItemsFile, item_of
from evaluation.files.problem_messages import file_error, note_problem
from evaluation.flow.multiqa.answering import LETTERS
from evaluation.flow.multiqa.items import CHOICE, KINDS, MATCHERS, MultiqaItem

Paths = tuple[str, ...]
MISSING = object()
ACCEPTED = (".json", ".jsonl", ".ndjson", ".csv", ".tsv")


class Form(StrEnum):
    """What the answers of a record are."""

    TEXT = "text"
    LABEL = "label"
    PLACE = "place"
    FLAGS = "flags"
    YES_NO = "yes_no"


@dataclass(frozen=True)
class FieldMapping:
    """Where the fields of an item stand in a record.

    Attributes
    ----------
    kind, matcher, dataset : of all items; a data set may be a path too, as `dataset_from`.
    records : where the records are in a JSON document; each line of JSON Lines, each row is one.
    item : the id; without one items are numbered from 1.
    question, context, choices, answers, labels : paths, alternatives in their order. Without
        `choices` of the kind choice there are `fixed_choices`.
    answers_are : texts; labels, which stand beside the choices in `labels` (the keys of an object
        of choices without it); places from 0; flags, one for each choice; yes or no.
    parted_by : what parts several answers in a cell.
    unanswerable : where a record says that it has no answer.
    header : names of the columns of a CSV file without a header.
    """

    kind: str
    question: Paths
    answers: Paths
    records: Paths = ("*",)
    item: Paths = ()
    context: Paths = ()
    choices: Paths = ()
    fixed_choices: tuple[str, ...] = ()
    labels: Paths = ()
    answers_are: Form = Form.TEXT
    parted_by: str = ""
    unanswerable: Paths = ()
    matcher: str = ""
    dataset: str = ""
    dataset_from: Paths = ()
    header: tuple[str, ...] = ()

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a mapping that somebody wrote, a JSON object of these fields.

        Raises `InputError`.
        """
        try:
            given = json.loads(path.read_text(encoding="utf-8-sig"))
        except (OSError, ValueError, RecursionError) as error:
            cause = getattr(error, "strerror", None) or str(error)
            raise file_error(str(path), "mapping_unreadable", cause=cause) from error
        problems = Problems(path.name)
        if not isinstance(given, dict):
            note_problem(problems, None, None, "mapping_no_object")
            problems.raise_if_any()
        values = {name: _checked(name, value, problems) for name, value in given.items()}
        for name in ("kind", "question", "answers"):
            if name not in values:
                note_problem(problems, None, name, "field_missing")
        problems.raise_if_any()
        return cls(**values)


ONE_OF: Mapping[str, Sequence[str]] = {
    "kind": KINDS,
    "matcher": MATCHERS,
    "answers_are": tuple(Form),
}


def _checked(name: str, value: Any, problems: Problems) -> Any:
    """Return the value of a field of a mapping; what is wrong with it is noted."""
    known = {one.name: one for one in fields(FieldMapping)}
    if name not in known:
        note_problem(problems, None, name, "field_unknown", known=", ".join(known))
    elif isinstance(known[name].default, tuple) or name in ("question", "answers"):
        listed = [value] if isinstance(value, str) else value
        if isinstance(listed, list) and all(isinstance(one, str) for one in listed):
            return tuple(listed)
        note_problem(problems, None, name, "field_no_path")
    elif not isinstance(value, str):
        note_problem(problems, None, name, "field_no_text")
    elif name in ONE_OF and value not in ONE_OF[name]:
        note_problem(problems, None, name, "field_no_choice", choices=", ".join(ONE_OF[name]))
    elif name == "answers_are":
        return Form(value)
    return value


def read_mapped(path: Path, mapping: FieldMapping, most: int | None = None) -> ItemsFile:
    """Read the items of a file of records, at most so many of its first ones.

    Records without an answer, and unanswerable ones, become items without an accepted answer,
    which are left out of the numbers.

    Raises
    ------
    InputError : the file cannot be read, or a record lacks its question or its answers, has an
        answer that is no choice, or an id that another one has.
    """
    origin = source_of(path)
    problems = Problems(origin.name)
    items: dict[str, tuple[MultiqaItem, int]] = {}
    n_rows = 0
    for line, record, above in islice(_records(path, mapping), most):
        n_rows += 1
        found: list[Fault] = []
        cells = _cells(record, above, mapping, n_rows, found)
        item = item_of(cells, found) if not found else None
        for fault in found:
            problems.extend([fault.problem(problems.file, line, f"record {n_rows}: ")])
        if item is not None and not found:
            first, first_line = items.setdefault(item.item, (item, line))
            if first is not item:
                repeats = {"record": n_rows, "item": item.item[:60], "earlier": first_line}
                note_problem(problems, line, None, "record_repeats_item", **repeats)
    if not n_rows:
        looked = ", ".join(mapping.records)
        note_problem(problems, None, None, "no_records", looked=looked)
    problems.raise_if_any()
    kept = list(items.values())
    return ItemsFile(
        origin.name,
        origin.digest(),
        n_rows,
        0,
        [],
        [item for item, _ in kept],
        [line for _, line in kept],
    )


def _records(path: Path, mapping: FieldMapping) -> Iterator[tuple[int, Any, tuple[Any, ...]]]:
    """Yield each record with its line (in JSON its number) and the objects it stands in."""
    origin = source_of(path)
    kind = origin.suffix
    if kind not in ACCEPTED:
        raise InputError.single(
            origin.name,
            f"the ending {kind or '(none)'} is not among {', '.join(ACCEPTED)}",
            "Records of workbooks and of tables of ours need no mapping.",
        )
    source = open_text(origin)
    if kind in (".csv", ".tsv"):
        yield from _rows(source.lines(""), "\t" if kind == ".tsv" else ",", mapping)
        return
    if kind == ".json":
        document = _parsed("".join(source.lines("")), origin.name, None)
        for path_ in mapping.records:
            steps = path_.split(".")
            found = [one for one in _walk(document, steps, ()) if isinstance(one[0], dict)]
            if found:
                for number, (record, above) in enumerate(found, 1):
                    yield number, record, above
                return
        return
    for number, line in enumerate(source.lines("\n"), 1):
        if line.strip():
            yield number, _parsed(line, origin.name, number), ()


def _parsed(text: str, name: str, line: int | None) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        at = getattr(error, "lineno", None) if line is None else line
        cause, column = getattr(error, "msg", error), getattr(error, "colno", None)
        raise file_error(name, "record_of_json", line=at, column=column, cause=cause) from error
    except RecursionError as error:
        raise InputError.single(name, "the JSON is nested too deeply", line=line) from error


def _rows(
    lines: Iterator[str], delimiter: str, mapping: FieldMapping
) -> Iterator[tuple[int, Any, tuple[Any, ...]]]:
    reader = csv.reader(lines, delimiter=delimiter)
    names: Sequence[str] = ()
    for row in reader:
        if not any(cell.strip() for cell in row):
            continue
        if not names:
            names = [cell.strip() for cell in row]
            if not mapping.header or set(mapping.header) <= set(names):
                continue
            names = mapping.header
        yield reader.line_num, dict(zip(names, row, strict=False)), ()


def _walk(
    value: Any, steps: Sequence[str], above: tuple[Any, ...]
) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Yield what the steps lead to, with the objects on the way, the nearest first."""
    if not steps:
        yield value, above
        return
    step, rest = steps[0], steps[1:]
    inside = (value, *above) if isinstance(value, dict) else above
    if step == "*":
        members = value.values() if isinstance(value, dict) else value
        if isinstance(members, list) or isinstance(value, dict):
            for one in members:
                yield from _walk(one, rest, inside)
    elif isinstance(value, dict) and step in value:
        yield from _walk(value[step], rest, inside)


def _found(record: Any, above: Sequence[Any], paths: Paths) -> Any:
    """Return what the first path that is there leads to: a value, or a list for "*" and commas."""
    for path in paths:
        begin, place = record, path
        while place.startswith("^"):
            level = len(path) - len(path.lstrip("^"))
            if level > len(above):
                break
            begin, place = above[level - 1], path.lstrip("^").removeprefix(".")
        if "," in place:
            parts = [_found(begin, above, (part.strip(),)) for part in place.split(",")]
            if MISSING not in parts:
                return parts
            continue
        steps = place.split(".")
        values = [value for value, _ in _walk(begin, steps, ())]
        if "*" in steps and values:
            return values
        if values:
            return values[0]
    return MISSING


def _cells(
    record: Any,
    above: Sequence[Any],
    mapping: FieldMapping,
    number: int,
    found: list[Fault],
) -> dict[str, str]:
    """Return the cells of an item as a table of ours has them."""

    def text(paths: Paths, default: str = "") -> str:
        value = _found(record, above, paths)
        return default if value is MISSING or value is None else _text(value)

    question = text(mapping.question).strip()
    if not question:
        looked = ", ".join(mapping.question)
        found.append(Fault("question", "question_not_found", {"looked": looked}))
    choices, labels = _choices(record, above, mapping)
    answers = _answers(record, above, mapping, choices, labels, found)
    listed = choices if mapping.kind == CHOICE else []
    return {
        "item": text(mapping.item, str(number)) or str(number),
        "kind": mapping.kind,
        "dataset": text(mapping.dataset_from, mapping.dataset) or mapping.dataset,
        "context": text(mapping.context),
        "question": question,
        "choices": json.dumps(listed, ensure_ascii=False) if listed else "",
        "answers": json.dumps(answers, ensure_ascii=False),
        "matcher": mapping.matcher,
    }


def _choices(
    record: Any, above: Sequence[Any], mapping: FieldMapping
) -> tuple[list[str], list[str]]:
    """Return the texts of the choices, and the labels by which answers may name them."""
    if mapping.fixed_choices:
        return list(mapping.fixed_choices), []
    value = _found(record, above, mapping.choices)
    if value is MISSING or value is None:
        return [], []
    labels = _found(record, above, mapping.labels)
    if isinstance(value, str):
        value = _of_json(value)
    if isinstance(value, dict):
        # Texts by their labels; of flags (a text and whether it is right) the keys are the texts.
        if mapping.answers_are is Form.FLAGS:
            return [str(key) for key in value], []
        return [_text(one) for one in value.values()], [str(key) for key in value]
    named = [] if labels is MISSING else [_text(one) for one in labels]
    return [_text(one) for one in (value if isinstance(value, list) else [value])], named


def _answers(
    record: Any,
    above: Sequence[Any],
    mapping: FieldMapping,
    choices: Sequence[str],
    labels: Sequence[str],
    found: list[Fault],
) -> list[str]:
    none = _found(record, above, mapping.unanswerable)
    if none is not MISSING and _is_yes(none):
        return []
    value = _found(record, above, mapping.answers)
    if value is MISSING or value is None:
        looked = ", ".join(mapping.answers)
        found.append(Fault("answers", "answer_not_found", {"looked": looked}))
        return []
    if isinstance(value, str) and mapping.parted_by:
        value = value.split(mapping.parted_by)
    elif isinstance(value, str):
        value = _of_json(value)
    if mapping.answers_are is Form.FLAGS:
        flags = list(value.values()) if isinstance(value, dict) else value
        if not isinstance(flags, list) or len(flags) != len(choices):
            found.append(Fault("answers", "flags_uneven"))
            return []
        return [text for text, flag in zip(choices, flags, strict=True) if _is_yes(flag)]
    given = [one for one in (value if isinstance(value, list) else [value]) if one is not None]
    read = [_answer(one, mapping.answers_are, choices, labels, found) for one in given]
    return [one for one in dict.fromkeys(read) if one.strip()]


def _answer(
    value: Any,
    form: Form,
    choices: Sequence[str],
    labels: Sequence[str],
    found: list[Fault],
) -> str:
    text = _text(value).strip()
    if form is Form.YES_NO:
        return "yes" if _is_yes(value) else "no"
    if form is Form.LABEL and text in labels:
        return choices[labels.index(text)]
    if form is Form.LABEL and not labels and len(text) == 1 and text.upper() in LETTERS:
        at = LETTERS.index(text.upper())
    elif form is Form.PLACE and text.isdecimal():
        at = int(text)
    elif form is Form.PLACE and len(text) == 1 and text.upper() in LETTERS:
        at = LETTERS.index(text.upper())
    else:
        return text
    if at >= len(choices):
        of = {"answer": text, "n": len(choices)}
        found.append(Fault("answers", "answer_no_choice", of))
        return ""
    return choices[at]


def _of_json(text: str) -> Any:
    """Return the list or object that a cell holds as JSON, else the text."""
    if text.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text


def _is_yes(value: Any) -> bool:
    return str(value).strip().casefold() in ("1", "true", "yes")


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else json.dumps(value, ensure_ascii=False)


def named(mapping: FieldMapping, dataset: str) -> FieldMapping:
    """Return a mapping whose items are of a data set, where it names none."""
    return mapping if mapping.dataset else replace(mapping, dataset=dataset)


def as_json(items: Sequence[MultiqaItem]) -> Iterator[Mapping[str, Any]]:
    """Yield items as lines of a JSON Lines file that `read_items` reads."""
    for item in items:
        yield {
            "item": item.item,
            "kind": item.kind,
            "dataset": item.dataset,
            "context": item.context,
            "question": item.question,
            "choices": list(item.choices),
            "answers": list(item.answers),
            "matcher": item.matcher,
        }
