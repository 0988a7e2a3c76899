"""Find a file's columns of workers, answers and question texts, and the reason against others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from annotations.exchange.column_names import (
    is_bookkeeping_heading,
    is_demographic_heading,
    is_personal_heading,
    is_remark_heading,
    normalise_name,
)
from annotations.exchange.ids import find_id_damage
from annotations.exchange.presets.cells import (
    WORDS,
    are_sentences,
    compute_mean_words,
    find_common_shape,
    holds_for_most,
    is_epoch,
    is_json,
    is_number,
    is_time,
)
from annotations.exchange.presets.header_rows import is_common_heading
from annotations.exchange.presets.known_names import (
    ANSWERS,
    OTHER_IDS,
    QUESTIONS,
    WORDINGS,
    rank_worker_name,
)
from annotations.exchange.presets.table import Head

MOST_BLANK = 1 / 3
"""Share of rows that may lack the id of a column which is certainly that of the workers."""
CERTAIN, ID_NAMED, OF_RESPONSE, PRIVATE, BY_CELLS = 200, 250, 300, 400, 700
"""Ranks: below the first a heading names a person, from the others on it ends in "id", is an id of
what was sent, an e-mail address or a name, and only the cells look like ids."""
LEAST_DIFFERENT = 0.5
LEAST_DIFFERENT_UNNAMED = 0.9
FEWEST_OF_CHOICE = 10
MOST_CHOICES = 1 / 8
"""Share of many cells that differ at most where they are ticked options."""
FEWEST_AGREEING = 4
"""Answers to questions that were answered before, by which a column is the text of the task."""
FEWEST_PEOPLE = 2
UNIQUE_SHAPES = ("hex", "uuid", "e-mail", "survey response", "crowd worker")

PROBLEMS_OF_WORKERS = {
    "empty": "empty",
    "time": "dates or times",
    "constant": "one value in all rows",
    "damaged": "changed by a spreadsheet; export the file again",
    "few_values": "few different values",
    "sentences": "sentences",
    "json": "JSON",
    "blanks": "blank cells",
    "repeated": "a new value in each row",
    "record": "ids of records, beside JSON",
    "name": "the name is not about ids",
}
"""Why a column is not proposed for the workers, in a few words, by code."""
PROBLEMS_OF_ANSWERS = {
    "empty": "empty",
    "json": "JSON",
    "time": "dates or times",
    "task": "the same for all answers to a question",
    "constant": "one value in all rows",
    "demographic": "a fact about the person",
    "personal": "personal",
    "bookkeeping": "a note of the tool",
    "number": "numbers",
    "id": "ids",
}
"""Why a column is not proposed for the answers, in a few words, by code."""


def find_worker_problem(head: Head, column: str, *, is_wide: bool = True) -> str:
    """Return a code for why a column cannot hold the workers' ids; "" if it can.

    In a wide table each row is of one worker, so that the ids differ in most rows.
    """
    cells = head.get_cells(column)
    values = [cell for cell in cells if cell]
    rank = min(_list_worker_ranks(head, column), default=BY_CELLS)
    different = len(set(values))
    if not values:
        return "empty"
    if holds_for_most(is_json, values):
        return "json"
    # Beside nested objects such an id is that of the record that holds the answers.
    if is_wide and ID_NAMED <= rank < PRIVATE and head.holds_json:
        return "record"
    if holds_for_most(is_time, values) or (rank >= CERTAIN and holds_for_most(is_epoch, values)):
        return "time"
    if different == 1 and len(cells) > 1 and (is_wide or rank > CERTAIN):
        return "damaged" if holds_for_most(find_id_damage, values) else "constant"
    if are_sentences(values):
        return "sentences"
    # A worker may answer twice, so a named column need not differ in every row.
    least = LEAST_DIFFERENT if rank < BY_CELLS else LEAST_DIFFERENT_UNNAMED
    if is_wide and different < least * len(values):
        return "damaged" if holds_for_most(find_id_damage, values) else "few_values"
    n_blank = len(cells) - len(values)
    if n_blank and (rank >= PRIVATE or n_blank > MOST_BLANK * len(cells)):
        return "blanks"
    if not is_wide and rank >= OF_RESPONSE and len(values) > 2 and different == len(values):
        return "repeated"
    if rank == BY_CELLS and not _are_id_cells(head, column, values):
        return "name"
    return ""


def find_worker_column(head: Head, *, is_wide: bool = True, first: Iterable[str] = ()) -> str:
    """Return the column that most likely holds the workers' ids; "" if there is none.

    `first` are columns that go before all others.
    """
    given = list(first)
    found = [
        (_build_candidate_key(head, column, given), column)
        for column in dict.fromkeys(head.header)
        if column and not find_worker_problem(head, column, is_wide=is_wide)
    ]
    return min(found)[1] if found else ""


def _build_candidate_key(head: Head, column: str, given: Sequence[str]) -> tuple[int, bool, str]:
    """Return the sort key of a column as a candidate for the worker column; the least is best."""
    rank = min(_list_worker_ranks(head, column), default=BY_CELLS)
    place = given.index(column) - len(given) if column in given else rank
    # The name decides last, so that the result does not depend on the order of the columns.
    return place, not all(head.get_cells(column)), normalise_name(column)


def _list_worker_ranks(head: Head, column: str) -> list[int]:
    """Return the rank (`rank_worker_name`) of each title of a column that may name workers."""
    ranks = (rank_worker_name(title) for title in head.get_titles(column))
    return [rank for rank in ranks if rank is not None]


def _are_id_cells(head: Head, column: str, values: Sequence[str]) -> bool:
    """Return whether the cells of a column look like ids, unlike any answer or measurement."""
    titles = head.get_titles(column)
    if any(
        is_bookkeeping_heading(title)
        or is_demographic_heading(title)
        or normalise_name(title) in OTHER_IDS
        for title in titles
    ):
        return False
    if head.holds_json:
        return False
    shape = find_common_shape(values)
    return shape in UNIQUE_SHAPES or (shape.startswith("code of") and len(values) > 2)


def find_answer_problem(head: Head, column: str, cell: Callable[[str], str] = str) -> str:
    """Return a code for why a column cannot hold answers; "" if it can."""
    values = [cell(value) for value in head.get_values(column)]
    titles = head.get_titles(column)
    if not values:
        return "empty"
    if holds_for_most(is_json, values):
        return "json"
    if holds_for_most(is_time, values):
        return "time"
    if any(map(is_demographic_heading, titles)):
        return "demographic"
    if any(map(is_personal_heading, titles)) or find_common_shape(values) in ("e-mail", "ip"):
        return "personal"
    if any(map(is_bookkeeping_heading, titles)):
        return "bookkeeping"
    if find_common_shape(values) in UNIQUE_SHAPES:
        return "id"
    return ""


def find_answer_columns(
    head: Head, columns: Sequence[str], cell: Callable[[str], str] = str
) -> tuple[str, ...]:
    """Return the columns of free text; if there are none, those that may hold other answers."""
    usable = [column for column in columns if not find_answer_problem(head, column, cell)]
    # In a survey whose only text field is a remark, the remarks are the answers.
    if any(not _is_remark_column(head, column) for column in usable):
        usable = [column for column in usable if not _is_remark_column(head, column)]
    found, short = [], []
    for column in usable:
        values = [cell(value) for value in head.get_values(column)]
        # What everybody ticked alike, such as a consent, is no answer.
        if len(set(values)) == 1 and len(values) > 1:
            continue
        short.append(column)
        if compute_mean_words(values) >= WORDS and not are_ticked_options(values):
            found.append(column)
    if found:
        return tuple(found)
    return tuple(
        column
        for column in short
        if not _is_numeric_column(head, column) and not _list_worker_ranks(head, column)
    )


def _is_remark_column(head: Head, column: str) -> bool:
    """Return whether a column asks for remarks on the study."""
    return any(map(is_remark_heading, head.get_titles(column)))


def are_ticked_options(values: Sequence[str]) -> bool:
    """Return whether values are ticked options: at least 10 cells with few different values."""
    most = max(2, MOST_CHOICES * len(values))
    return len(values) >= FEWEST_OF_CHOICE and len(set(values)) <= most


def _is_numeric_column(head: Head, column: str) -> bool:
    """Return whether a column holds numbers, and no title of it is a question."""
    asks = any(map(is_question_text, head.get_titles(column)))
    return holds_for_most(is_number, head.get_values(column)) and not asks


def is_constant_by_question(head: Head, question: str, column: str) -> bool:
    """Return whether a column has one value per question, and some question has several rows."""
    if question not in head.positions or column not in head.positions:
        return False
    key, of = head.positions[question], head.positions[column]
    first: dict[str, str] = {}
    for row in head.rows:
        if first.setdefault(row[key].strip(), row[of].strip()) != row[of].strip():
            return False
    # If every question has one row, any column has one value per question.
    return len(first) < len(head.rows)


def find_question_text_column(head: Head, columns: Sequence[str]) -> str:
    """Return the column with the questions' texts: by its name, else the longest texts; or "".

    Columns of texts with several words are preferred to columns of ids regardless of their names.
    """
    filled = [name for name in columns if head.get_values(name)]
    if not filled:
        return ""
    order = [normalise_name(name) for name in WORDINGS]

    def build_text_column_key(name: str) -> tuple[bool, int, float, str]:
        """Return the sort key of a column as a candidate for the questions' texts."""
        words = compute_mean_words(head.get_values(name))
        plain = normalise_name(name)
        place = order.index(plain) if plain in order else len(order)
        return words < WORDS, place, -words, plain

    return min(filled, key=build_text_column_key)


def find_columns_of_long_table(head: Head) -> tuple[str, str, str, str]:
    """Return a long table's columns (worker, question, answer, question text); "" if not found."""
    worker = find_worker_column(head, is_wide=False)
    question = _find_question_column(head, worker)
    rest = [name for name in head.header if name not in (worker, question)]
    of_question = [name for name in rest if is_constant_by_question(head, question, name)]
    named = list(dict.fromkeys(head.find_column(name) for name in ANSWERS))
    named = [name for name in named if name and name not in (worker, question)]
    same = frozenset(of_question)
    others = [name for name in rest if name not in same]
    usable = [name for name in named if not find_answer_problem(head, name)]
    # Few people who agree on everything are no reason to look further.
    agree = (
        []
        if _has_enough_repeated_cells(head, question) or find_answer_columns(head, others)
        else usable
    )
    usable = [name for name in usable if name in others] or agree
    answer = next(iter(usable), "") or next(iter(find_answer_columns(head, others)), "")
    texts = [name for name in of_question if name != answer and not find_answer_problem(head, name)]
    if not texts:
        texts = [name for name in rest if name != answer and normalise_name(name) in _WORDINGS]
    wording = find_question_text_column(
        head, [n for n in texts if compute_mean_words(head.get_values(n)) >= WORDS]
    )
    return worker, question, answer, wording


def _has_enough_repeated_cells(head: Head, question: str) -> bool:
    """Return whether at least 4 cells of a column repeat an earlier cell."""
    values = head.get_values(question)
    return len(values) - len(set(values)) >= FEWEST_AGREEING


def _find_question_column(head: Head, worker: str) -> str:
    """Return the column of question ids; among several, the one that best separates the rows.

    A column of ids is preferred to a column with one text for each id.
    """
    named = [head.find_column(name) for name in QUESTIONS]
    found = [name for name in dict.fromkeys(named) if name and name != worker]
    found = [name for name in found if head.get_values(name)]
    if not found:
        return ""
    if not worker:
        return found[0]
    whose, at = head.positions[worker], head.positions

    def count_pairs(name: str) -> int:
        """Return the number of distinct pairs of worker and value of a column."""
        return len({(row[whose].strip(), row[at[name]].strip()) for row in head.rows})

    most = max(map(count_pairs, found))
    first, *others = (name for name in found if count_pairs(name) >= 0.9 * most)
    if compute_mean_words(head.get_values(first)) < WORDS:
        return first
    ids = (name for name in others if compute_mean_words(head.get_values(name)) < WORDS)
    return next((name for name in ids if is_constant_by_question(head, name, first)), first)


_WORDINGS = frozenset(map(normalise_name, WORDINGS))
_QUESTIONS = frozenset(map(normalise_name, QUESTIONS))


def describe_worker_search(head: Head, *, is_wide: bool, most: int = 8) -> str:
    """Return the columns that are not the workers', as text, each with the reason."""
    found = []
    for column in dict.fromkeys(head.header):
        code = find_worker_problem(head, column, is_wide=is_wide)
        if code:
            found.append(f"{column[:40]} ({PROBLEMS_OF_WORKERS[code]})")
    more = f" and {len(found) - most} more" if len(found) > most else ""
    return (", ".join(found[:most]) or "none") + more


def describe_answer_search(
    head: Head, question: str, cell: Callable[[str], str], most: int = 8
) -> str:
    """Return the columns that hold no answers, as text, each with the reason if known."""
    found = []
    for column in dict.fromkeys(head.header):
        code = find_answer_problem(head, column, cell)
        if not code and question and is_constant_by_question(head, question, column):
            code = "task"
        if not code and len(set(head.get_values(column))) == 1:
            code = "constant"
        if not code and _is_numeric_column(head, column):
            code = "number"
        reason = f" ({PROBLEMS_OF_ANSWERS[code]})" if code else ""
        found.append(f"{column[:40]}{reason}")
    more = f" and {len(found) - most} more" if len(found) > most else ""
    return (", ".join(found[:most]) or "none") + more


def are_people_columns(head: Head) -> bool:
    """Return whether a table has one row per question and one column per person.

    Its headings are ids, or numbered names beside a column of items, or its first column holds
    questions and no heading is a known one.
    """
    people = head.header[1:]
    if not head.is_delimited or len(people) < FEWEST_PEOPLE:
        return False
    texts = [value for name in people for value in head.get_values(name)]
    shape = find_common_shape(people)
    if shape in UNIQUE_SHAPES or shape.startswith("code of"):
        return compute_mean_words(texts) >= WORDS or holds_for_most(
            is_question_text, head.get_cells(head.header[0])
        )
    if any(is_question_text(name) or len(name.split()) > 2 for name in people):
        return False
    asked = head.get_cells(head.header[0])
    if len(set(asked)) < len(asked) or len(asked) < 2 or not texts:
        return False
    if (
        shape
        and normalise_name(head.header[0]) in _QUESTIONS
        and compute_mean_words(texts) >= WORDS
    ):
        return True
    are_named = [name for name in people if is_common_heading(name)]
    return sum(map(is_question_text, asked)) * 2 >= len(asked) and not are_named


def is_question_text(text: str) -> bool:
    """Return whether a text ends with a question mark."""
    return text.rstrip().endswith(("?", "？"))


def is_personal_column(head: Head, column: str) -> bool:
    """Return whether a column identifies or locates a person, by its headings or its cells."""
    values = head.get_values(column)
    shape = find_common_shape(values) if values else ""
    return any(map(is_personal_heading, head.get_titles(column))) or shape in ("e-mail", "ip")


__all__ = [
    "are_people_columns",
    "describe_answer_search",
    "describe_worker_search",
    "find_answer_columns",
    "find_answer_problem",
    "find_columns_of_long_table",
    "find_question_text_column",
    "find_worker_column",
    "find_worker_problem",
    "is_constant_by_question",
    "is_personal_column",
]
