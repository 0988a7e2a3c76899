"""Graded answers in a table, of whichever layout its header shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from annotations.exchange.graded.layouts import OWN, TABLES, Layout
from annotations.exchange.graded.records import MarkedAnswer, MarkedFile
from annotations.exchange.header import Column
from annotations.exchange.ids import clean_id
from annotations.exchange.presets.table import Head, head_of
from annotations.exchange.problems import Problems
from annotations.exchange.reading.answers import LONGEST_ANSWER
from annotations.exchange.reading.source import Readable
from annotations.exchange.reading.tables import open_table

# What people may call their columns: our words for them.
NAMED = ("question", "answer", "grade", "worker", "order", "text", "reference")
MOST_DIGITS = 18


def read_table(given: Readable, columns: Mapping[str, str], problems: Problems) -> MarkedFile:
    """Read a table of any layout; bad rows are noted in `problems`.

    `columns` are names that somebody gave, by our words for them (`NAMED`): the file is of our own
    layout then. Raises `InputError` for a file that cannot be read as a whole.
    """
    head = head_of(given)
    layout = OWN if columns else _recognised(head)
    bare = layout.bare_quotes and head.name.lower().endswith(".tsv")
    table = open_table(given, list(_columns(layout, head, columns)), problems, bare_quotes=bare)
    found = MarkedFile(table.name, table.sha256, layout.slug)
    for line, cells, _ in table.rows:
        _take(found, line, _unquoted(cells) if bare else cells, layout, problems)
    found.notes += table.warnings
    return found


def _recognised(head: Head) -> Layout:
    return next(one for one in TABLES if all(head.named(name) for name in one.known_by))


def _columns(layout: Layout, head: Head, given: Mapping[str, str]) -> Iterator[Column]:
    """The columns in the order in which `_take` reads them; those of marks come last."""
    optional: dict[str, tuple[str, ...]] = {
        "worker": layout.worker,
        "order": layout.order,
        "text": layout.text,
        "reference": layout.reference,
    }
    marks: dict[str, tuple[str, ...]] = {name: (name,) for name in layout.marks}
    wanted = {"question": layout.question, "answer": layout.answer, **optional}
    for key, names in {**wanted, **(marks or {"grade": layout.grade})}.items():
        found = given.get(key) or head.named(*names)
        required = key not in optional or key in given
        yield Column(key, (found,) if found else names[:1], required=required)


def _take(
    found: MarkedFile, line: int, cells: Sequence[str], layout: Layout, problems: Problems
) -> None:
    raw_question, text, worker, raw_order, asked, reference, *marks = cells
    before = problems.total
    question, order = clean_id(raw_question), _attempt(raw_order.strip(), line, problems)
    if not question:
        problems.add_code(line, "question", "table_question_missing")
    if len(text.encode()) > LONGEST_ANSWER:
        problems.add_code(line, "answer", "graded_answer_long", most=LONGEST_ANSWER)
    if problems.total > before:
        return
    if asked.strip():
        found.asked.setdefault(question, asked.strip())
    if reference.strip():
        found.references.setdefault(question, reference.strip())
    filled = [mark for cell in marks if (mark := cell.strip()) and mark not in layout.unmarked]
    if not text.strip():
        found.n_empty += 1
    elif not filled:
        found.n_unmarked += 1
    else:
        found.answers.append(
            MarkedAnswer(line, question, text.strip(), tuple(filled), clean_id(worker), order)
        )


def _attempt(text: str, line: int, problems: Problems) -> int | None:
    if not text:
        return None
    if text.isdecimal() and len(text) <= MOST_DIGITS:
        return int(text)
    problems.add_code(line, "order", "order_no_number", cell=text[:40])
    return None


def _unquoted(cells: Sequence[str]) -> list[str]:
    """The cells of a line without quotes around them, where these enclose the whole cell."""
    return [
        cell[1:-1].replace('""', '"')
        if len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in cell[1:-1].replace('""', "")
        else cell
        for cell in cells
    ]
