"""Read replies labelled by whether they say that the problem has no answer."""

from __future__ import annotations

from dataclasses import dataclass

from annotations.exchange.header import Column
from annotations.exchange.ids import clean_id
from annotations.exchange.model_replies import split_model_reply
from annotations.exchange.problems import Problems
from annotations.exchange.reading.answers import normalise_text
from annotations.exchange.reading.source import Readable, make_source
from annotations.exchange.reading.tables import open_table

UNANSWERABLE, ANSWERABLE = "unanswerable", "answerable"
LABELS = (UNANSWERABLE, ANSWERABLE)


@dataclass(frozen=True, slots=True)
class LabelledReply:
    """One reply with its label; `item` is the problem's id, "" if the file has none."""

    line: int
    text: str
    unanswerable: bool
    item: str


@dataclass(frozen=True, slots=True)
class LabelledReplies:
    """The labelled replies of a file, in order; `n_empty` rows without a reply are left out."""

    name: str
    sha256: str
    replies: tuple[LabelledReply, ...]
    n_empty: int
    warnings: tuple[str, ...]


def read_labelled_replies(path: Readable) -> LabelledReplies:
    """Read labelled replies from a CSV, TSV, JSON Lines or XLSX file.

    Columns: `reply` and `label` (unanswerable or answerable, in any case); `id` (or `item`), the
    problem, may be absent.

    Raises
    ------
    InputError
        An unknown label, or no reply of one of the two.
    """
    columns = (
        Column("reply", ("reply",)),
        Column("label", ("label",)),
        Column("id", ("id", "item"), required=False),
    )
    problems = Problems(make_source(path).name)
    table = open_table(path, columns, problems)
    replies: list[LabelledReply] = []
    n_empty = 0
    for line, cells, _ in table.rows:
        text, raw_label, item = cells
        label = normalise_text(raw_label).casefold()
        if label not in LABELS:
            problems.add_code(
                line,
                "label",
                "label_unknown",
                label=normalise_text(raw_label)[:40] or "(none)",
                accepted=" and ".join(LABELS),
            )
        elif not text.strip():
            n_empty += 1
        else:
            replies.append(
                LabelledReply(
                    line,
                    split_model_reply(text).text or text,
                    label == UNANSWERABLE,
                    clean_id(item),
                )
            )
    if not problems.total and {reply.unanswerable for reply in replies} != {True, False}:
        problems.add_code(None, "label", "one_label_only")
    problems.raise_if_any()
    return LabelledReplies(table.name, table.sha256, tuple(replies), n_empty, tuple(table.warnings))
