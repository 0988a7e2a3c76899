"""Read files of items and of replies, and validate every row.

The columns are described in platform/docs/data-formats.md, Studies.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotations.exchange import AnswerStatus, Problem
from annotations.exchange.header import Column, parse_column_names
from annotations.exchange.ids import clean_id
from annotations.exchange.model_replies import describe_thinking_counts, split_model_reply
from annotations.exchange.problems import Problems
from annotations.exchange.reading.answers import LONGEST_ANSWER, normalise_text
from annotations.exchange.reading.source import Readable, make_source
from annotations.exchange.reading.tables import open_table
from evaluation.core.text.items import DEFAULT_MATCHERS, KINDS, MATCHERS, MultiqaItem
from evaluation.multiqa.items import Replies
from evaluation.multiqa.run.judging import find_item_fault
from evaluation.runs.files.problem_messages import add_problem
from evaluation.runs.files.problem_messages import build_problem as file_problem
from evaluation.runs.flow.metrics import Exclusions

ITEM_COLUMNS = (
    *("item", "kind", "dataset", "context", "question", "choices", "answers", "matcher"),
)
REPLY_COLUMNS = (
    *("system", "item", "variant", "variant_text", "reply", "status", "finish_reason"),
)
KNOWN = tuple(dict.fromkeys((*ITEM_COLUMNS, *REPLY_COLUMNS)))
NEEDED = frozenset({"item", "kind", "answers", "variant", "reply"})
LISTS = frozenset({"choices", "answers"})

# Name of the system where the column system is empty.
MODEL = "model"
MOST_VARIANTS = 10_000
UNKNOWN_ITEM, REPEATED = "unknown_item", "repeated_reply"


@dataclass(frozen=True)
class MultiqaColumns:
    """Names of the columns in a user's files, where they differ from the standard names."""

    names: dict[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> MultiqaColumns:
        """Return the column names in a text such as "item=NAME,reply=NAME".

        Raises `ValueError`, with a sentence for the user, if the text is invalid.
        """
        return cls(parse_column_names(text, KNOWN))

    def build_columns(
        self, keys: Sequence[str], needed: frozenset[str] = NEEDED
    ) -> tuple[Column, ...]:
        """Return the columns that a file reader looks for; a renamed column is required.

        Items and replies both have the column item, and only one of them may be renamed. So its
        standard name is accepted too.
        """
        return tuple(
            Column(
                key,
                tuple(dict.fromkeys((self.names.get(key, key), *([key] * (key == "item"))))),
                required=key in needed or key in self.names,
                structured=key in LISTS,
            )
            for key in keys
        )


STANDARD_COLUMNS = MultiqaColumns()


@dataclass(frozen=True)
class Fault:
    """An invalid field of an item, with the code and values of its error message.

    `column` is "" if the whole item is invalid.
    """

    column: str
    code: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def build_problem(self, file: str, line: int, prefix: str = "") -> Problem:
        """Return the fault as a problem at a file's line; `prefix` precedes its reason."""
        problem = file_problem(file, line, self.column or None, self.code, **self.values)
        return replace(problem, reason=f"{prefix}{problem.reason}")


@dataclass(frozen=True)
class ItemsFile:
    """Distinct items of a file in order, with the first line of each and counts of rows.

    `n_rows` counts data rows, `n_repeated` the rows that repeat an item.
    """

    name: str
    sha256: str
    n_rows: int
    n_repeated: int
    warnings: list[str]
    items: list[MultiqaItem]
    lines: list[int]


@dataclass(frozen=True)
class RepliesFile:
    """Distinct replies of a file by system, item and variant; `n_rows` counts data rows."""

    name: str
    sha256: str
    n_rows: int
    warnings: list[str]
    replies: Replies


def read_items(path: Readable, columns: MultiqaColumns = STANDARD_COLUMNS) -> ItemsFile:
    """Return the items of a CSV or JSON Lines file; raises `InputError`.

    An item without an accepted answer is valid; metrics leave it out.

    Raises
    ------
    InputError : with every invalid row. A row is invalid if it has no id, an unknown kind or
        matcher, or an invalid list; if `find_item_fault` reports its item; or if an earlier row has
        the same id and a different item.
    """
    problems = Problems(make_source(path).name)
    table = open_table(path, columns.build_columns(ITEM_COLUMNS), problems)
    known: dict[str, tuple[MultiqaItem, int]] = {}
    n_rows = n_repeated = 0
    for line, cells, _ in table.rows:
        n_rows += 1
        faults: list[Fault] = []
        item = build_item(dict(zip(ITEM_COLUMNS, cells, strict=True)), faults)
        problems.extend(fault.build_problem(problems.file, line) for fault in faults)
        if faults:
            continue
        first, first_line = known.setdefault(item.item, (item, line))
        if first is item:
            continue
        n_repeated += 1
        if first != item:
            values = {"item": item.item[:60], "earlier": first_line}
            add_problem(problems, line, None, "item_differs", **values)
    if not n_rows and not problems.total:
        problems.add(None, None, "there is no data row", "Check that the items were saved.")
    problems.raise_if_any()
    items, lines = [item for item, _ in known.values()], [line for _, line in known.values()]
    return ItemsFile(table.name, table.sha256, n_rows, n_repeated, table.warnings, items, lines)


def read_replies(
    path: Readable,
    items: Sequence[MultiqaItem],
    left_out: Exclusions,
    columns: MultiqaColumns = STANDARD_COLUMNS,
    keep_thinking: bool = False,
) -> RepliesFile:
    """Return the replies of a file to `items`; raises `InputError`.

    The thinking in a reply is removed, unless `keep_thinking`. Replies to unknown items and rows
    that repeat an earlier one are added to `left_out`.

    Raises
    ------
    InputError : with every invalid row. A row is invalid if it has no item, an unknown status or
        a variant that is not an integer from 0; if its status is empty but it has a reply; if
        the reply has over 100,000 bytes; or if a system has two different replies to the same
        variant of an item.
    """
    problems = Problems(make_source(path).name)
    table = open_table(path, columns.build_columns(REPLY_COLUMNS), problems)
    ids = _ItemIds({item.item: number for number, item in enumerate(items)})
    # There may be millions of rows with few different cells, so each is parsed once.
    numbers: dict[str, int | None] = {}
    systems: dict[str, str] = {}
    statuses: dict[str, AnswerStatus | None] = {}
    replies = Replies()
    n_rows = n_thinking = n_cut_off = 0
    for line, cells, _ in table.rows:
        raw_system, raw_item, raw_variant, _, text, raw_status, reason = cells
        n_rows += 1
        if raw_variant not in numbers:
            numbers[raw_variant] = _parse_variant(raw_variant)
        if raw_status not in statuses:
            statuses[raw_status] = _parse_status(raw_status)
        if raw_system not in systems:
            systems[raw_system] = clean_id(raw_system) or MODEL
        variant, status = numbers[raw_variant], statuses[raw_status]
        item, number = ids.find_item(raw_item)
        if not item or variant is None or status is None:
            _add_cell_problems(line, item, raw_variant, variant, raw_status, status, problems)
            continue
        if status is AnswerStatus.EMPTY and text.strip():
            problems.add(
                line,
                "status",
                "the status is empty, but there is a reply",
                "Remove the reply, or give the status text.",
            )
            continue
        text, status, thinking = split_model_reply(text, status, reason, keep_thinking).parts
        # A character has at most 4 bytes, so most replies need not be encoded.
        if len(text) * 4 > LONGEST_ANSWER and len(text.encode()) > LONGEST_ANSWER:
            problems.add(
                line,
                "reply",
                f"the reply has more than {LONGEST_ANSWER:,} bytes",
                "Shorten it; if it is not that long, a quote before it is not closed.",
            )
            continue
        if number is None:
            left_out.add(UNKNOWN_ITEM, {"system": systems[raw_system], "item": item, "line": line})
            continue
        n_thinking += bool(thinking)
        n_cut_off += status is AnswerStatus.CUT_OFF
        replies.add_reply(systems[raw_system], number, variant, text, status, line)
    if not n_rows and not problems.total:
        problems.add(None, None, "there is no data row", "Check that the replies were saved.")
    repeated = _find_repeated_rows(replies, items, problems, left_out)
    if not problems.total and not len(replies):
        add_problem(problems, None, "item", "replies_to_others")
    problems.raise_if_any()
    warnings = [*table.warnings, *describe_thinking_counts(n_thinking, n_cut_off)]
    distinct = replies.drop_rows(repeated)
    return RepliesFile(table.name, table.sha256, n_rows, warnings, distinct)


class _ItemIds:
    """Finds items by their ids as written in a file, with a cache of cleaned ids."""

    def __init__(self, numbers: dict[str, int]) -> None:
        self._numbers = numbers
        self._resolved: dict[str, tuple[str, int | None]] = {}

    def find_item(self, raw: str) -> tuple[str, int | None]:
        """Return the cleaned id and its item's index; None as index of an unknown item."""
        resolved = self._resolved.get(raw)
        if resolved is None:
            item = clean_id(raw)
            resolved = self._resolved[raw] = (item, self._numbers.get(item))
        return resolved


def _add_cell_problems(
    line: int,
    item: str,
    raw_variant: str,
    variant: int | None,
    raw_status: str,
    status: AnswerStatus | None,
    problems: Problems,
) -> None:
    """Add a problem for each invalid cell of a row of replies."""
    if not item:
        problems.add(line, "item", "the item is missing", "Fill in the id, or delete the row.")
    if variant is None:
        reason = (
            f"{raw_variant[:40]!r} is no number of a variant"
            if raw_variant.strip()
            else "the variant is missing"
        )
        problems.add(line, "variant", reason, "Write 0 for the original wording, then 1, 2 ...")
    if status is None:
        accepted = ", ".join(AnswerStatus)
        reason = f"the status {raw_status.strip()[:40]} is unknown"
        problems.add(line, "status", reason, f"Accepted are {accepted}.")


def _find_repeated_rows(
    replies: Replies, items: Sequence[MultiqaItem], problems: Problems, left_out: Exclusions
) -> Any:
    """Return the rows that repeat an earlier reply to the same wording by the same system.

    Repetitions are added to `left_out`, different replies to `problems`.
    """
    later, first = replies.find_repetitions()
    for row, before in zip(later.tolist(), first.tolist(), strict=True):
        text, earlier = (
            normalise_text(replies.texts[replies.of_text[each]]) for each in (row, before)
        )
        system = replies.systems[replies.of_system[row]]
        item, variant = items[replies.items[row]].item, replies.variants[row]
        if text == earlier and replies.statuses[row] == replies.statuses[before]:
            left_out.add(REPEATED, {"system": system, "item": item, "variant": variant})
            continue
        problems.add(
            replies.lines[row],
            None,
            f"{system[:60]} replied to variant {variant} of item {item[:60]} already in line "
            f"{replies.lines[before]}, with something else",
            "Keep one of the two rows.",
        )
    return later


def _parse_variant(raw: str) -> int | None:
    """Return the variant number in a cell; None if invalid. Spreadsheets write 1 as 1.0."""
    text = raw.strip()
    text = text.removesuffix(".0")
    # `int` reads digits of all scripts, and takes long for very long texts.
    if not text.isdecimal() or not text.isascii() or len(text) > 9 or int(text) > MOST_VARIANTS:
        return None
    return int(text)


def _parse_status(raw: str) -> AnswerStatus | None:
    """Return the reply status in a cell (TEXT if empty); None if it is invalid."""
    word = raw.strip().casefold()
    try:
        return AnswerStatus(word) if word else AnswerStatus.TEXT
    except ValueError:
        return None


def build_item(cells: dict[str, str], faults: list[Fault]) -> MultiqaItem:
    """Return the item in a row's cells; add invalid fields to `faults`."""
    item_id = clean_id(cells["item"])
    if not item_id:
        faults.append(Fault("item", "item_missing"))
    kind = normalise_text(cells["kind"]).casefold()
    if kind not in KINDS:
        code = "kind_unknown" if kind else "kind_missing"
        faults.append(Fault("kind", code, {"kind": kind[:40], "known": ", ".join(KINDS)}))
    choices = tuple(_parse_list("choices", cells, faults))
    answers = tuple(_parse_list("answers", cells, faults))
    matcher = normalise_text(cells["matcher"]).casefold() or DEFAULT_MATCHERS.get(kind, "")
    if matcher and matcher not in MATCHERS:
        values = {"matcher": matcher[:40], "known": ", ".join(MATCHERS)}
        faults.append(Fault("matcher", "matcher_unknown", values))
    item = MultiqaItem(
        item_id,
        kind,
        normalise_text(cells["dataset"]),
        cells["context"].strip(),
        cells["question"].strip(),
        choices,
        answers,
        matcher,
    )
    if not faults and (fault := find_item_fault(item)) is not None:
        faults.append(Fault(fault[0], "item_faulty", {"fault": fault[1]}))
    return item


def _parse_list(name: str, cells: dict[str, str], faults: list[Fault]) -> list[str]:
    """Return the texts of a cell with a JSON list; [] for an empty or invalid cell.

    Numbers stay as typed. Repeated answers are dropped; repeated choices stay, for
    `find_item_fault`.
    """
    cell = cells[name].strip()
    if not cell:
        return []
    try:
        # Numbers stay as typed: 1.50 read as a float would become 1.5, which is another answer.
        value: Any = json.loads(cell, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, list) or {*map(type, value)} - {str}:
        faults.append(Fault(name, "no_list"))
        return []
    if not all(map(str.strip, value)):
        entry = [bool(text.strip()) for text in value].index(False) + 1
        faults.append(Fault(name, "entry_empty", {"entry": entry}))
        return []
    return list(dict.fromkeys(text.strip() for text in value)) if name == "answers" else value
