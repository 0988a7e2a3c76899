"""Files of items and of replies, checked row by row: see platform/docs/data-formats.md, Studies."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotations.exchange import AnswerStatus, Problem
from annotations.exchange.header import Column, given_names
from annotations.exchange.ids import clean_id
from annotations.exchange.model_replies import read_reply, thinking_notes
from annotations.exchange.problems import Problems
from annotations.exchange.reading.answers import LONGEST_ANSWER, cleaned
from annotations.exchange.reading.source import Readable, source_of
from annotations.exchange.reading.tables import open_table
from evaluation.files.problem_messages import file_problem, note_problem
from evaluation.flow.metrics import Exclusions
from evaluation.flow.multiqa.items import (
    DEFAULT_MATCHERS,
    KINDS,
    MATCHERS,
    MultiqaItem,
)
from evaluation.flow.multiqa.judging import fault_of
from evaluation.flow.multiqa.replies import Replies

ITEM_COLUMNS = (
    *("item", "kind", "dataset", "context", "question", "choices", "answers", "matcher"),
)
REPLY_COLUMNS = (
    *("system", "item", "variant", "variant_text", "reply", "status", "finish_reason"),
)
KNOWN = tuple(dict.fromkeys((*ITEM_COLUMNS, *REPLY_COLUMNS)))
NEEDED = frozenset({"item", "kind", "answers", "variant", "reply"})
LISTS = frozenset({"choices", "answers"})

MODEL = "model"
MOST_VARIANTS = 10_000
UNKNOWN_ITEM, REPEATED = "unknown_item", "repeated_reply"


@dataclass(frozen=True)
class MultiqaColumns:
    """How columns are called in the files, where they are not called as we call them."""

    names: dict[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> MultiqaColumns:
        """The names in `item=NAME,reply=NAME,...`; raises ValueError as `given_names` does."""
        return cls(given_names(text, KNOWN))

    def columns(self, keys: Sequence[str], needed: frozenset[str] = NEEDED) -> tuple[Column, ...]:
        """Return what a reader wants of a file; one that was given a name has to be there.

        Both files have the column item, so our own word will do for it as well.
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


AS_OURS = MultiqaColumns()


@dataclass(frozen=True)
class Fault:
    """What is wrong with a field of an item, by its code in `FILE_MESSAGES`.

    `column` is "" where the whole item is meant.
    """

    column: str
    code: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def problem(self, file: str, line: int, before: str = "") -> Problem:
        """Return the problem of a file; `before` begins its reason."""
        found = file_problem(file, line, self.column or None, self.code, **self.values)
        return replace(found, reason=f"{before}{found.reason}")


@dataclass(frozen=True)
class ItemsFile:
    """The items of a file, in its order, each once; `n_repeated` rows say one once more."""

    name: str
    sha256: str
    n_rows: int
    n_repeated: int
    warnings: list[str]
    items: list[MultiqaItem]
    lines: list[int]


@dataclass(frozen=True)
class RepliesFile:
    """The replies of a file, each system, item and variant once; `n_rows` counts its data rows."""

    name: str
    sha256: str
    n_rows: int
    warnings: list[str]
    replies: Replies


def read_items(path: Readable, columns: MultiqaColumns = AS_OURS) -> ItemsFile:
    """Read a file of items.

    Raises `InputError` with every bad row: no id, an unknown kind or matcher, lists that are none,
    a choice without choices or with two equal ones, an accepted answer that is no choice, one id
    for two items. An item without any accepted answer is kept: it is left out of the numbers.
    """
    problems = Problems(source_of(path).name)
    table = open_table(path, columns.columns(ITEM_COLUMNS), problems)
    known: dict[str, tuple[MultiqaItem, int]] = {}
    n_rows = n_repeated = 0
    for line, cells, _ in table.rows:
        n_rows += 1
        found: list[Fault] = []
        item = item_of(dict(zip(ITEM_COLUMNS, cells, strict=True)), found)
        problems.extend(fault.problem(problems.file, line) for fault in found)
        if found:
            continue
        first, first_line = known.setdefault(item.item, (item, line))
        if first is item:
            continue
        n_repeated += 1
        if first != item:
            named = {"item": item.item[:60], "earlier": first_line}
            note_problem(problems, line, None, "item_differs", **named)
    if not n_rows and not problems.total:
        problems.add(None, None, "there is no data row", "Check that the items were saved.")
    problems.raise_if_any()
    items, lines = [one for one, _ in known.values()], [line for _, line in known.values()]
    return ItemsFile(table.name, table.sha256, n_rows, n_repeated, table.warnings, items, lines)


def read_replies(
    path: Readable,
    items: Sequence[MultiqaItem],
    left_out: Exclusions,
    columns: MultiqaColumns = AS_OURS,
    keep_thinking: bool = False,
) -> RepliesFile:
    """Read a file of replies to these items.

    The thinking in a reply is put aside, unless `keep_thinking`.

    Replies to items that are not there, and rows that repeat an earlier one, are noted in
    `left_out`. Raises `InputError` with every bad row: no item, a variant that is no number from 0
    on, an unknown status, an empty one beside a reply, a reply over 100,000 bytes, or two different
    replies of a system to the same variant of an item.
    """
    problems = Problems(source_of(path).name)
    table = open_table(path, columns.columns(REPLY_COLUMNS), problems)
    number_of = {item.item: number for number, item in enumerate(items)}
    ids = _Ids(number_of)
    numbers: dict[str, int | None] = {}
    systems: dict[str, str] = {}
    statuses: dict[str, AnswerStatus | None] = {}
    replies = Replies()
    n_rows = n_thinking = n_cut_off = 0
    for line, cells, _ in table.rows:
        raw_system, raw_item, raw_variant, _, text, raw_status, reason = cells
        n_rows += 1
        if raw_variant not in numbers:
            numbers[raw_variant] = _variant(raw_variant)
        if raw_status not in statuses:
            statuses[raw_status] = _status(raw_status)
        if raw_system not in systems:
            systems[raw_system] = clean_id(raw_system) or MODEL
        variant, status = numbers[raw_variant], statuses[raw_status]
        item, number = ids.of(raw_item)
        if not item or variant is None or status is None:
            _note_bad(line, item, raw_variant, variant, raw_status, status, problems)
            continue
        if status is AnswerStatus.EMPTY and text.strip():
            problems.add(
                line,
                "status",
                "the status is empty, but there is a reply",
                "Remove the reply, or give the status text.",
            )
            continue
        text, status, thinking = read_reply(text, status, reason, keep_thinking).parts
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
        replies.add(systems[raw_system], number, variant, text, status, line)
    if not n_rows and not problems.total:
        problems.add(None, None, "there is no data row", "Check that the replies were saved.")
    repeated = _repeated(replies, items, problems, left_out)
    if not problems.total and not len(replies):
        note_problem(problems, None, "item", "replies_to_others")
    problems.raise_if_any()
    kept = replies.without(repeated)
    warnings = [*table.warnings, *thinking_notes(n_thinking, n_cut_off)]
    return RepliesFile(table.name, table.sha256, n_rows, warnings, kept)


class _Ids:
    """Ids as typed, once each: as they are kept, and the number of the item."""

    def __init__(self, number_of: dict[str, int]) -> None:
        self._number_of = number_of
        self._known: dict[str, tuple[str, int | None]] = {}

    def of(self, raw: str) -> tuple[str, int | None]:
        """Return an id and its number; None for an item that is not there."""
        found = self._known.get(raw)
        if found is None:
            item = clean_id(raw)
            found = self._known[raw] = (item, self._number_of.get(item))
        return found


def _note_bad(
    line: int,
    item: str,
    raw_variant: str,
    variant: int | None,
    raw_status: str,
    status: AnswerStatus | None,
    problems: Problems,
) -> None:
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


def _repeated(
    replies: Replies, items: Sequence[MultiqaItem], problems: Problems, left_out: Exclusions
) -> Any:
    """Return the rows that say once more what an earlier one said; others are problems."""
    later, first = replies.repetitions()
    for row, before in zip(later.tolist(), first.tolist(), strict=True):
        text, earlier = (cleaned(replies.texts[replies.of_text[one]]) for one in (row, before))
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


def _variant(raw: str) -> int | None:
    text = raw.strip()
    text = text.removesuffix(".0")
    if not text.isdecimal() or not text.isascii() or len(text) > 9 or int(text) > MOST_VARIANTS:
        return None
    return int(text)


def _status(raw: str) -> AnswerStatus | None:
    word = raw.strip().casefold()
    try:
        return AnswerStatus(word) if word else AnswerStatus.TEXT
    except ValueError:
        return None


def item_of(cells: dict[str, str], found: list[Fault]) -> MultiqaItem:
    """Return the item in the cells of a row; what is wrong with it is added to `found`."""
    name = clean_id(cells["item"])
    if not name:
        found.append(Fault("item", "item_missing"))
    kind = cleaned(cells["kind"]).casefold()
    if kind not in KINDS:
        code = "kind_unknown" if kind else "kind_missing"
        found.append(Fault("kind", code, {"kind": kind[:40], "known": ", ".join(KINDS)}))
    choices = tuple(_listed("choices", cells, found))
    answers = tuple(_listed("answers", cells, found))
    matcher = cleaned(cells["matcher"]).casefold() or DEFAULT_MATCHERS.get(kind, "")
    if matcher and matcher not in MATCHERS:
        of = {"matcher": matcher[:40], "known": ", ".join(MATCHERS)}
        found.append(Fault("matcher", "matcher_unknown", of))
    item = MultiqaItem(
        name,
        kind,
        cleaned(cells["dataset"]),
        cells["context"].strip(),
        cells["question"].strip(),
        choices,
        answers,
        matcher,
    )
    if not found and (fault := fault_of(item)) is not None:
        found.append(Fault(fault[0], "item_faulty", {"fault": fault[1]}))
    return item


def _listed(name: str, cells: dict[str, str], found: list[Fault]) -> list[str]:
    """Return the texts of a JSON list; numbers stay as typed; nothing for an empty cell."""
    cell = cells[name].strip()
    if not cell:
        return []
    try:
        value: Any = json.loads(cell, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, list) or {*map(type, value)} - {str}:
        found.append(Fault(name, "no_list"))
        return []
    if not all(map(str.strip, value)):
        entry = [bool(o.strip()) for o in value].index(False) + 1
        found.append(Fault(name, "entry_empty", {"entry": entry}))
        return []
    return list(dict.fromkeys(one.strip() for one in value)) if name == "answers" else value
