"""Convert records of other benchmarks, and their choices, to items.

Read the choices of a benchmark's record: objects with a text, or one text with letters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from annotations.exchange.ids import clean_id
from annotations.exchange.presets.values import format_json_value
from annotations.exchange.problem_messages import PROBLEM_MESSAGES
from annotations.exchange.problems import Problems
from annotations.exchange.reading.nested_records import (
    MISSING,
    Paths,
    find_value_at_paths,
    parse_cell,
    read_records,
)
from annotations.exchange.reading.source import make_source
from evaluation.core.text.items import CHOICE, MultiqaItem
from evaluation.multiqa.files.field_mapping import AnswerForm, FieldMapping
from evaluation.multiqa.files.reading import Fault, ItemsFile, build_item
from evaluation.multiqa.items import LETTERS
from evaluation.runs.files.problem_messages import add_problem

# Keys of an option that is an object, the likelier ones first.
OPTION_TEXTS = ("value", "text", "option_text", "content", "option", "choice", "answer")
OPTION_LABELS = ("key", "label", "id", "letter", "option_id", "idx", "index")


class UnreadableOptionsError(ValueError):
    """Error: the answer choices are JSON objects without a known key for their text."""


def split_lettered_choices(text: str) -> tuple[list[str], list[str]] | None:
    """Return the choices in a text such as "a ) 38 , b ) 1,200", and their letters.

    A choice ends where a comma and the next letter follow, so it may hold commas itself. Brackets
    and quotation marks around the choices are dropped. None for a text without two such letters.
    """
    starts: list[re.Match[str]] = []
    # Letters are looked for in their order, so that "a)" within a choice does not begin a new one.
    for letter in LETTERS.lower():
        before = r"[\s,;'\"]*[,;][\s'\"]*" if starts else r"[\s\['\"]*"
        mark = re.compile(rf"{before}\(?{letter}\s*\)\s*", re.IGNORECASE)
        start = mark.search(text, starts[-1].end()) if starts else mark.match(text)
        if start is None:
            break
        starts.append(start)
    if len(starts) < 2:
        return None
    ends = [start.start() for start in starts[1:]] + [len(text)]
    texts = [text[start.end() : end] for start, end in zip(starts, ends, strict=True)]
    texts[-1] = texts[-1].rstrip(" ,;]'\"" if text.lstrip().startswith("[") else " ,;")
    return [each.strip() for each in texts], list(LETTERS.lower()[: len(texts)])


def read_option_objects(options: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[str]]:
    """Return texts and labels of choices that are JSON objects such as {"key", "value"}.

    Raises `UnreadableOptionsError`.
    """
    text_key = next((key for key in OPTION_TEXTS if all(key in option for option in options)), None)
    if text_key is None:
        raise UnreadableOptionsError(", ".join(map(str, options[0])))
    label_keys = [key for key in OPTION_LABELS if all(key in option for option in options)]
    return (
        [format_json_value(option[text_key]) for option in options],
        [format_json_value(option[label_keys[0]]) for option in options] if label_keys else [],
    )


YES = frozenset({"1", "1.0", "true", "yes"})
NO = frozenset({"0", "0.0", "false", "no"})
# Keys that the Hugging Face rows API adds around a record.
ROW_KEYS = frozenset({"row", "row_idx", "truncated_cells"})
MOST_REASONS = 10


def read_mapped_items(path: Path, mapping: FieldMapping, most: int | None = None) -> ItemsFile:
    """Return the items of another benchmark's file of records, by a field mapping.

    Unanswerable records become items without an accepted answer, which metrics leave out. Invalid
    records are left out and counted by reason in the warnings: no question, an answer that is not
    among the choices or neither yes nor no, an id of another item.

    Parameters
    ----------
    most : read only the first records; None reads all.

    Raises
    ------
    InputError : the file cannot be read, or every record is invalid.
    """
    origin = make_source(path)
    problems = Problems(origin.name)
    items: dict[str, tuple[MultiqaItem, int]] = {}
    invalid = _InvalidRecords()
    n_rows = n_repeated = 0
    records = read_records(path, mapping.records, mapping.header, mapping.tsv_quote)
    for line, wrapped, parents in islice(records, most):
        n_rows += 1
        faults: list[Fault] = []
        record = _unwrap_row(wrapped, faults)
        cells = {} if faults else _build_item_cells(record, parents, mapping, n_rows, faults)
        item = build_item(cells, faults) if not faults else None
        if item is not None and not faults:
            first, first_line = items.setdefault(item.item, (item, line))
            if first is item:
                continue
            # Such a benchmark has a row for each answer: these rows are one item, and no
            # repetition.
            if mapping.is_accepted and first == replace(item, answers=first.answers):
                answers = tuple(dict.fromkeys([*first.answers, *item.answers]))
                items[item.item] = (replace(first, answers=answers), first_line)
                continue
            if first == item:
                n_repeated += 1
                continue
            repeats = {"record": n_rows, "item": item.item[:60], "earlier": first_line}
            # Problems are raised only if no record is valid; else the warnings count them.
            add_problem(problems, line, None, "record_repeats_item", **repeats)
            invalid.add_record(line, f"item {item.item[:60]} is already in line {first_line}")
            continue
        reasons = [fault.build_problem(problems.file, line) for fault in faults]
        invalid.add_record(line, reasons[0].reason)
        for fault in faults:
            problems.extend([fault.build_problem(problems.file, line, f"record {n_rows}: ")])
    if not n_rows:
        looked = ", ".join(mapping.records)
        add_problem(problems, None, None, "no_records", looked=looked)
    if not items:
        problems.raise_if_any()
    pairs = list(items.values())
    return ItemsFile(
        origin.name,
        origin.compute_digest(),
        n_rows,
        n_repeated,
        invalid.list_warnings(n_rows),
        [item for item, _ in pairs],
        [line for _, line in pairs],
    )


class _InvalidRecords:
    """Number of invalid records by reason, with the line of the first record of each."""

    def __init__(self) -> None:
        self._by_reason: dict[str, tuple[int, int]] = {}

    def add_record(self, line: int, reason: str) -> None:
        """Count one invalid record at `line` under its reason."""
        count, first = self._by_reason.get(reason, (0, line))
        self._by_reason[reason] = (count + 1, first)

    def list_warnings(self, n_rows: int) -> list[str]:
        """Return a sentence for each of the most frequent reasons, and one for the others."""
        counted = sorted(self._by_reason.items(), key=lambda entry: (-entry[1][0], entry[1][1]))
        warnings = [
            _format_warning("records_left_out", count=count, total=n_rows, reason=reason, line=line)
            for reason, (count, line) in counted[:MOST_REASONS]
        ]
        if others := counted[MOST_REASONS:]:
            count, line = sum(n for _, (n, _) in others), min(first for _, (_, first) in others)
            more = f"{len(others):,} other reasons"
            warnings.append(
                _format_warning(
                    "records_left_out", count=count, total=n_rows, reason=more, line=line
                )
            )
        return warnings


def _format_warning(code: str, **values: object) -> str:
    """Return the warning sentence of a problem code, filled with `values`."""
    return f"{PROBLEM_MESSAGES[code].texts(values)[0]}."


def _unwrap_row(record: Any, faults: list[Fault]) -> Any:
    """Return the record inside a Hugging Face rows API entry, or the record itself.

    A value that is no object, or a record with truncated cells, is added to `faults`.
    """
    if not isinstance(record, dict):
        faults.append(Fault("", "record_no_object"))
        return {}
    row = record.get("row")
    if not isinstance(row, dict) or not set(record) <= ROW_KEYS:
        return record
    if cut := record.get("truncated_cells"):
        cells = ", ".join(map(str, cut)) if isinstance(cut, list) else str(cut)
        faults.append(Fault("", "record_cut", {"cells": cells[:60]}))
    return row


def _build_item_cells(
    record: Any,
    parents: Sequence[Any],
    mapping: FieldMapping,
    number: int,
    faults: list[Fault],
) -> dict[str, str]:
    """Return a record as the cells of an item file's row; add invalid values to `faults`."""

    def find_text(paths: Paths, default: str = "") -> str:
        value = find_value_at_paths(record, paths, parents)
        return default if value is MISSING or value is None else format_json_value(value)

    question = find_text(mapping.question).strip()
    if not question:
        looked = ", ".join(mapping.question)
        faults.append(Fault("question", "question_not_found", {"looked": looked}))
    try:
        choices, labels = _read_record_choices(record, parents, mapping)
    except UnreadableOptionsError as error:
        faults.append(Fault("choices", "options_without_text", {"keys": str(error)}))
        return {}
    answers = _read_record_answers(record, parents, mapping, choices, labels, faults)
    # Records of other kinds may hold choices too, which an item must not have.
    item_choices = choices if mapping.kind == CHOICE else []
    return {
        "item": find_text(mapping.item, str(number)) or str(number),
        "kind": mapping.kind,
        "dataset": find_text(mapping.dataset_from, mapping.dataset) or mapping.dataset,
        "context": find_text(mapping.context),
        "question": question,
        "choices": json.dumps(item_choices, ensure_ascii=False) if item_choices else "",
        "answers": json.dumps(answers, ensure_ascii=False),
        "matcher": mapping.matcher,
    }


def _read_record_choices(
    record: Any, parents: Sequence[Any], mapping: FieldMapping
) -> tuple[list[str], list[str]]:
    """Return the texts of a record's answer choices, and their labels ([] without labels).

    Raises `UnreadableOptionsError`.
    """
    if mapping.fixed_choices:
        return list(mapping.fixed_choices), []
    value = find_value_at_paths(record, mapping.choices, parents)
    if value is MISSING or value is None:
        return [], []
    labels = find_value_at_paths(record, mapping.labels, parents)
    if isinstance(value, str):
        lettered = split_lettered_choices(value)
        if lettered is not None:
            return lettered
        value = parse_cell(value)
    if isinstance(value, list) and value and all(isinstance(option, dict) for option in value):
        return read_option_objects(value)
    if isinstance(value, dict):
        # Usually {label: text}; with flags {text: whether it is right}.
        if mapping.answers_are is AnswerForm.FLAGS:
            return [str(key) for key in value], []
        return [format_json_value(text) for text in value.values()], [str(key) for key in value]
    texts = [format_json_value(text) for text in (value if isinstance(value, list) else [value])]
    return texts, [] if labels is MISSING else [format_json_value(label) for label in labels]


def _read_record_answers(
    record: Any,
    parents: Sequence[Any],
    mapping: FieldMapping,
    choices: Sequence[str],
    labels: Sequence[str],
    faults: list[Fault],
) -> list[str]:
    """Return a record's distinct accepted answers; [] for an unanswerable question."""
    unanswerable = find_value_at_paths(record, mapping.unanswerable, parents)
    if unanswerable is not MISSING and _is_yes(unanswerable):
        return []
    if mapping.is_accepted:
        flag = find_value_at_paths(record, mapping.is_accepted, parents)
        is_accepted = parse_yes_no(flag)
        if is_accepted is None:
            shown = "" if flag is MISSING or flag is None else format_json_value(flag)[:40]
            faults.append(Fault("answers", "flag_neither", {"flag": shown}))
        if not is_accepted:
            return []
    value = find_value_at_paths(record, mapping.answers, parents)
    if value is MISSING or value is None:
        looked = ", ".join(mapping.answers)
        faults.append(Fault("answers", "answer_not_found", {"looked": looked}))
        return []
    if isinstance(value, str) and mapping.parted_by:
        value = value.split(mapping.parted_by)
    elif isinstance(value, str):
        value = parse_cell(value)
    if mapping.answers_are is AnswerForm.FLAGS:
        flags = list(value.values()) if isinstance(value, dict) else value
        if not isinstance(flags, list) or len(flags) != len(choices):
            faults.append(Fault("answers", "flags_uneven"))
            return []
        parsed = [parse_yes_no(flag) for flag in flags]
        if None in parsed:
            unknown = format_json_value(flags[parsed.index(None)])[:40]
            faults.append(Fault("answers", "flag_neither", {"flag": unknown}))
            return []
        return [text for text, flag in zip(choices, parsed, strict=True) if flag]
    # NaN, the only value that differs from itself, stands for a missing value, as null does.
    values = [each for each in (value if isinstance(value, list) else [value]) if each == each]
    values = [each for each in values if each is not None]
    texts = [
        _read_accepted_answer(each, mapping.answers_are, choices, labels, faults) for each in values
    ]
    return [text for text in dict.fromkeys(texts) if text.strip()]


def _read_accepted_answer(
    value: Any,
    form: AnswerForm,
    choices: Sequence[str],
    labels: Sequence[str],
    faults: list[Fault],
) -> str:
    """Return the text of one accepted answer; "" for an empty or invalid value."""
    text = format_json_value(value).strip()
    if form is AnswerForm.YES_NO:
        is_yes = parse_yes_no(value)
        if is_yes is None and text:
            faults.append(Fault("answers", "answer_neither", {"answer": text[:40]}))
        return "" if is_yes is None else "yes" if is_yes else "no"
    if form is AnswerForm.LABEL and text in labels:
        return choices[labels.index(text)]
    if form is AnswerForm.LABEL and (similar := _find_similar_candidate(text, labels)) is not None:
        return choices[similar]
    is_letter = len(text) == 1 and text.upper() in LETTERS
    if form is AnswerForm.LABEL and not labels and is_letter:
        index = LETTERS.index(text.upper())
    elif form is AnswerForm.PLACE and text.isdecimal():
        index = int(text)
    elif form is AnswerForm.PLACE and is_letter:
        index = LETTERS.index(text.upper())
    else:
        if (form is AnswerForm.TEXT and not choices) or text in choices or not text:
            return text
        similar_choice = _find_similar_candidate(text, choices)
        if similar_choice is None and form is not AnswerForm.TEXT:
            faults.append(Fault("answers", "answer_not_among", {"answer": text[:60]}))
            return ""
        return text if similar_choice is None else choices[similar_choice]
    if index >= len(choices):
        values = {"answer": text, "n": len(choices)}
        faults.append(Fault("answers", "answer_no_choice", values))
        return ""
    return choices[index]


def _find_similar_candidate(text: str, candidates: Sequence[str]) -> int | None:
    """Return the index of the only candidate equal to the text except for case and spaces.

    None without such a candidate or with several.
    """
    folded = clean_id(text).casefold()
    indices = [
        index
        for index, candidate in enumerate(candidates)
        if clean_id(candidate).casefold() == folded
    ]
    return indices[0] if len(indices) == 1 else None


def parse_yes_no(value: Any) -> bool | None:
    """Return whether a value means yes; None if neither yes nor no, such as -1."""
    word = str(value).strip().casefold()
    return True if word in YES else False if word in NO else None


def _is_yes(value: Any) -> bool:
    """Return whether a value means yes; False also for a value that is neither yes nor no."""
    return parse_yes_no(value) is True


def convert_items_to_json(items: Sequence[MultiqaItem]) -> Iterator[Mapping[str, Any]]:
    """Yield each item as a JSON object for a JSON Lines file that `read_items` can read."""
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
