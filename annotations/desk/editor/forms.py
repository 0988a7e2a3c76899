"""The forms of the editor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.core.validators import MaxLengthValidator

from annotations.answering.languages import offered
from annotations.editing import free_id
from annotations.editing.translating import LONGEST_TEXT
from annotations.exchange import InputError
from annotations.exchange.ids import clean_id
from annotations.exchange.reading.images import CheckedImage, read_image
from annotations.exchange.reading.questions import LONGEST_PASSAGE, LONGEST_QUESTION
from annotations.models import Passage, Question, QuestionSetVersion

if TYPE_CHECKING:
    ModelForm = forms.ModelForm[Any]
else:
    ModelForm = forms.ModelForm

BETWEEN = " | "
LONGEST_LIST = 20_000


class EditorForm(ModelForm):
    """A form of the editor; `watched` are the fields by which a change of others is noticed."""

    watched: ClassVar[tuple[str, ...]] = ()

    def __init__(self, *args: Any, draft: QuestionSetVersion | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.draft = draft
        for name, field in self.fields.items():
            if isinstance(field.widget, forms.Textarea):
                field.widget.attrs |= {"rows": 3, "dir": "auto"}
            elif isinstance(field.widget, forms.TextInput) and name != "language":
                field.widget.attrs["dir"] = "auto"

    def clean_external_id(self) -> str:
        """Return the id, a free one where none was written; refuse one that is taken."""
        name = clean_id(self.cleaned_data.get("external_id", ""))
        if self.draft is None:
            return name
        rows = type(self.instance)._default_manager.filter(version=self.draft)
        others = rows.exclude(pk=self.instance.pk)
        if not name:
            letter = "p" if isinstance(self.instance, Passage) else "q"
            return free_id(others.values_list("external_id", flat=True), letter)
        if others.filter(external_id=name).exists():
            raise forms.ValidationError(f"{name} is another one's id: choose another.")
        return name


class TextsForm(EditorForm):
    """What people are told before the first question."""

    watched = ("language", "guidelines", "consent_text")

    class Meta:
        """The fields, in their order."""

        model = QuestionSetVersion
        fields = ("language", "guidelines", "consent_text")
        labels: ClassVar = {"consent_text": "Consent text"}
        help_texts: ClassVar = {
            "language": "Of these texts and of all that says no other, as in BCP 47: en, de, ar. "
            f"Buttons and messages around them are there in {offered()}; around texts in any "
            "other language they are in English.",
            "guidelines": "How to answer: how long, in whose words, what to do if one does not "
            "know. Shown before the first question, and to be opened again at every one.",
            "consent_text": "What people agree to before they begin. Each consent keeps which text "
            "it was given to.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("guidelines", "consent_text"):
            _limit(self.fields[name], LONGEST_TEXT)
            self.fields[name].widget.attrs |= {"rows": 12, "data-formatted": ""}


class PassageForm(EditorForm):
    """A passage; a picture that comes with it is looked at here."""

    watched = ("title", "text", "format", "image_id", "image_alt", "language", "external_id")

    picture = forms.FileField(
        label="Image",
        required=False,
        help_text="PNG, JPEG or WebP, at most 8 MB. It is made smaller, and notes of the camera "
        "(such as the place) are left out.",
        widget=forms.FileInput(attrs={"accept": "image/png,image/jpeg,image/webp"}),
    )
    remove_picture = forms.BooleanField(label="Take the image away", required=False)

    class Meta:
        """The fields, in their order."""

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
        self.checked: CheckedImage | None = None
        if not self.instance.pk and not self.is_bound:
            self.initial["format"] = Passage.Format.SIMPLE
        self.fields["external_id"].required = False
        self.fields["image_alt"].required = not self.is_bound  # said so; it may come later
        _limit(self.fields["text"], LONGEST_PASSAGE)
        _limit(self.fields["image_alt"], 2_000)
        self.fields["text"].widget.attrs |= {"rows": 14, "data-formatted": ""}
        self.fields["image_alt"].widget.attrs["rows"] = 2
        if not (self.instance.pk and self.instance.image_id):
            del self.fields["remove_picture"]

    def clean_picture(self) -> None:
        """Look at the picture; the form keeps what was made of it."""
        file = self.cleaned_data.get("picture")
        if isinstance(file, UploadedFile):
            try:
                self.checked = read_image(file.read(), (file.name or "image")[:100])
            except InputError as error:
                raise forms.ValidationError(str(error)) from error


class QuestionForm(EditorForm):
    """A question; lists are written a line each."""

    watched = (
        *("text", "role", "kind", "choices", "accepted_answers", "feedback", "max_characters"),
        *("passage_id", "category", "language", "external_id"),
    )

    choices_text = forms.CharField(
        label="Choices",
        required=False,
        max_length=LONGEST_LIST,
        widget=forms.Textarea,
        help_text="A line each, at least two.",
    )
    accepted_text = forms.CharField(
        label="Right answers",
        required=False,
        max_length=LONGEST_LIST,
        widget=forms.Textarea,
        help_text=f"A line each; ways to write the same on one line, with{BETWEEN}between them. "
        "Never shown before an answer.",
    )

    class Meta:
        """The fields, in their order."""

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
            "max_characters": "In characters; people are told before they reach it. Empty: as "
            "long as the settings of the collection allow.",
            "category": "For tables by category.",
            "language": "If it is another than the version's.",
            "external_id": "Made for you if you leave it empty.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.shown = {
            "choices": "\n".join(self.instance.choices),
            "accepted": "\n".join(map(_line, self.instance.accepted_answers)),
        }
        for name, text in self.shown.items():
            self.initial[f"{name}_text"] = text
        passage = self.fields["passage"]
        assert isinstance(passage, forms.ModelChoiceField)
        of = self.draft or (self.instance.version if self.instance.version_id else None)
        passage.queryset = (
            Passage.objects.filter(version=of)
            .order_by("position", "pk")
            .only("pk", "external_id", "title", "version")
        )
        # By its id in files, which stays the same when the version is copied.
        passage.to_field_name = "external_id"
        if self.instance.passage_id:
            self.initial["passage"] = self.instance.passage
        passage.label_from_instance = _named  # type: ignore[method-assign,assignment]
        passage.empty_label = "None: it stands alone"
        self.fields["external_id"].required = False
        # Only one whose id came with a file of answers may stay without a text.
        self.fields["text"].required = not self.instance.pk or bool(self.instance.text)
        self.fields["text"].error_messages["required"] = "Write the question."
        self.fields["choices_text"].required = not self.is_bound  # said so; `clean` looks at it
        _limit(self.fields["text"], LONGEST_QUESTION)
        _limit(self.fields["feedback"], LONGEST_TEXT)
        self.fields["feedback"].widget.attrs["data-formatted"] = ""
        role, kind = self.fields["role"], self.fields["kind"]
        assert isinstance(role, forms.ChoiceField)
        assert isinstance(kind, forms.ChoiceField)
        role.choices = ROLES
        kind.choices = [
            (value, words)
            for value, words in KINDS
            if value != "extractive" or self.instance.kind == "extractive"
        ]

    def clean_max_characters(self) -> int | None:
        """Refuse a limit of nothing."""
        value: int | None = self.cleaned_data["max_characters"]
        if value is not None and not 1 <= value <= LONGEST_QUESTION:
            raise forms.ValidationError(f"Write a number from 1 to {LONGEST_QUESTION:,}.")
        return value

    def clean(self) -> dict[str, Any]:
        """Read the lists; choices belong to the kind of question that has some."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        instance = self.instance
        choices = _lines(values.get("choices_text", ""))
        if _same(values.get("choices_text", ""), self.shown["choices"]):
            choices = instance.choices
        if values.get("kind") != Question.Kind.CHOICE:
            choices = []
        elif not choices:
            self.add_error("choices_text", "Write the choices, a line each.")
        instance.choices = choices
        # What came from a file may hold a stroke or a line break, which a line here cannot.
        if not _same(values.get("accepted_text", ""), self.shown["accepted"]):
            instance.accepted_answers = _accepted(values.get("accepted_text", ""))
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


def _named(passage: Passage) -> str:
    return f"{passage.title[:80]} ({passage.external_id})" if passage.title else passage.external_id


def _limit(field: forms.Field, longest: int) -> None:
    assert isinstance(field, forms.CharField)
    field.max_length = longest
    field.widget.attrs["maxlength"] = longest
    field.validators.append(MaxLengthValidator(longest))


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _same(text: str, shown: str) -> bool:
    return "\n".join(text.splitlines()).strip() == "\n".join(shown.splitlines()).strip()


def _line(entry: Any) -> str:
    return BETWEEN.join(map(str, entry)) if isinstance(entry, list) else str(entry)


def _accepted(text: str) -> list[Any]:
    found: list[Any] = []
    for line in _lines(text):
        same = [part.strip() for part in line.split("|") if part.strip()]
        found.append(same[0] if len(same) == 1 else same)
    return [entry for entry in found if entry]
