"""Forms that edit a question set and that upload a file into it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms

from annotations.exchange.reading.duplicates import Duplicates
from annotations.exchange.reading.mturk import QuestionTemplate
from annotations.exchange.reading.source import ARCHIVE_ENDINGS, TABLE_ENDINGS
from annotations.models import QuestionSet
from annotations.web.size_limit import LARGEST
from annotations.web.upload_kinds import WIZARD, UploadKind

if TYPE_CHECKING:
    QuestionSetModelForm = forms.ModelForm[QuestionSet]
else:
    QuestionSetModelForm = forms.ModelForm


DUPLICATES = (
    (Duplicates.REFUSE.value, "Do not import the file, and name the rows"),
    (Duplicates.FIRST.value, "The first answer counts"),
    (Duplicates.LAST.value, "The last answer counts"),
)


class QuestionSetForm(QuestionSetModelForm):
    """Form for name, description, language, licence and notice of a question set."""

    class Meta:
        """Model and fields of the form, in display order."""

        model = QuestionSet
        fields = ("name", "description", "language", "licence", "notice")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["description"].widget.attrs["rows"] = 3
        self.fields["notice"].widget.attrs["rows"] = 2
        self.fields["description"].help_text = "For yourself and your team."


class UploadForm(forms.Form):
    """Form for a file to import, with the options that its kind of upload has."""

    file = forms.FileField(
        label="File",
        help_text="CSV, TSV, JSON Lines (.jsonl) or Excel (.xlsx), also as .gz or as a .zip of one "
        f"file, at most {LARGEST // 1024**2} MB. The first row names the columns.",
        error_messages={"required": "Choose a file.", "empty": "The file is empty."},
        widget=forms.FileInput(attrs={"accept": ",".join((*TABLE_ENDINGS, *ARCHIVE_ENDINGS))}),
    )
    columns = forms.CharField(
        label="Column names in the file", required=False, max_length=2000, strip=True
    )
    panel = forms.CharField(
        label="Panel",
        required=False,
        max_length=100,
        help_text="Where the workers' ids come from, such as Prolific. The same id in two panels "
        "is two workers.",
    )
    create_questions = forms.BooleanField(
        label="Add questions that the set does not have yet",
        required=False,
        help_text="By their ids alone; their texts can be uploaded later.",
    )

    question_template = forms.CharField(
        label="How a question reads",
        required=False,
        max_length=2000,
        help_text="Such as “Translate: ${sentence}”, where sentence is the column "
        "Input.sentence. Left empty: the Input cells, a line each.",
    )
    update_flags = forms.BooleanField(
        label="Update which answers were rejected",
        required=False,
        help_text="For answers that are there already; their texts always stay as they are.",
    )

    model = forms.CharField(
        label="Model",
        required=False,
        max_length=255,
        help_text="For a log of lm-evaluation-harness, which does not name its model; or another "
        "name than the log has.",
    )

    keep_thinking = forms.BooleanField(
        label="Keep the text of thinking",
        required=False,
        help_text="Thinking of a model, such as <think> ... </think>, then counts as part of its "
        "answer. Otherwise it is removed from the answer and stored separately.",
    )

    repair = forms.BooleanField(label="Add missing commas, and tell me where", required=False)
    duplicates = forms.ChoiceField(
        label="If a worker answered a question twice",
        required=False,
        choices=DUPLICATES,
        help_text="The order is that of the rows. Repeated rows with the same answer are always "
        "left out.",
    )

    def __init__(self, kind: UploadKind, *args: Any, too_large: bool = False, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.kind = kind
        self._too_large = too_large
        self.fields[
            "columns"
        ].help_text = f"Only if the columns have other names, such as {kind.columns_example}"
        # The import wizard asks for its options on the next page, which shows the columns.
        options = () if kind.slug == WIZARD else kind.options
        for name in set(self.fields) - {"file", "columns"} - set(options):
            del self.fields[name]
        if kind.slug == WIZARD:
            file = self.fields["file"]
            file.help_text = (
                "CSV, TSV, JSON, JSON Lines (.jsonl) or Excel (.xlsx), also as .gz or as a .zip of "
                f"one file, at most {LARGEST // 1024**2} MB."
            )
            file.widget.attrs["accept"] = ",".join((*TABLE_ENDINGS, ".json", *ARCHIVE_ENDINGS))
        if kind.accept:
            file = self.fields["file"]
            file.help_text = f"{kind.accept.replace(',', ', ')}, at most {LARGEST // 1024**2} MB."
            file.widget.attrs["accept"] = kind.accept
        if kind.initial:
            for name, value in kind.initial.items():
                self.fields[name].initial = value
        if not kind.columns_example:
            del self.fields["columns"]
        # The upload handler dropped the file, so the form would only report it as missing.
        if too_large:
            self.fields["file"].error_messages["required"] = (
                f"The file is larger than {LARGEST // 1024**2} MB. Divide it, or import it with "
                "the command line, which takes any size."
            )

    def clean_columns(self) -> str:
        """Return the typed column names unchanged; refuse text that cannot be parsed."""
        text: str = self.cleaned_data["columns"]
        if text:
            try:
                self.kind.parse_columns(text)
            except ValueError as error:
                raise forms.ValidationError(str(error)) from error
        return text

    def clean_question_template(self) -> str:
        """Return the typed question template unchanged; refuse one that cannot be parsed."""
        text: str = self.cleaned_data["question_template"]
        try:
            QuestionTemplate.parse(text)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error
        return text

    def clean_duplicates(self) -> str:
        """Return how to treat repeated answers; "refuse" without a choice."""
        return self.cleaned_data["duplicates"] or Duplicates.REFUSE.value

    def collect_options(self) -> dict[str, Any]:
        """Return the form's options as keyword arguments of the upload kind's reader."""
        return {name: self.cleaned_data[name] for name in self.kind.options}
