"""Read graded answers from a table (CSV, JSON, XLSX), whose header identifies its layout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from annotations.exchange.graded.layouts import OWN, TABLES, GradedLayout
from annotations.exchange.graded.records import MarkedAnswer, MarkedFile
from annotations.exchange.header import Column
from annotations.exchange.ids import clean_id
from annotations.exchange.presets.table import Head, read_head
from annotations.exchange.problems import Problems
from annotations.exchange.reading.answers import LONGEST_ANSWER
from annotations.exchange.reading.source import Readable
from annotations.exchange.reading.tables import open_table

# The keys of columns whose names a user can choose.
NAMED = ("question", "answer", "grade", "worker", "order", "text", "reference")
# Any number of so many digits fits in 64 bits.
MOST_DIGITS = 18


def read_marked_table(path: Readable, columns: Mapping[str, str], problems: Problems) -> MarkedFile:
    """Read the graded answers of a table in any known layout; bad rows go to `problems`.

    `columns` are names chosen by a user, by our keys (`NAMED`): the file then has our own layout.
    Raises `InputError` for a file that cannot be read as a whole.
    """
    head = read_head(path)
    layout = OWN if columns else _recognise_layout(head)
    bare = layout.bare_quotes and head.name.lower().endswith(".tsv")
    table = open_table(
        path, list(_list_wanted_columns(layout, head, columns)), problems, bare_quotes=bare
    )
    marked = MarkedFile(table.name, table.sha256, layout.slug)
    for line, cells, _ in table.rows:
        _add_graded_answer(marked, line, _strip_quotes(cells) if bare else cells, layout, problems)
    marked.notes += table.warnings
    return marked


def _recognise_layout(head: Head) -> GradedLayout:
    """Return the first layout whose identifying columns are all in the header."""
    return next(
        layout for layout in TABLES if all(head.find_column(name) for name in layout.known_by)
    )


def _list_wanted_columns(
    layout: GradedLayout, head: Head, chosen: Mapping[str, str]
) -> Iterator[Column]:
    """Yield the columns to read, in the order in which `_add_graded_answer` takes their cells."""
    optional: dict[str, tuple[str, ...]] = {
        "worker": layout.worker,
        "order": layout.order,
        "text": layout.text,
        "reference": layout.reference,
    }
    marks: dict[str, tuple[str, ...]] = {name: (name,) for name in layout.marks}
    wanted = {"question": layout.question, "answer": layout.answer, **optional}
    for key, names in {**wanted, **(marks or {"grade": layout.grade})}.items():
        heading = chosen.get(key) or head.find_column(*names)
        required = key not in optional or key in chosen
        yield Column(key, (heading,) if heading else names[:1], required=required)


def _add_graded_answer(
    marked: MarkedFile, line: int, cells: Sequence[str], layout: GradedLayout, problems: Problems
) -> None:
    """Add the graded answer of a row; count it as left out if its text or grade is missing."""
    raw_question, text, worker, raw_order, wording, reference, *marks = cells
    n_problems = problems.total
    question, order = clean_id(raw_question), _parse_attempt(raw_order.strip(), line, problems)
    if not question:
        problems.add_code(line, "question", "table_question_missing")
    if len(text.encode()) > LONGEST_ANSWER:
        problems.add_code(line, "answer", "graded_answer_long", most=LONGEST_ANSWER)
    if problems.total > n_problems:
        return
    if wording.strip():
        marked.asked.setdefault(question, wording.strip())
    if reference.strip():
        marked.references.setdefault(question, reference.strip())
    # The grade is the mean of the graders who gave one.
    filled = [mark for cell in marks if (mark := cell.strip()) and mark not in layout.unmarked]
    if not text.strip():
        marked.n_empty += 1
    elif not filled:
        marked.n_unmarked += 1
    else:
        marked.answers.append(
            MarkedAnswer(line, question, text.strip(), tuple(filled), clean_id(worker), order)
        )


def _parse_attempt(text: str, line: int, problems: Problems) -> int | None:
    """Parse the number of an attempt; None if empty, or bad (then a problem is recorded)."""
    if not text:
        return None
    if text.isdecimal() and len(text) <= MOST_DIGITS:
        return int(text)
    problems.add_code(line, "order", "order_no_number", cell=text[:40])
    return None


def _strip_quotes(cells: Sequence[str]) -> list[str]:
    """Return the cells of a row without the quotation marks that enclose a whole cell."""
    return [
        cell[1:-1].replace('""', '"')
        if len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in cell[1:-1].replace('""', "")
        else cell
        for cell in cells
    ]
