"""Form that says which columns of a file hold workers, questions and answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django import forms

from annotations.desk.forms import DUPLICATES, UploadForm
from annotations.exchange.presets import PRESETS, ROW_NUMBER, Arrangement, Head, Mapping
from annotations.exchange.problems import InputError
from annotations.exchange.reading.mturk import QuestionTemplate
from annotations.exchange.reading.mturk_columns import ANSWER, AnswerColumn
from annotations.exchange.reading.unpacking import LAST_ROW

LONGEST_SAMPLE = 40
LONGEST_NAME = 60
NO_COLUMN = [("", "– none –")]
ROW_NUMBER_CHOICE = [(ROW_NUMBER, "– the number of the row: each row is of one worker –")]
PRESETS_WITH_FLAGS = ("own", "mturk", "prolific")
"""Presets whose files may say which answers were rejected."""


class MappingForm(forms.Form):
    """Form for the preset, sheet, header row, columns and options of an import of answers.

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
    worker = forms.ChoiceField(
        label="Column of the workers' ids",
        error_messages={"required": "Choose the column that says who answered."},
    )
    question = forms.ChoiceField(
        label="Column of the question's id",
        required=False,
        help_text="None, if each column of answers is a question of its own.",
    )
    text = forms.ChoiceField(label="Column of the question's wording", required=False)
    answers = forms.MultipleChoiceField(
        label="Columns of answers",
        widget=forms.CheckboxSelectMultiple,
        help_text="What is not ticked stays with the answers as further facts, except personal "
        "columns.",
        error_messages={"required": "Tick at least one column of answers."},
    )
    checks = forms.CharField(
        label="Attention checks",
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="One column a line, with its right answer: Q10 = Strongly disagree. Answers to "
        "checks are not graded.",
    )
    question_template = UploadForm.base_fields["question_template"]
    duplicates = forms.ChoiceField(
        label="If a worker answered a question twice",
        choices=DUPLICATES,
        help_text="The order is that of the rows. An empty last answer never replaces a text. Rows "
        "that say the same once more are left out in any case.",
    )
    keep_unfinished = forms.BooleanField(
        label="Read unfinished responses, too",
        required=False,
        help_text="Responses of people who broke off are left out and counted, unless this is "
        "ticked.",
    )
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
        mapping = Mapping.of_dict(options["mapping"])
        chosen = {name: getattr(mapping, name) for name in ("worker", "question", "text")}
        place = options.get("arrangement", {})
        placed = {
            "sheet": place.get("sheet", ""),
            "header_row": place.get("header_row") or None,
            "is_turned": place.get("is_turned", False),
        }
        checks = "\n".join(f"{column} = {right}" for column, right in mapping.checks)
        answers = {"answers": list(mapping.answers), "checks": checks}
        super().__init__(data, initial={**options, **chosen, **placed, **answers})
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
        names = [(name, _shorten(name)) for name in head.header]
        for field in ("worker", "question", "text"):
            more = ROW_NUMBER_CHOICE if field == "worker" else []
            self.fields[field].choices = NO_COLUMN + names + more  # type: ignore[attr-defined]
        self.fields["answers"].choices = self._list_answer_columns(fields)  # type: ignore[attr-defined]
        if self._preset == "mturk":
            # The other columns of Mechanical Turk have fixed names.
            for field in ("worker", "question", "text", "checks"):
                del self.fields[field]
        else:
            del self.fields["question_template"]
        if self._preset not in PRESETS_WITH_FLAGS:
            del self.fields["update_flags"]

    def _list_answer_columns(self, fields: Sequence[AnswerColumn]) -> list[tuple[str, str]]:
        """Return (name, label) of each column that may hold answers; labels show sample cells."""
        if self._preset == "mturk":
            return [
                (
                    ANSWER + field.name,
                    _describe_column(ANSWER + field.name, field.reason, field.samples),
                )
                for field in fields
            ]
        head = self._head
        names = [
            name for name in head.header if head.samples(name) or name in self._mapping.answers
        ]
        return [
            (
                name,
                _describe_column(
                    name, _omit_repeated(head.wordings.get(name, ""), name), head.samples(name)
                ),
            )
            for name in dict.fromkeys(names)
        ]

    def clean_question_template(self) -> str:
        """Return the typed question template unchanged; refuse one that cannot be parsed."""
        text: str = self.cleaned_data["question_template"]
        try:
            QuestionTemplate.parse(text)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error
        return text

    def clean_checks(self) -> tuple[tuple[str, str], ...]:
        """Return (column, right answer) of each attention check typed in the form."""
        lines = [" ".join(line.split()) for line in self.cleaned_data["checks"].splitlines()]
        entries = [f"check={line.replace(' = ', '=', 1)}" for line in lines if line]
        try:
            return Mapping().changed(entries, self._head.header, self._head.name).checks
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error
        except InputError as error:
            problem = error.problems[0]
            text = f"{problem.reason.capitalize()}. {problem.remedy}"
            raise forms.ValidationError(text, code=problem.code) from error

    def clean(self) -> dict[str, Any]:
        """Refuse columns that exclude each other, such as a column chosen for two purposes."""
        values = super().clean() or self.cleaned_data
        if self._preset != "mturk" and "worker" in values and "answers" in values:
            try:
                self._build_mapping().checked(self._head.header, self._head.name)
            except InputError as error:
                problem = error.problems[0]
                text = f"{problem.reason.capitalize()}. {problem.remedy}"
                self.add_error("answers", forms.ValidationError(text, code=problem.code))
        return values

    def read_moved_table(self) -> Arrangement | None:
        """Return the newly posted sheet, header row and orientation; None if unchanged."""
        values = self.cleaned_data
        current = self._place
        sheet = values.get("sheet") or current.get("sheet", "")
        row = values["header_row"] or 0 if "header_row" in values else current.get("header_row", 0)
        is_turned = values.get("is_turned", current.get("is_turned", False))
        if sheet != current.get("sheet", ""):
            # 0 detects the header row; a row that was changed as well counts for the new sheet.
            return Arrangement(sheet, row if row != current.get("header_row", 0) else 0, is_turned)
        if (row, is_turned) == (current.get("header_row", 0), current.get("is_turned", False)):
            return None
        return Arrangement(sheet, row or 1, is_turned)

    def _build_mapping(self) -> Mapping:
        """Return the column mapping that the user posted."""
        values = self.cleaned_data
        if self._preset == "mturk":
            fixed = self._mapping
            return Mapping(fixed.worker, fixed.question, tuple(values["answers"]))
        columns = {name: values.get(name, "") for name in ("worker", "question", "text")}
        answers, checks = tuple(values["answers"]), values.get("checks") or ()
        chosen = Mapping(**columns, answers=answers, checks=checks).without_checks_in_answers()
        # A proposed column that the user left as it is remains a guess.
        same = {
            "worker": chosen.worker == self._mapping.worker,
            "question": chosen.question == self._mapping.question,
            "answer": chosen.answers == self._mapping.answers,
        }
        guessed = tuple(key for key in self._mapping.guessed if same[key])
        return replace(chosen, guessed=guessed)

    def collect_options(self) -> dict[str, Any]:
        """Return the import options to store with the upload, as JSON-compatible values."""
        values = self.cleaned_data
        return {
            "preset": self._preset,
            "arrangement": self._place,
            "keep_unfinished": values.get("keep_unfinished", False),
            "mapping": self._build_mapping().as_dict(),
            "panel": values["panel"].strip(),
            "duplicates": values["duplicates"],
            "question_template": values.get("question_template", ""),
            "create_questions": values["create_questions"],
            "update_flags": values.get("update_flags", False),
        }


def _describe_column(name: str, note: str, samples: Sequence[str]) -> str:
    """Return a column's label in the form: its name, a note if any, and sample cells."""
    note = f" – {_shorten(note)}" if note else ""
    quoted = [f"“{_shorten(text, LONGEST_SAMPLE)}”" for text in samples]
    return f"{_shorten(name)}{note}: {', '.join(quoted) or 'empty'}"


def _omit_repeated(wording: str, name: str) -> str:
    """Return the text of a question; "" if it only repeats the name of its column."""
    return "" if wording == name else wording


def _shorten(text: str, longest: int = LONGEST_NAME) -> str:
    """Return a text on one line, cut to at most `longest` characters with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
