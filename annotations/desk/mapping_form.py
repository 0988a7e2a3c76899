"""The form that says what the columns of a file hold."""

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
NONE = [("", "– none –")]
ROWS = [(ROW_NUMBER, "– the number of the row: each row is of one worker –")]
FLAGGED = ("own", "mturk", "prolific")
"""Presets whose files may say which answers were rejected."""


class MappingForm(forms.Form):
    """A preset, the columns, and what becomes of questions and of answers given twice."""

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
        """Make the form of a file; `fields` are those of Mechanical Turk, empty for others."""
        mapping = Mapping.of_dict(options["mapping"])
        chosen = {name: getattr(mapping, name) for name in ("worker", "question", "text")}
        place = options.get("arrangement", {})
        placed = {
            "sheet": place.get("sheet", ""),
            "header_row": place.get("header_row") or None,
            "is_turned": place.get("is_turned", False),
        }
        answers = {"answers": list(mapping.answers)}
        super().__init__(data, initial={**options, **chosen, **placed, **answers})
        self._head, self._mapping, self._of = head, mapping, options["preset"]
        self._place = place
        sheets = place.get("sheets", [])
        self.fields["sheet"].choices = [(one, one) for one in sheets]  # type: ignore[attr-defined]
        if len(sheets) < 2:
            del self.fields["sheet"]
        if not (head.is_delimited or place.get("is_turned")):
            del self.fields["header_row"], self.fields["is_turned"]
        if PRESETS[self._of].unfinished is None:
            del self.fields["keep_unfinished"]
        names = [(name, _short(name)) for name in head.header]
        for field in ("worker", "question", "text"):
            more = ROWS if field == "worker" else []
            self.fields[field].choices = NONE + names + more  # type: ignore[attr-defined]
        self.fields["answers"].choices = self._columns(fields)  # type: ignore[attr-defined]
        if self._of == "mturk":
            # Its other columns have fixed names.
            for field in ("worker", "question", "text"):
                del self.fields[field]
        else:
            del self.fields["question_template"]
        if self._of not in FLAGGED:
            del self.fields["update_flags"]

    def _columns(self, fields: Sequence[AnswerColumn]) -> list[tuple[str, str]]:
        """The columns that may hold answers, each with what stands in it."""
        if self._of == "mturk":
            return [
                (ANSWER + one.name, _described(ANSWER + one.name, one.reason, one.samples))
                for one in fields
            ]
        head = self._head
        names = [
            name for name in head.header if head.samples(name) or name in self._mapping.answers
        ]
        return [
            (name, _described(name, _other(head.wordings.get(name, ""), name), head.samples(name)))
            for name in dict.fromkeys(names)
        ]

    def clean_question_template(self) -> str:
        """Refuse what is no template, with the reason."""
        text: str = self.cleaned_data["question_template"]
        try:
            QuestionTemplate.parse(text)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error
        return text

    def clean(self) -> dict[str, Any]:
        """Refuse columns that cannot stand together."""
        found = super().clean() or self.cleaned_data
        if self._of != "mturk" and "worker" in found and "answers" in found:
            try:
                self._chosen().checked(self._head.header, self._head.name)
            except InputError as error:
                problem = error.problems[0]
                said = f"{problem.reason.capitalize()}. {problem.remedy}"
                self.add_error("answers", forms.ValidationError(said, code=problem.code))
        return found

    def other_place(self) -> Arrangement | None:
        """Return where the table is now said to be; None if that is where it was read."""
        found = self.cleaned_data
        before = self._place
        sheet = found.get("sheet") or before.get("sheet", "")
        row = found["header_row"] or 0 if "header_row" in found else before.get("header_row", 0)
        is_turned = found.get("is_turned", before.get("is_turned", False))
        if sheet != before.get("sheet", ""):
            # The header of another sheet is found out, unless a row was named as well.
            return Arrangement(sheet, row if row != before.get("header_row", 0) else 0, is_turned)
        if (row, is_turned) == (before.get("header_row", 0), before.get("is_turned", False)):
            return None
        return Arrangement(sheet, row or 1, is_turned)

    def _chosen(self) -> Mapping:
        found = self.cleaned_data
        if self._of == "mturk":
            fixed = self._mapping
            return Mapping(fixed.worker, fixed.question, tuple(found["answers"]))
        named = {name: found.get(name, "") for name in ("worker", "question", "text")}
        chosen = Mapping(**named, answers=tuple(found["answers"]))
        # What was proposed and stays is a guess still.
        same = {
            "worker": chosen.worker == self._mapping.worker,
            "question": chosen.question == self._mapping.question,
            "answer": chosen.answers == self._mapping.answers,
        }
        guessed = tuple(key for key in self._mapping.guessed if same[key])
        return replace(chosen, guessed=guessed)

    def options(self) -> dict[str, Any]:
        """Return what is kept with the file, as plain values."""
        found = self.cleaned_data
        return {
            "preset": self._of,
            "arrangement": self._place,
            "keep_unfinished": found.get("keep_unfinished", False),
            "mapping": self._chosen().as_dict(),
            "panel": found["panel"].strip(),
            "duplicates": found["duplicates"],
            "question_template": found.get("question_template", ""),
            "create_questions": found["create_questions"],
            "update_flags": found.get("update_flags", False),
        }


def _described(name: str, about: str, samples: Sequence[str]) -> str:
    told = f" – {_short(about)}" if about else ""
    shown = [f"“{_short(text, LONGEST_SAMPLE)}”" for text in samples]
    return f"{_short(name)}{told}: {', '.join(shown) or 'empty'}"


def _other(wording: str, name: str) -> str:
    return "" if wording == name else wording


def _short(text: str, longest: int = LONGEST_NAME) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
