"""Form in which a user chooses the role of each column of a file in an import of answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django import forms

from annotations.desk.forms import DUPLICATES, UploadForm
from annotations.exchange.presets import (
    PRESETS,
    ROW_NUMBER,
    Head,
    Mapping,
    Role,
    TableChoice,
    assign_column_roles,
    drop_excluded_rows,
)
from annotations.exchange.problems import InputError
from annotations.exchange.reading.mturk import QuestionTemplate
from annotations.exchange.reading.mturk_columns import ANSWER, AnswerColumn
from annotations.exchange.reading.unpacking import LAST_ROW

LONGEST_SAMPLE = 80
LONGEST_NAME = 60
MOST_SELECTORS = 400
"""Columns with a role selector; Django reads at most 1,000 fields of a form, two for each."""
LABELS = {
    Role.WORKER: "Worker",
    Role.QUESTION: "Question id",
    Role.TEXT: "Question wording",
    Role.ANSWER: "Answer",
    Role.CHECK: "Attention check",
    Role.TIME: "Time",
    Role.EXTRA: "Extra information",
    Role.IGNORE: "Ignore",
}
ROLES = [(role.value, label) for role, label in LABELS.items()]
OF_BATCH = [(role.value, LABELS[role]) for role in (Role.ANSWER, Role.EXTRA)]
"""Roles of the Answer columns of Mechanical Turk; its other columns have fixed names."""
ONCE = (Role.WORKER, Role.QUESTION, Role.TEXT)
"""Roles that one column has at most."""
NO_ANSWERS = "Choose the role Answer for at least one column."
PRESETS_WITH_FLAGS = ("own", "mturk", "prolific")
"""Presets whose files may say which answers were rejected."""


@dataclass(frozen=True)
class ColumnChoice:
    """A column of the file with its role selector, question text and example cells."""

    form: forms.Form
    number: int
    name: str
    note: str
    samples: tuple[str, ...]

    @property
    def role(self) -> forms.BoundField:
        """The selector of the column's role."""
        return self.form[f"role-{self.number}"]

    @property
    def right(self) -> forms.BoundField | None:
        """Field for the right answer; None if the column cannot be an attention check."""
        name = f"right-{self.number}"
        return self.form[name] if name in self.form.fields else None

    @property
    def examples(self) -> list[str]:
        """The example cells, each on one line."""
        return [_shorten(text, LONGEST_SAMPLE) for text in self.samples]


def build_keep_ids_field() -> forms.BooleanField:
    """Return the form field for the choice to keep ids such as 101.0 as typed."""
    return forms.BooleanField(
        label="Keep ids as typed",
        required=False,
        help_text="Ticked: 101 and 101.0 are two ids. Otherwise both are read as 101 if all ids of "
        "the column are whole numbers.",
    )


class MappingForm(forms.Form):
    """Form for the preset, table position, column roles and options of an answer import.

    `head` describes the columns of the file, `options` are those stored with the upload.
    """

    preset = forms.ChoiceField(
        label="Where the file comes from",
        choices=[(preset.slug, preset.title) for preset in PRESETS.values()],
        help_text="Choosing another one proposes other columns.",
    )
    sheet = forms.ChoiceField(
        label="Sheet of the workbook",
        required=False,
        help_text="Choosing another one reads its columns.",
    )
    header_row = forms.IntegerField(
        label="Row with the names of the columns",
        required=False,
        min_value=1,
        max_value=LAST_ROW,
        help_text="Left empty: the first row that is not empty.",
    )
    is_turned = forms.BooleanField(
        label="Each column is a person, each row a question", required=False
    )
    rows_are_workers = forms.BooleanField(
        label="No column names the workers: each row is a different worker", required=False
    )
    question_template = UploadForm.base_fields["question_template"]
    duplicates = forms.ChoiceField(
        label="If a worker answered a question twice",
        choices=DUPLICATES,
        help_text="The order is that of the rows. An empty answer never replaces a text. "
        "Repeated rows with the same answer are always left out.",
    )
    keep_unfinished = forms.BooleanField(
        label="Read unfinished responses, too",
        required=False,
        help_text="Responses of people who broke off are left out and counted, unless this is "
        "ticked.",
    )
    keep_html = forms.BooleanField(
        label="Keep HTML in answers",
        required=False,
        help_text="Ticked: <p>Paris</p> is stored as typed, for questions about code. Otherwise "
        "formatting tags are removed and entities decoded.",
    )
    keep_ids = build_keep_ids_field()
    panel = UploadForm.base_fields["panel"]
    create_questions = forms.BooleanField(
        label="Add questions that the set does not have yet", required=False
    )
    update_flags = UploadForm.base_fields["update_flags"]

    def __init__(
        self,
        head: Head,
        fields: Sequence[AnswerColumn],
        options: dict[str, Any],
        data: Any = None,
    ) -> None:
        """Build the form for the columns of one uploaded file.

        `fields` are the answer columns of a Mechanical Turk file, [] for other presets.
        """
        mapping = Mapping.from_dict(options["mapping"])
        place = options.get("arrangement", {})
        placed = {
            "sheet": place.get("sheet", ""),
            "header_row": place.get("header_row") or None,
            "is_turned": place.get("is_turned", False),
            "rows_are_workers": mapping.worker == ROW_NUMBER,
        }
        super().__init__(data, initial={**options, **placed})
        self._head, self._mapping, self._preset = head, mapping, options["preset"]
        self._place = place
        sheets = place.get("sheets", [])
        self.fields["sheet"].choices = [(sheet, sheet) for sheet in sheets]  # type: ignore[attr-defined]
        if len(sheets) < 2:
            del self.fields["sheet"]
        if not (head.is_delimited or place.get("is_turned")):
            del self.fields["header_row"], self.fields["is_turned"]
        if PRESETS[self._preset].unfinished is None:
            del self.fields["keep_unfinished"]
        self._proposed = assign_column_roles(head, PRESETS[self._preset], mapping)
        self._add_role_fields(fields)
        if self._preset == "mturk":
            # The other columns of Mechanical Turk have fixed names.
            for name in ("rows_are_workers", "keep_html", "keep_ids"):
                del self.fields[name]
        else:
            del self.fields["question_template"]
        if self._preset not in PRESETS_WITH_FLAGS:
            del self.fields["update_flags"]

    def _add_role_fields(self, fields: Sequence[AnswerColumn]) -> None:
        """Add the role selector and the field of the right answer for each selectable column."""
        preset, right = PRESETS[self._preset], dict(self._mapping.checks)
        # Examples come from rows that count, and not from the author's previews.
        answering = drop_excluded_rows(preset, self._head)
        if self._preset == "mturk":
            columns = {ANSWER + field.name: (field.reason, field.samples) for field in fields}
            choices = OF_BATCH
            # Fields of a form of Crowd HTML elements are no columns of the file.
            self._proposed = dict.fromkeys(self._mapping.answers, Role.ANSWER)
        else:
            columns = {
                name: (
                    _omit_repeated_wording(self._head.wordings.get(name, ""), name),
                    answering.get_samples(name, preset.cell),
                )
                for name in self._list_selectable_columns()
            }
            choices = ROLES
        self.columns = [
            ColumnChoice(self, number, name, note, tuple(samples))
            for number, (name, (note, samples)) in enumerate(columns.items(), 1)
        ]
        for column in self.columns:
            self.fields[f"role-{column.number}"] = forms.ChoiceField(
                label=f"Role of {_shorten(column.name)}",
                choices=choices,
                initial=self._proposed.get(column.name, Role.EXTRA),
            )
            if choices is ROLES:
                self.fields[f"right-{column.number}"] = forms.CharField(
                    label=f"Right answer of {_shorten(column.name)}",
                    required=False,
                    initial=right.get(column.name, ""),
                    max_length=200,
                )

    def _list_selectable_columns(self) -> list[str]:
        """Return the columns that get a role selector, in the file's order.

        All of them; of a very wide file those with a role, then the first ones.
        """
        names = [name for name in dict.fromkeys(self._head.header) if name]
        if len(names) <= MOST_SELECTORS:
            return names
        first = sorted(names, key=lambda name: self._proposed[name] == Role.EXTRA)
        selectable = frozenset(first[:MOST_SELECTORS])
        return [name for name in names if name in selectable]

    @property
    def n_unselectable(self) -> int:
        """Number of columns without a selector, which keep their proposed role."""
        if self._preset == "mturk":
            return 0
        return len([name for name in dict.fromkeys(self._head.header) if name]) - len(self.columns)

    @property
    def settings(self) -> Iterator[forms.BoundField]:
        """Fields of the form other than the roles and right answers of columns."""
        own = [name for name in self.fields if not name.startswith(("role-", "right-"))]
        return (self[name] for name in own)

    def clean_question_template(self) -> str:
        """Return the typed question template unchanged; refuse one that cannot be parsed."""
        text: str = self.cleaned_data["question_template"]
        try:
            QuestionTemplate.parse(text)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error
        return text

    def clean(self) -> dict[str, Any]:
        """Return the form's values; refuse roles that exclude each other."""
        values = super().clean() or self.cleaned_data
        if self._preset == "mturk":
            if not self._list_columns_with_role(Role.ANSWER):
                self.add_error(None, forms.ValidationError(NO_ANSWERS, code="no_answers"))
            return values
        for role in ONCE:
            columns = self._list_columns_with_role(role)
            if role == Role.WORKER and values.get("rows_are_workers") and columns:
                columns.append("the row")
            if len(columns) > 1:
                names = " and ".join(map(_shorten, columns[:3]))
                message = f"Choose the role {LABELS[role]} once, not for {names}."
                self.add_error(None, forms.ValidationError(message, code="role_twice"))
        for column in self.columns:
            right = f"right-{column.number}"
            is_check = values.get(f"role-{column.number}") == Role.CHECK
            if is_check and not values.get(right):
                message = f"Enter the right answer of the attention check {column.name[:60]}."
                self.add_error(right, forms.ValidationError(message, code="right_missing"))
        if not self.errors:
            try:
                self._build_mapping().find_positions(self._head.header, self._head.name)
            except InputError as error:
                problem = error.problems[0]
                text = f"{problem.reason.capitalize()}. {problem.remedy}"
                self.add_error(None, forms.ValidationError(text, code=problem.code))
        return values

    def _list_columns_with_role(self, role: Role) -> list[str]:
        """Return the columns with a role, as chosen in the form or else as proposed."""
        posted = {column.name: f"role-{column.number}" for column in self.columns}
        names = posted if self._preset == "mturk" else self._proposed
        return [
            name
            for name in names
            if role == (self.cleaned_data.get(posted[name]) if name in posted else names[name])
        ]

    def read_changed_arrangement(self) -> TableChoice | None:
        """Return the posted sheet, header row and orientation; None if unchanged."""
        values = self.cleaned_data
        current = self._place
        sheet = values.get("sheet") or current.get("sheet", "")
        row = values["header_row"] or 0 if "header_row" in values else current.get("header_row", 0)
        is_turned = values.get("is_turned", current.get("is_turned", False))
        if sheet != current.get("sheet", ""):
            # 0 detects the header row; a row that was changed as well counts for the new sheet.
            return TableChoice(sheet, row if row != current.get("header_row", 0) else 0, is_turned)
        if (row, is_turned) == (current.get("header_row", 0), current.get("is_turned", False)):
            return None
        # An empty field means the first row; 0 would let the header row be detected.
        return TableChoice(sheet, row or 1, is_turned)

    def _build_mapping(self) -> Mapping:
        """Return the column mapping that the user posted."""
        former = self._mapping
        answers = tuple(self._list_columns_with_role(Role.ANSWER))
        if self._preset == "mturk":
            return Mapping(former.worker, former.question, answers)
        worker, question, text = (
            next(iter(self._list_columns_with_role(role)), "") for role in (Role.WORKER, *ONCE[1:])
        )
        if self.cleaned_data.get("rows_are_workers"):
            worker = ROW_NUMBER
        checks = tuple(
            (column.name, self.cleaned_data[f"right-{column.number}"].strip())
            for column in self.columns
            if self.cleaned_data[f"role-{column.number}"] == Role.CHECK
        )
        # What the preset does by itself is stored as its rule, not as a choice of the user.
        of_preset = assign_column_roles(self._head, PRESETS[self._preset], Mapping())
        times = tuple(self._list_columns_with_role(Role.TIME))
        known = tuple(name for name, role in of_preset.items() if role == Role.TIME)
        chosen = Mapping(
            worker,
            question,
            answers,
            text,
            checks=checks,
            times=None if set(times) == set(known) else times,
            extra=tuple(
                name
                for name in self._list_columns_with_role(Role.EXTRA)
                if of_preset.get(name) == Role.IGNORE
            ),
            ignored=tuple(
                name
                for name in self._list_columns_with_role(Role.IGNORE)
                if of_preset.get(name) != Role.IGNORE
            ),
        )
        # A proposed column that the user left as it is remains a guess.
        same = {
            "worker": chosen.worker == former.worker,
            "question": chosen.question == former.question,
            "answer": chosen.answers == former.answers,
        }
        guessed = tuple(key for key in former.guessed if same[key])
        return replace(chosen, guessed=guessed)

    def collect_options(self) -> dict[str, Any]:
        """Return the import options as JSON values, to store with the upload."""
        values = self.cleaned_data
        return {
            "preset": self._preset,
            "arrangement": self._place,
            "keep_unfinished": values.get("keep_unfinished", False),
            "keep_html": values.get("keep_html", False),
            "keep_ids": values.get("keep_ids", False),
            "mapping": self._build_mapping().as_dict(),
            "panel": values["panel"].strip(),
            "duplicates": values["duplicates"],
            "question_template": values.get("question_template", ""),
            "create_questions": values["create_questions"],
            "update_flags": values.get("update_flags", False),
        }


def _omit_repeated_wording(wording: str, name: str) -> str:
    """Return a question's text; "" if it only repeats the column's name."""
    return "" if wording == name else wording


def _shorten(text: str, longest: int = LONGEST_NAME) -> str:
    """Return a text on one line, cut to at most `longest` characters with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
