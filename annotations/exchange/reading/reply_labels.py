"""Read annotators' labels of whether a reply states that its word problem has no answer."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from annotations.exchange.header import Column
from annotations.exchange.ids import clean_id
from annotations.exchange.problems import Problems
from annotations.exchange.reading.source import Readable, make_source
from annotations.exchange.reading.tables import open_table
from annotations.exchange.reading.word_problems import normalise_form

YES, NO, CANNOT_TELL = "yes", "no", "cannot_tell"
LABELS = (YES, NO, CANNOT_TELL)
"""The order is that of the numeric codes of labels."""
FIELDS = ("system", "id", "form", "annotator", "label")
HUMAN = "human:"

Reply = tuple[str, str, str]
"""A system, a problem's id, a form of asking."""


@dataclass(frozen=True, slots=True)
class ReplyLabel:
    """One annotator's label of one reply; `label` is one of `LABELS`."""

    line: int
    system: str
    item: str
    form: str
    annotator: str
    label: str

    @property
    def reply(self) -> Reply:
        """Key of the labelled reply: (system, problem id, form of asking)."""
        return self.system, self.item, self.form


@dataclass(frozen=True, slots=True)
class ReplyLabelFile:
    """The annotators' labels in a file, in the order of its rows."""

    name: str
    sha256: str
    labels: tuple[ReplyLabel, ...]
    warnings: tuple[str, ...]


def read_reply_labels(path: Readable, known: Collection[Reply]) -> ReplyLabelFile:
    """Read annotators' labels of replies from a CSV, TSV, JSON Lines or XLSX file.

    Columns: `id` (or `item`), `annotator` (or `judge`, with "human:" before the name, as the site
    writes it), `label`; `system` (default "model") and `form` (default "direct") may be absent.

    Parameters
    ----------
    known : the replies that can be labelled.

    Raises
    ------
    InputError
        A label without id or annotator, an unknown label, a label of a reply that is not there,
        the same annotator twice about one reply, even with the same label.
    """
    columns = (
        Column("id", ("id", "item"), renamed_by=""),
        Column("annotator", ("annotator", "judge"), renamed_by=""),
        Column("label", ("label",), renamed_by=""),
        Column("system", ("system",), required=False, renamed_by=""),
        Column("form", ("form",), required=False, renamed_by=""),
    )
    problems = Problems(make_source(path).name)
    table = open_table(path, columns, problems)
    items = {item for _, item, _ in known}
    labels_by_reply: dict[tuple[Reply, str], ReplyLabel] = {}
    n_rows = 0
    for line, cells, _ in table.rows:
        n_rows += 1
        label = _read_label(problems, line, cells)
        if label is None:
            continue
        if label.reply not in known:
            _record_unknown_reply(problems, label, label.item in items)
            continue
        first = labels_by_reply.setdefault((label.reply, label.annotator), label)
        if first is not label:
            code = "reply_labelled_twice"
            if first.label != label.label:
                code = "reply_labelled_otherwise"
            problems.add_code(
                line,
                "annotator",
                code,
                annotator=label.annotator,
                system=label.system,
                item=label.item,
                form=label.form,
                first_line=first.line,
                first_label=first.label,
            )
    if not n_rows and not problems.total:
        problems.add_code(None, None, "no_rows", what="labels")
    problems.raise_if_any()
    return ReplyLabelFile(
        table.name, table.sha256, tuple(labels_by_reply.values()), tuple(table.warnings)
    )


def _record_unknown_reply(problems: Problems, label: ReplyLabel, item_is_known: bool) -> None:
    """Record a problem for the label of a reply, or of a problem, that does not exist."""
    code = "labelled_reply_unknown" if item_is_known else "labelled_problem_unknown"
    values = {"system": label.system, "item": label.item, "form": label.form}
    problems.add_code(label.line, "id", code, **values)


def _read_label(problems: Problems, line: int, cells: tuple[str, ...]) -> ReplyLabel | None:
    """Return the label in a row; None if the row is bad (then problems are recorded)."""
    name, person, word, system, form = (clean_id(cell) for cell in cells)
    person = person.removeprefix(HUMAN).strip()
    n_problems = problems.total
    if not name:
        problems.add_code(line, "id", "problem_id_missing")
    if not person:
        problems.add_code(line, "annotator", "annotator_missing")
    # In a sheet people write “Cannot tell” for cannot_tell.
    label = "_".join(word.casefold().replace("_", " ").split())
    if label not in LABELS:
        code = "reply_label_unknown" if word else "reply_label_missing"
        problems.add_code(line, "label", code, label=word[:40], known=", ".join(LABELS))
    if problems.total > n_problems:
        return None
    return ReplyLabel(line, system or "model", name, normalise_form(form), person, label)
