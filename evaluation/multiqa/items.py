"""Replies of systems to the wordings of items, and the prompts that ask an item.

There may be millions of replies, so each field of a reply is one column. The replies of a system
become a matrix of items by wordings; replies that cannot be used are left out and counted. Each
wording is asked in a conversation of its own, with a template for the kind of the item.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from annotations.exchange import AnswerStatus
from evaluation.core.backends.chat.contract import Message
from evaluation.core.text.items import CHOICE, EXTRACTIVE, MultiqaItem
from evaluation.runs.flow.metrics import NAMED, Exclusions

Ints = NDArray[np.int64]

STATUSES = tuple(AnswerStatus)
NO_REPLY = -1
STATUS_CODES = {status: code for code, status in enumerate(STATUSES)}
TEXT, EMPTY, ERROR = (
    STATUS_CODES[status] for status in (AnswerStatus.TEXT, AnswerStatus.EMPTY, AnswerStatus.ERROR)
)
MISSING = tuple(STATUS_CODES[status] for status in STATUSES if status.is_missing)
REFUSED = tuple(STATUS_CODES[status] for status in STATUSES if status.startswith("refused"))


@dataclass
class Replies:
    """Replies of all systems as numeric columns that index lists of names and texts.

    Attributes
    ----------
    systems : names in the order of first appearance.
    texts : the distinct texts of replies.
    items : of each reply, the index of its item in the list of items.
    variants : of each reply, the number of the wording; 0 is the original.
    statuses : of each reply, the index in `STATUSES`.
    lines : of each reply, the first line in its file; 0 without a file.
    """

    systems: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    # Of each reply, the index in `systems`.
    of_system: array[int] = field(default_factory=lambda: array("l"))
    items: array[int] = field(default_factory=lambda: array("l"))
    variants: array[int] = field(default_factory=lambda: array("l"))
    # Of each reply, the index in `texts`.
    of_text: array[int] = field(default_factory=lambda: array("l"))
    statuses: array[int] = field(default_factory=lambda: array("b"))
    lines: array[int] = field(default_factory=lambda: array("l"))
    _systems: dict[str, int] = field(default_factory=dict)
    _texts: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.items)

    def add_reply(
        self, system: str, item: int, variant: int, text: str, status: AnswerStatus, line: int = 0
    ) -> None:
        """Append a reply; an empty text with status TEXT gets the status EMPTY."""
        # Files may call an empty cell a text; it must neither vote nor be embedded.
        if status is AnswerStatus.TEXT and not text.strip():
            status = AnswerStatus.EMPTY
        system_number = self.add_system(system)
        if (text_number := self._texts.get(text)) is None:
            text_number = self._texts[text] = len(self.texts)
            self.texts.append(text)
        self.of_system.append(system_number)
        self.items.append(item)
        self.variants.append(variant)
        self.of_text.append(text_number)
        self.statuses.append(STATUS_CODES[status])
        self.lines.append(line)

    def add_system(self, system: str) -> int:
        """Return the index of a system's name in `systems`; append an unknown name."""
        number = self._systems.setdefault(system, len(self.systems))
        if number == len(self.systems):
            self.systems.append(system)
        return number

    def build_arrays(self) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """Return arrays of system, item, variant, text and status, one entry per reply."""
        columns = (self.of_system, self.items, self.variants, self.of_text, self.statuses)
        return tuple(np.array(each, dtype=np.int64) for each in columns)  # type: ignore[return-value]

    def find_repetitions(self) -> tuple[Ints, Ints]:
        """Return rows that repeat a system, item and variant, and the first row of each.

        Both are (D,), in the order of the repeating rows.
        """
        systems, items, variants, _, _ = self.build_arrays()
        order = np.lexsort((variants, items, systems))
        same = np.ones(max(len(order) - 1, 0), dtype=np.bool_)
        for column in (systems, items, variants):
            same &= column[order][1:] == column[order][:-1]
        # lexsort is stable, so the first of a group of equal rows is the earliest row.
        group_starts = np.flatnonzero(np.concatenate([[True], ~same])) if len(order) else order
        group = np.searchsorted(group_starts, np.flatnonzero(same) + 1, side="right") - 1
        later, first = order[1:][same], order[group_starts[group]]
        by_row = np.argsort(later)
        return later[by_row], first[by_row]

    def drop_rows(self, rows: Ints) -> Replies:
        """Return the replies without those at the indices `rows`."""
        if not len(rows):
            return self
        keep = np.ones(len(self), dtype=np.bool_)
        keep[rows] = False

        # The lists of names are shared: unused names do no harm, and indices stay valid.
        def filter_column(column: array[int]) -> array[int]:
            return array(column.typecode, np.array(column)[keep].tobytes())

        return Replies(
            self.systems,
            self.texts,
            filter_column(self.of_system),
            filter_column(self.items),
            filter_column(self.variants),
            filter_column(self.of_text),
            filter_column(self.statuses),
            filter_column(self.lines),
            self._systems,
            self._texts,
        )


NO_ACCEPTED = "no_accepted_answer"
NO_REPLIES = "no_replies"
NO_ORIGINAL = "no_reply_to_the_original"


@dataclass(frozen=True)
class SystemReplies:
    """Replies of one system, one row per item, one column per wording.

    Column 0 is the original wording; the further columns are the item's variants in ascending
    order. An ERROR or CUT_OFF is no reply.

    Attributes
    ----------
    items : (n,) numbers of the items that count, ascending.
    statuses : (n, R) indices in `STATUSES`; `NO_REPLY` where there is no reply.
    texts : (n, R) indices in `Replies.texts`; `NO_REPLY` where there is no reply.
    variants : (n, R) number of the variant in each column.
    """

    system: str
    items: Ints
    statuses: Ints
    texts: Ints
    variants: Ints


def group_replies_by_system(
    items: Sequence[MultiqaItem], replies: Replies, left_out: Exclusions
) -> tuple[SystemReplies, ...]:
    """Return each system's replies as matrices of items by wordings, in system order.

    `left_out` gets what is left out: items without an accepted answer; for each system, items
    without a reply, items without a reply to the original wording, and failed replies.
    """
    n = len(items)
    usable = np.array([bool(item.answers) for item in items], dtype=np.bool_)
    add_left_out_items(NO_ACCEPTED, items, np.flatnonzero(~usable), left_out)
    reply_systems, reply_items, variants, texts, statuses = replies.build_arrays()
    # Over all systems, so that a column is the same wording of an item for each of them.
    columns, column_variants = _rank_variants(reply_items, variants, n)
    width = column_variants.shape[1]
    grouped = []
    for number, system in enumerate(replies.systems):
        rows = reply_systems == number
        cells = (reply_items[rows], columns[rows])
        status = np.full((n, width), NO_REPLY, dtype=np.int64)
        text = np.full((n, width), NO_REPLY, dtype=np.int64)
        status[cells] = statuses[rows]
        text[cells] = texts[rows]
        failed = np.isin(status, MISSING) & usable[:, None]
        for code in MISSING:
            has_code = (status == code) & usable[:, None]
            _add_failed_replies(
                STATUSES[code].value, system, items, has_code, column_variants, left_out
            )
        status[np.isin(status, MISSING)] = NO_REPLY
        text[status == NO_REPLY] = NO_REPLY
        # If no system has a reply to an item's original, column 0 holds another variant.
        original = (status[:, 0] != NO_REPLY) & (column_variants[:, 0] == 0)
        has_any = (status != NO_REPLY).any(axis=1) | failed.any(axis=1)
        add_left_out_items(NO_REPLIES, items, np.flatnonzero(usable & ~has_any), left_out, system)
        missing = np.flatnonzero(usable & has_any & ~original)
        add_left_out_items(NO_ORIGINAL, items, missing, left_out, system)
        counted = np.flatnonzero(usable & original)
        grouped.append(
            SystemReplies(system, counted, status[counted], text[counted], column_variants[counted])
        )
    return tuple(grouped)


def add_left_out_items(
    reason: str,
    items: Sequence[MultiqaItem],
    numbers: Ints,
    left_out: Exclusions,
    system: str | None = None,
) -> None:
    """Add items to the exclusions `left_out`, for one system or (None) for all."""
    if not len(numbers):
        return
    system_entry = {} if system is None else {"system": system}
    entries = [{**system_entry, "item": items[number].item} for number in numbers[:NAMED].tolist()]
    left_out.add_all(reason, entries, len(numbers))


def _add_failed_replies(
    reason: str,
    system: str,
    items: Sequence[MultiqaItem],
    failed: NDArray[np.bool_],
    variants: Ints,
    left_out: Exclusions,
) -> None:
    """Add a system's failed replies, marked in a matrix of items by wordings, to `left_out`."""
    rows, columns = np.nonzero(failed)
    if len(rows):
        entries = [
            {"system": system, "item": items[row].item, "variant": int(variants[row, column])}
            for row, column in zip(rows[:NAMED].tolist(), columns[:NAMED].tolist(), strict=True)
        ]
        left_out.add_all(reason, entries, len(rows))


def _rank_variants(items: Ints, variants: Ints, n: int) -> tuple[Ints, Ints]:
    """Return each reply's column, and the variant number in each item's columns.

    A reply's column is the rank of its variant among the variants of its item, over all systems.
    """
    if not len(items):
        return np.empty(0, dtype=np.int64), np.full((n, 1), NO_REPLY, dtype=np.int64)
    # One 64-bit key for each pair of item and variant makes `unique` one-dimensional, and fast.
    pairs, pair_numbers = np.unique(items << 32 | variants, return_inverse=True)
    item, variant = pairs >> 32, pairs & 0xFFFFFFFF
    start = np.searchsorted(item, np.arange(n))
    rank = np.arange(len(pairs)) - start[item]
    column_variants = np.full((n, int(rank.max()) + 1), NO_REPLY, dtype=np.int64)
    column_variants[item, rank] = variant
    return rank[pair_numbers], column_variants


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SEVERAL = "several"

# Templates by kind of item; `CONTEXT` precedes the template where the item has a context.
TEMPLATES = {
    EXTRACTIVE: "Question: {question}\n\nAnswer with the words of the text that answer it, and "
    "nothing else.",
    CHOICE: "Question: {question}\n\n{choices}\n\nAnswer with the letter of the right choice, and "
    "nothing else.",
    SEVERAL: "Question: {question}\n\n{choices}\n\nOne or more choices are right. Answer with the "
    "letters of all right choices, with commas between them, and nothing else.",
    "free": "Question: {question}\n\nAnswer in one or two short sentences.",
}
CONTEXT = "Read this text.\n\n{context}\n\n"


@dataclass(frozen=True)
class PromptForm:
    """Prompt form of a kind of item: its name, and its template with an optional context."""

    name: str
    template: str


def choose_prompt_form(item: MultiqaItem) -> PromptForm:
    """Return the prompt form of an item, by kind, context and number of right choices."""
    several = item.kind == CHOICE and len(item.answers) > 1
    name = SEVERAL if several else item.kind
    begin = CONTEXT if item.context else ""
    return PromptForm(name + (" with text" if item.context else ""), begin + TEMPLATES[name])


def build_item_messages(item: MultiqaItem, wording: str) -> tuple[Message, ...]:
    """Return the messages that ask an item in the wording `wording`."""
    lines = [f"{format_choice_label(index)}. {choice}" for index, choice in enumerate(item.choices)]
    content = choose_prompt_form(item).template.format(
        question=wording, choices="\n".join(lines), context=item.context
    )
    return ({"role": "user", "content": content},)


def format_choice_label(index: int) -> str:
    """Return the label of an answer choice: its letter, or its number from the 27th on.

    Replies may name a choice by its text instead, so numbers need not be read back.
    """
    return LETTERS[index] if index < len(LETTERS) else str(index + 1)
