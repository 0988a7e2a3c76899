"""What people said of replies to word problems: whether each says that there is no answer."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from annotations.exchange.header import Column
from annotations.exchange.ids import clean_id
from annotations.exchange.problems import Problems
from annotations.exchange.reading.source import Readable, source_of
from annotations.exchange.reading.tables import open_table
from annotations.exchange.reading.word_problems import form_of

YES, NO, CANNOT_TELL = "yes", "no", "cannot_tell"
LABELS = (YES, NO, CANNOT_TELL)
"""In the order of the codes that numbers are made of."""
FIELDS = ("system", "id", "form", "annotator", "label")
HUMAN = "human:"

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
    return ReplyLabelFile(table.name, table.sha256, tuple(found.values()), tuple(table.warnings))


def _not_there(problems: Problems, label: ReplyLabel, item_is_known: bool) -> None:
    code = "labelled_reply_unknown" if item_is_known else "labelled_problem_unknown"
    values = {"system": label.system, "item": label.item, "form": label.form}
    problems.add_code(label.line, "id", code, **values)


def _label(problems: Problems, line: int, cells: tuple[str, ...]) -> ReplyLabel | None:
    name, person, word, system, form = (clean_id(cell) for cell in cells)
    person = person.removeprefix(HUMAN).strip()
    before = problems.total
    if not name:
        problems.add_code(line, "id", "problem_id_missing")
    if not person:
        problems.add_code(line, "annotator", "annotator_missing")
    label = "_".join(word.casefold().replace("_", " ").split())
    if label not in LABELS:
        code = "reply_label_unknown" if word else "reply_label_missing"
        problems.add_code(line, "label", code, label=word[:40], known=", ".join(LABELS))
    if problems.total > before:
        return None
    return ReplyLabel(line, system or "model", name, form_of(form), person, label)
