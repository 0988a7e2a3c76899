"""What people said of replies to word problems: whether each says that there is no answer."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from annotations.exchange.header import Column
from annotations.exchange.problems import Problems
from annotations.exchange.reading.answers import cleaned
from annotations.exchange.reading.source import Readable, source_of
from annotations.exchange.reading.tables import open_table
from annotations.exchange.reading.word_problems import form_of

YES, NO, CANNOT_TELL = "yes", "no", "cannot_tell"
LABELS = (YES, NO, CANNOT_TELL)
"""In the order of the codes that numbers are made of."""
FIELDS = ("system", "id", "form", "annotator", "label")
HUMAN = "human:"
HOW = f"Write one of {', '.join(LABELS)}."

Reply = tuple[str, str, str]
"""A system, a problem's id, a form of asking."""


@dataclass(frozen=True, slots=True)
class ReplyLabel:
    """What one annotator said of one reply; `label` is one of `LABELS`."""

    line: int
    system: str
    item: str
    form: str
    annotator: str
    label: str

    @property
    def reply(self) -> Reply:
        """Which reply it is about."""
        return self.system, self.item, self.form


@dataclass(frozen=True, slots=True)
class ReplyLabelFile:
    """The labels of a file, in its order."""

    name: str
    sha256: str
    labels: tuple[ReplyLabel, ...]
    warnings: tuple[str, ...]


def read_reply_labels(path: Readable, known: Collection[Reply]) -> ReplyLabelFile:
    """Read labels in a CSV, TSV, JSON Lines or XLSX file.

    Columns: `id` (or `item`), `annotator` (or `judge`, with "human:" before the name, as the site
    writes it), `label`; `system` (default "model") and `form` (default "direct") may be absent.

    Parameters
    ----------
    known : the replies that there are.

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
    problems = Problems(source_of(path).name)
    table = open_table(path, columns, problems)
    items = {item for _, item, _ in known}
    found: dict[tuple[Reply, str], ReplyLabel] = {}
    n_rows = 0
    for line, cells, _ in table.rows:
        n_rows += 1
        label = _label(problems, line, cells)
        if label is None:
            continue
        if label.reply not in known:
            _not_there(problems, label, label.item in items)
            continue
        first = found.setdefault((label.reply, label.annotator), label)
        if first is not label:
            other = "" if first.label == label.label else f" with another label ({first.label})"
            problems.add(
                line,
                "annotator",
                f"{label.annotator} labelled the reply of {label.system} to {label.item} in the "
                f"form {label.form} already in line {first.line}{other}",
                "Keep one of the two rows, or write who the other annotator was.",
            )
    if not n_rows and not problems.total:
        problems.add(None, None, "there is no data row", "Check that the labels were saved.")
    problems.raise_if_any()
    return ReplyLabelFile(table.name, table.sha256, tuple(found.values()), tuple(table.warnings))


def _not_there(problems: Problems, label: ReplyLabel, item_is_known: bool) -> None:
    if item_is_known:
        reason = f"{label.system} has no reply to {label.item} in the form {label.form}"
    else:
        reason = f"no reply is to a problem with the id {label.item}"
    problems.add(
        label.line,
        "id",
        reason,
        "Write system, id and form as they stand in the file of replies.",
    )


def _label(problems: Problems, line: int, cells: tuple[str, ...]) -> ReplyLabel | None:
    name, person, word, system, form = (cleaned(cell) for cell in cells)
    person = person.removeprefix(HUMAN).strip()
    before = problems.total
    if not name:
        problems.add(line, "id", "the id is missing", "Write the id of the problem.")
    if not person:
        problems.add(line, "annotator", "the annotator is missing", "Write who labelled it.")
    label = "_".join(word.casefold().replace("_", " ").split())
    if label not in LABELS:
        what = f"the label {word[:40]} is unknown" if word else "the label is missing"
        problems.add(line, "label", what, HOW)
    if problems.total > before:
        return None
    return ReplyLabel(line, system or "model", name, form_of(form), person, label)
