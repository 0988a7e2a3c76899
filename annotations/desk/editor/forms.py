"""Forms of the draft editor: for the introductory texts, for passages and for questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.core.validators import MaxLengthValidator
from django.utils.datastructures import MultiValueDict

from annotations.answering.languages import format_interface_languages
from annotations.editing import find_free_id
from annotations.editing.translation import LONGEST_TEXT
from annotations.exchange import InputError
from annotations.exchange.ids import clean_id
from annotations.exchange.reading.images import CheckedImage, reencode_image
from annotations.exchange.reading.questions import LONGEST_PASSAGE, LONGEST_QUESTION
from annotations.models import Passage, Question, QuestionSetVersion

if TYPE_CHECKING:
    ModelForm = forms.ModelForm[Any]
else:
    ModelForm = forms.ModelForm

SEPARATOR = " | "
MAX_LIST_LENGTH = 20_000


class EditorForm(ModelForm):
    """Base class of the editor's forms: text direction, unique ids, detection of conflicts.

    `watched` names the fields whose stored values detect a change by another user.
    `checked_picture` is the result of `read_picture`.
    """

    watched: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        *args: Any,
        draft: QuestionSetVersion | None = None,
        checked_picture: CheckedImage | InputError | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.draft = draft
        self.checked_picture = checked_picture
        for name, field in self.fields.items():
            if isinstance(field.widget, forms.Textarea):
                # `dir=auto`: the browser detects right-to-left text while the user types.
                field.widget.attrs |= {"rows": 3, "dir": "auto"}
            elif isinstance(field.widget, forms.TextInput) and name != "language":
                field.widget.attrs["dir"] = "auto"

    def clean_external_id(self) -> str:
        """Return the item's id, or an unused one if the field is empty; refuse an id in use."""
        name = clean_id(self.cleaned_data.get("external_id", ""))
        if self.draft is None:
            return name
        # Checked here, as the model's own check leaves out constraints on fields not in the form.
        rows = type(self.instance)._default_manager.filter(version=self.draft)
        others = rows.exclude(pk=self.instance.pk)
        if not name:
            letter = "p" if isinstance(self.instance, Passage) else "q"
            return find_free_id(others.values_list("external_id", flat=True), letter)
        if others.filter(external_id=name).exists():
            raise forms.ValidationError(f"{name} is another one's id: choose another.")
        return name


class TextsForm(EditorForm):
    """Form for the language, the guidelines and the consent text of a version."""

    watched = ("language", "guidelines", "consent_text")

    class Meta:
        """Model, fields in display order, labels and help texts of the form."""

        model = QuestionSetVersion
        fields = ("language", "guidelines", "consent_text")
        labels: ClassVar = {"consent_text": "Consent text"}
        help_texts: ClassVar = {
            "language": "Language of these texts and of all without another one, as in BCP 47: "
            f"en, de, ar. Buttons and messages are available in {format_interface_languages()}; "
            "around texts in any other language they are in English.",
            "guidelines": "How to answer: how long, in whose words, what to do if one does not "
            "know. Shown before the first question, and to be opened again at every one.",
            "consent_text": "What people agree to before they begin. Each consent keeps which text "
            "it was given to.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("guidelines", "consent_text"):
            _limit_length(self.fields[name], LONGEST_TEXT)
            self.fields[name].widget.attrs |= {"rows": 12, "data-formatted": ""}


class PassageForm(EditorForm):
    """Form for a passage and an image, which `read_picture` has already checked."""

    watched = ("title", "text", "format", "image_id", "image_alt", "language", "external_id")

    picture = forms.FileField(
        label="Image file",
        required=False,
        help_text="PNG, JPEG or WebP, at most 8 MB. It is made smaller, and notes of the camera "
        "(such as the place) are left out.",
        widget=forms.FileInput(attrs={"accept": "image/png,image/jpeg,image/webp"}),
    )
    remove_picture = forms.BooleanField(label="Take the image away", required=False)

    class Meta:
        """Model, fields in display order, labels and help texts of the form."""

        model = Passage
        fields = ("title", "text", "format", "picture", "image_alt", "language", "external_id")
        labels: ClassVar = {
            "image_alt": "The image in words",
            "external_id": "Id in files",
            "format": "Formatting",
        }
        help_texts: ClassVar = {
            "image_alt": "For those who do not see it: what one has to know of it to answer. "
            "Needed with an image.",
            "language": "If it is another than the version's.",
            "external_id": "Made for you if you leave it empty.",
            "format": "Simple: **strong**, *emphasis*, # heading, - list, > quote, "
            "[words](https://...).",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.instance.pk and not self.is_bound:
            self.initial["format"] = Passage.Format.SIMPLE
        self.fields["external_id"].required = False
        # Marked as required on the page, but a draft may be saved without it.
        self.fields["image_alt"].required = not self.is_bound
        _limit_length(self.fields["text"], LONGEST_PASSAGE)
        _limit_length(self.fields["image_alt"], 2_000)
        self.fields["text"].widget.attrs |= {"rows": 14, "data-formatted": ""}
        self.fields["image_alt"].widget.attrs["rows"] = 2
        if not (self.instance.pk and self.instance.image_id):
            del self.fields["remove_picture"]

    def clean_picture(self) -> None:
        """Raise a `ValidationError` if the uploaded image could not be read."""
        if isinstance(self.checked_picture, InputError):
            code = self.checked_picture.problems[0].code
            raise forms.ValidationError(str(self.checked_picture), code) from self.checked_picture


def read_picture(
    files: MultiValueDict[str, UploadedFile[Any]], sender: int
) -> CheckedImage | InputError | None:
    """Return the uploaded image, or the error if it is unreadable; None without an upload.

    Call it outside a transaction: decoding may wait for seconds, and on SQLite a transaction
    blocks all other writers.
    """
    file = files.get("picture")
    if file is None:
        return None
    try:
        return reencode_image(file.read(), (file.name or "image")[:100], sender)
    except InputError as error:
        return error


class QuestionForm(EditorForm):
    """Form for a question; choices and accepted answers are typed as text, one per line."""

    watched = (
        *("text", "role", "kind", "choices", "accepted_answers", "feedback", "max_characters"),
        *("passage_id", "category", "language", "external_id"),
    )

    choices_text = forms.CharField(
        label="Choices",
        required=False,
        max_length=MAX_LIST_LENGTH,
        widget=forms.Textarea,
        help_text="A line each, at least two.",
    )
    accepted_text = forms.CharField(
        label="Right answers",
        required=False,
        max_length=MAX_LIST_LENGTH,
        widget=forms.Textarea,
        help_text="Needed for attention checks and gold questions. A line each; ways to write the "
        f"same on one line, with{SEPARATOR}between them. Never shown before an answer. Practice "
        "with a text: an answer is right if it contains one of these as whole words and does not "
        "negate it (“not yellow”). Attention checks: the whole answer must be one of these. "
        "Capitals and extra spaces do not matter.",
    )

    class Meta:
        """Model, fields in display order, labels and help texts of the form."""

        model = Question
        fields = (
            *("text", "role", "kind", "choices_text", "accepted_text", "feedback"),
            *("max_characters", "passage", "category", "language", "external_id"),
        )
        labels: ClassVar = {
            "text": "Question",
            "role": "What it is for",
            "kind": "How it is answered",
            "max_characters": "Longest answer",
            "external_id": "Id in files",
        }
        help_texts: ClassVar = {
            "feedback": "Shown after an answer to a practice question, with simple formatting.",
            "max_characters": "In characters; workers see a warning before they reach it. "
            "Empty: as "
            "long as the settings of the collection allow.",
            "category": "For tables by category.",
            "language": "If it is another than the version's.",
            "external_id": "Made for you if you leave it empty.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial_texts = {
            "choices": "\n".join(self.instance.choices),
            "accepted": "\n".join(map(_format_accepted_answer, self.instance.accepted_answers)),
        }
        for name, text in self.initial_texts.items():
            self.initial[f"{name}_text"] = text
        passage = self.fields["passage"]
        assert isinstance(passage, forms.ModelChoiceField)
        version = self.draft or (self.instance.version if self.instance.version_id else None)
        passage.queryset = (
            Passage.objects.filter(version=version)
            .order_by("position", "pk")
            # The list needs no texts, which can be long.
            .only("pk", "external_id", "title", "version")
        )
        # The id in files stays the same when the version is copied; the primary key does not.
        passage.to_field_name = "external_id"
        if self.instance.passage_id:
            self.initial["passage"] = self.instance.passage
        passage.label_from_instance = _label_passage  # type: ignore[method-assign,assignment]
        passage.empty_label = "None: a question without a passage"
        self.fields["external_id"].required = False
        # A question that an import of answers created has only an id, no text yet.
        self.fields["text"].required = not self.instance.pk or bool(self.instance.text)
        self.fields["text"].error_messages["required"] = "Write the question."
        # Marked as required on the page; `clean` checks it, because it depends on the kind.
        self.fields["choices_text"].required = not self.is_bound
        _limit_length(self.fields["text"], LONGEST_QUESTION)
        _limit_length(self.fields["feedback"], LONGEST_TEXT)
        self.fields["feedback"].widget.attrs["data-formatted"] = ""
        # Neither "(optional)" nor required: a right answer is needed in some roles only.
        self.fields["accepted_text"].depends_on_role = True  # type: ignore[attr-defined]
        role, kind = self.fields["role"], self.fields["kind"]
        assert isinstance(role, forms.ChoiceField)
        assert isinstance(kind, forms.ChoiceField)
        role.choices = ROLES
        # The editor cannot mark a span; such questions come from files and keep their kind.
        kind.choices = [
            (value, words)
            for value, words in KINDS
            if value != "extractive" or self.instance.kind == "extractive"
        ]

    def clean_max_characters(self) -> int | None:
        """Return the longest answer in characters; None if unlimited; refuse other values."""
        value: int | None = self.cleaned_data["max_characters"]
        if value is not None and not 1 <= value <= LONGEST_QUESTION:
            raise forms.ValidationError(f"Write a number from 1 to {LONGEST_QUESTION:,}.")
        return value

    def clean(self) -> dict[str, Any]:
        """Return the form's values, with choices and accepted answers parsed into the question."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        instance = self.instance
        choices = _split_lines(values.get("choices_text", ""))
        if _is_same_text(values.get("choices_text", ""), self.initial_texts["choices"]):
            choices = instance.choices
        if values.get("kind") != Question.Kind.CHOICE:
            choices = []
        elif not choices:
            self.add_error("choices_text", "Write the choices, a line each.")
        instance.choices = choices
        # Answers from a file may contain "|" or a line break, which parsing would split.
        if not _is_same_text(values.get("accepted_text", ""), self.initial_texts["accepted"]):
            instance.accepted_answers = _parse_accepted_answers(values.get("accepted_text", ""))
        return values


ROLES = [
    ("graded", "Graded: an ordinary question"),
    ("practice", "Practice: comes first, with feedback, not graded"),
    ("attention", "Attention check: not graded, its right answer is known"),
    ("gold", "Gold: graded as any other, its right answer is known"),
]
KINDS = [
    ("free", "Free text: as much as one likes"),
    ("short", "Short text: a line"),
    ("choice", "One of several choices"),
    ("extractive", "A span of the passage"),
]


def _label_passage(passage: Passage) -> str:
    """Return the label of a passage in the selection list: its title and its id in files."""
    return f"{passage.title[:80]} ({passage.external_id})" if passage.title else passage.external_id


def _limit_length(field: forms.Field, longest: int) -> None:
    """Set the maximum length of a text field in characters, on the server and in the browser."""
    assert isinstance(field, forms.CharField)
    # After construction `max_length` has no effect by itself.
    field.max_length = longest
    field.widget.attrs["maxlength"] = longest
    field.validators.append(MaxLengthValidator(longest))


def _split_lines(text: str) -> list[str]:
    """Return the lines of a text without outer white space, omitting blank lines."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def _is_same_text(text: str, other: str) -> bool:
    """Return whether two texts are equal except for line endings and outer white space."""
    return "\n".join(text.splitlines()).strip() == "\n".join(other.splitlines()).strip()


def _format_accepted_answer(entry: Any) -> str:
    """Return an accepted answer as one line of the form, its alternatives joined by " | "."""
    return SEPARATOR.join(map(str, entry)) if isinstance(entry, list) else str(entry)


def _parse_accepted_answers(text: str) -> list[Any]:
    """Parse accepted answers, one per line: a string, or a list of alternatives split at "|"."""
    answers: list[Any] = []
    for line in _split_lines(text):
        alternatives = [part.strip() for part in line.split("|") if part.strip()]
        answers.append(alternatives[0] if len(alternatives) == 1 else alternatives)
    return [entry for entry in answers if entry]
