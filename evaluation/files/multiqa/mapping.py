"""A field mapper: records of other people's files become items (see `mappings` for ready ones).

A path leads through a record by its keys, "question.stem"; "*" goes through a list, or the values
of an object. "^" is the object that the record stands in, "^^" the one around that. "A,B,C" is
several of them in their order. Of alternatives the first that is there counts.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from annotations.exchange import InputError
from annotations.exchange.ids import clean_id
from annotations.exchange.problem_messages import PROBLEM_MESSAGES
from annotations.exchange.problems import Problems
from annotations.exchange.reading.decoding import open_text
from annotations.exchange.reading.source import source_of
from evaluation.files.multiqa.field_mapping import FieldMapping, Form, Paths
from evaluation.files.multiqa.reading import Fault, ItemsFile, item_of
from evaluation.files.problem_messages import file_error, note_problem
from evaluation.flow.multiqa.answering import LETTERS
from evaluation.flow.multiqa.items import CHOICE, MultiqaItem

MISSING = object()
YES = frozenset({"1", "1.0", "true", "yes"})
NO = frozenset({"0", "0.0", "false", "no"})
OPTION_TEXTS = ("value", "text", "option_text", "content", "option", "choice", "answer")
OPTION_LABELS = ("key", "label", "id", "letter", "option_id", "idx", "index")
"""Keys of an option that is an object, the likelier first."""
ROW_KEYS = frozenset({"row", "row_idx", "truncated_cells"})
MOST_REASONS = 10
ACCEPTED = (".json", ".jsonl", ".ndjson", ".csv", ".tsv")


class _UnreadableOptionsError(ValueError):
    """Options are objects of which no key is known to hold a text."""


def read_mapped(path: Path, mapping: FieldMapping, most: int | None = None) -> ItemsFile:
    """Read the items of a file of records, at most so many of its first ones.

    Records without an answer, and unanswerable ones, become items without an accepted answer,
    which are left out of the numbers. Bad records (no question, an answer that is no choice or
    neither yes nor no, an id that another item has) are left out and counted by their reasons in
    the warnings.

    Raises
    ------
    InputError : the file cannot be read, or every record is bad.
    """
    origin = source_of(path)
    problems = Problems(origin.name)
    items: dict[str, tuple[MultiqaItem, int]] = {}
    bad = _BadRecords()
    n_rows = n_repeated = 0
    for line, wrapped, above in islice(_records(path, mapping), most):
        n_rows += 1
        found: list[Fault] = []
        record = _unwrapped(wrapped, found)
        cells = {} if found else _cells(record, above, mapping, n_rows, found)
        item = item_of(cells, found) if not found else None
        if item is not None and not found:
            first, first_line = items.setdefault(item.item, (item, line))
            if first is item:
                continue
            if first == item:
                n_repeated += 1
                continue
            repeats = {"record": n_rows, "item": item.item[:60], "earlier": first_line}
            note_problem(problems, line, None, "record_repeats_item", **repeats)
            bad.add(line, f"item {item.item[:60]} stands already in line {first_line}")
            continue
        reasons = [fault.problem(problems.file, line) for fault in found]
        bad.add(line, reasons[0].reason)
        for fault in found:
            problems.extend([fault.problem(problems.file, line, f"record {n_rows}: ")])
    if not n_rows:
        looked = ", ".join(mapping.records)
        note_problem(problems, None, None, "no_records", looked=looked)
    if not items:
        problems.raise_if_any()
    kept = list(items.values())
    return ItemsFile(
        origin.name,
        origin.digest(),
        n_rows,
        n_repeated,
        bad.warnings(n_rows),
        [item for item, _ in kept],
        [line for _, line in kept],
    )


class _BadRecords:
    """Counts the records that became no item, by their reasons, each with its first line."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, int]] = {}

    def add(self, line: int, reason: str) -> None:
        """Count one."""
        count, first = self._found.get(reason, (0, line))
        self._found[reason] = (count + 1, first)

    def warnings(self, n_rows: int) -> list[str]:
        """Return a sentence for each of the commonest reasons, and one for the others."""
        counted = sorted(self._found.items(), key=lambda one: (-one[1][0], one[1][1]))
        found = [
            _sentence("records_left_out", count=count, total=n_rows, reason=reason, line=line)
            for reason, (count, line) in counted[:MOST_REASONS]
        ]
        if others := counted[MOST_REASONS:]:
            count, line = sum(n for _, (n, _) in others), min(first for _, (_, first) in others)
            more = f"{len(others):,} other reasons"
            found.append(
                _sentence("records_left_out", count=count, total=n_rows, reason=more, line=line)
            )
        return found


def _sentence(code: str, **values: object) -> str:
    return f"{PROBLEM_MESSAGES[code].texts(values)[0]}."


def _unwrapped(record: Any, found: list[Fault]) -> Any:
    """Return a record without what the rows API of the hub puts around it."""
    if not isinstance(record, dict):
        found.append(Fault("", "record_no_object"))
        return {}
    row = record.get("row")
    if not isinstance(row, dict) or not set(record) <= ROW_KEYS:
        return record
    if cut := record.get("truncated_cells"):
        named = ", ".join(map(str, cut)) if isinstance(cut, list) else str(cut)
        found.append(Fault("", "record_cut", {"cells": named[:60]}))
    return row


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
        yield from _of_document(document, mapping.records)
        return
    for number, line in enumerate(source.lines("\n"), 1):
        if line.strip():
            yield number, _parsed(line, origin.name, number), ()


def _of_document(document: Any, paths: Paths) -> Iterator[tuple[int, Any, tuple[Any, ...]]]:
    if isinstance(document, dict) and _are_wrapped(document.get("rows")):
        document = document["rows"]
    for path in paths:
        found = list(_walk(document, path.split("."), ()))
        if not any(isinstance(record, dict) for record, _ in found):
            continue
        # In a list of records each is counted; of an object only its objects may be records.
        is_list = isinstance(document, list) and path == "*"
        records = found if is_list else [one for one in found if isinstance(one[0], dict)]
        for number, (record, above) in enumerate(records, 1):
            yield number, record, above
        return


def _are_wrapped(rows: Any) -> bool:
    """Return whether these are rows of the hub's rows API."""
    return isinstance(rows, list) and any(isinstance(one, dict) and "row" in one for one in rows)


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
    try:
        choices, labels = _choices(record, above, mapping)
    except _UnreadableOptionsError as error:
        found.append(Fault("choices", "options_without_text", {"keys": str(error)}))
        return {}
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
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        return _of_objects(value)
    if isinstance(value, dict):
        # Texts by their labels; of flags (a text and whether it is right) the keys are the texts.
        if mapping.answers_are is Form.FLAGS:
            return [str(key) for key in value], []
        return [_text(one) for one in value.values()], [str(key) for key in value]
    named = [] if labels is MISSING else [_text(one) for one in labels]
    return [_text(one) for one in (value if isinstance(value, list) else [value])], named


def _of_objects(options: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[str]]:
    """Return the texts and the labels of options that are objects, such as {"key", "value"}."""
    text_key = next((key for key in OPTION_TEXTS if all(key in one for one in options)), None)
    if text_key is None:
        raise _UnreadableOptionsError(", ".join(map(str, options[0])))
    labels = [key for key in OPTION_LABELS if all(key in one for one in options)]
    return (
        [_text(one[text_key]) for one in options],
        [_text(one[labels[0]]) for one in options] if labels else [],
    )


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
        read_flags = [_yes_or_no(flag) for flag in flags]
        if None in read_flags:
            unknown = _text(flags[read_flags.index(None)])[:40]
            found.append(Fault("answers", "flag_neither", {"flag": unknown}))
            return []
        return [text for text, flag in zip(choices, read_flags, strict=True) if flag]
    # A number that is not one (NaN) stands for a missing value, as null does.
    given = [one for one in (value if isinstance(value, list) else [value]) if one == one]
    given = [one for one in given if one is not None]
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
        is_yes = _yes_or_no(value)
        if is_yes is None and text:
            found.append(Fault("answers", "answer_neither", {"answer": text[:40]}))
        return "" if is_yes is None else "yes" if is_yes else "no"
    if form is Form.LABEL and text in labels:
        return choices[labels.index(text)]
    if form is Form.LABEL and (alike := _alike(text, labels)) is not None:
        return choices[alike]
    if form is Form.LABEL and not labels and len(text) == 1 and text.upper() in LETTERS:
        at = LETTERS.index(text.upper())
    elif form is Form.PLACE and text.isdecimal():
        at = int(text)
    elif form is Form.PLACE and len(text) == 1 and text.upper() in LETTERS:
        at = LETTERS.index(text.upper())
    else:
        if (form is Form.TEXT and not choices) or text in choices or not text:
            return text
        at_choice = _alike(text, choices)
        if at_choice is None and form is not Form.TEXT:
            found.append(Fault("answers", "answer_not_among", {"answer": text[:60]}))
            return ""
        return text if at_choice is None else choices[at_choice]
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


def _alike(text: str, among: Sequence[str]) -> int | None:
    """Return the place of the only one that differs in case and blanks alone; None for none."""
    folded = clean_id(text).casefold()
    places = [at for at, one in enumerate(among) if clean_id(one).casefold() == folded]
    return places[0] if len(places) == 1 else None


def _yes_or_no(value: Any) -> bool | None:
    """Return whether a value says yes; None for what is neither, such as the -1 of a test split."""
    word = str(value).strip().casefold()
    return True if word in YES else False if word in NO else None


def _is_yes(value: Any) -> bool:
    return _yes_or_no(value) is True


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else json.dumps(value, ensure_ascii=False)


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
