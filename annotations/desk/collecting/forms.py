"""Forms of a collection of answers: its settings, adding places, and listing worker ids."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils.text import capfirst

from annotations.answering import collecting, links, waves
from annotations.answering.errors import SettingsError
from annotations.models import Collection, QuestionSet
from annotations.models.collections import MOST_PLACES

if TYPE_CHECKING:
    CollectionModelForm = forms.ModelForm[Collection]
else:
    CollectionModelForm = forms.ModelForm

MAX_IDS = 20_000

MAIN_FIELDS = ("places", "pay", "currency", "protocol", "checks_needed")
"""Fields that every requester decides on; all others are folded."""

DETAIL_FIELDS = ("title", "contact", "answers_per_question", "questions_per_worker", "signals")
ADMISSION_FIELDS = (
    *("worker_parameter", "study_parameter", "session_parameter", "panel"),
    *("signed", "anonymous", "listed_only", "excludes"),
)
ANSWERING_FIELDS = (
    *("reading_seconds", "reservation_minutes", "most_characters"),
    *("practice_needed", "grade_every"),
)
PAY_FIELDS = ("panel_fee", "screened_out_pay", "failed_checks_pay", "least_hourly_pay")
CODE_FIELDS = (
    *("return_url", "code_done", "code_no_consent", "code_screened_out", "code_failed_checks"),
    *("code_too_late", "code_not_chosen"),
)


@dataclass(frozen=True)
class FoldedSection:
    """A folded group of fields on the settings page; open if one of its fields has an error.

    `summary` is a short description of the fields. `anchor` is the id of the section.
    """

    anchor: str
    title: str
    summary: str
    fields: list[forms.BoundField]

    @property
    def is_open(self) -> bool:
        """Whether the section is unfolded, because one of its fields has an error."""
        return any(field.errors for field in self.fields)


SECTIONS = (
    ("details", "Name, contact and share of the questions", "", DETAIL_FIELDS),
    ("who", "Who may take part", "Ids in the links, lists, earlier studies", ADMISSION_FIELDS),
    ("how", "Times, practice and grading", "", ANSWERING_FIELDS),
    ("money", "Fee, partial payment and hourly pay", "", PAY_FIELDS),
    ("codes", "Back to the panel", "Address and completion codes", CODE_FIELDS),
)
"""The folded sections: anchor, title, summary and fields."""


class CollectionSettingsForm(CollectionModelForm):
    """Form of a collection's settings; the package `collecting` checks rules across fields.

    `visible_sets` are the question sets that the user may see. Their workers can be excluded.
    """

    class Meta:
        """Model, fields in display order, labels and help texts of the form."""

        model = Collection
        fields = (
            *(*MAIN_FIELDS, *DETAIL_FIELDS, *ADMISSION_FIELDS, *ANSWERING_FIELDS),
            *(*PAY_FIELDS, *CODE_FIELDS),
        )
        labels = {  # noqa: RUF012
            "places": "People who may take part",
            "answers_per_question": "Answers to each question",
            "protocol": "Passage during answering",
            "title": "Name of the study",
            "contact": "Contact for workers",
            "signals": "Count how answers are written",
            "worker_parameter": "Parameter with the worker's id",
            "study_parameter": "Parameter with the study's id",
            "session_parameter": "Parameter with the session's id",
            "panel": "Name of the panel",
            "signed": "Take signed links only",
            "anonymous": "Take people without an id",
            "listed_only": "Take only people on your list",
            "excludes": "Not those who took part in",
            "questions_per_worker": "Questions for each person",
            "reading_seconds": "Seconds to read a text",
            "reservation_minutes": "Minutes that a place is reserved",
            "most_characters": "Characters of an answer, at most",
            "practice_needed": "Right practice answers needed to continue",
            "checks_needed": "Right attention checks needed for the usual code",
            "pay": "Pay for each person",
            "panel_fee": "Fee of the panel, in percent",
            "screened_out_pay": "Part of the pay: did not pass the practice",
            "failed_checks_pay": "Part of the pay: failed the attention checks",
            "least_hourly_pay": "Least that an hour should pay",
            "grade_every": "Grade after every so many people",
            "return_url": "Address of the panel to go back to",
            "code_done": "Code: done",
            "code_no_consent": "Code: did not agree",
            "code_screened_out": "Code: did not pass, or not for them",
            "code_failed_checks": "Code: failed the attention checks",
            "code_too_late": "Code: full, closed, too late",
            "code_not_chosen": "Code: did not score enough in an earlier set",
        }
        help_texts = {  # noqa: RUF012
            "answers_per_question": "Empty: everybody answers every question.",
            "title": "Shown to workers. Empty: the name of the question set.",
            "contact": "Shown at the end of each page, such as an address for mail.",
            "signals": "How much is typed and pasted, how often the page is left and how long "
            "people are active: never which keys, and no text. Workers see this before they "
            "agree, and can switch it off. Exports and alarms show it; grades do not change.",
            "worker_parameter": "As the panel writes it into the link. Prolific: PROLIFIC_PID.",
            "signed": "Then no one can change the id in a link. Only if you send each person "
            "their own link; Prolific cannot.",
            "anonymous": "They are known by their browser alone: another one is another person.",
            "questions_per_worker": "Empty: as many as fill all places with all answers.",
            "reservation_minutes": "After the person's last activity; then another person can "
            "take it.",
            "practice_needed": "Empty: practice shows the right answers, and everybody continues.",
            "checks_needed": "Workers with fewer get another code. Their answers are stored, and "
            "you decide about them. Empty: all workers get the same code.",
            "panel_fee": "What the panel takes on top of the pay.",
            "screened_out_pay": "You plan and confirm it on “Pay people”; nothing is paid by "
            "itself. Empty: none.",
            "failed_checks_pay": "Replaces the pay for those you select on “Pay people”. "
            "Empty: none.",
            "least_hourly_pay": "You are warned when half of the people earn less. Empty: no "
            "warning.",
            "grade_every": "A grading of the answers so far starts by itself whenever so many more "
            "have handed in. Empty: only when you press the button.",
            "code_failed_checks": "Empty: made up, where attention checks are needed.",
            "code_not_chosen": "Empty: that of who did not pass.",
            "return_url": "With {code} where the code belongs. Empty: only the code is shown.",
        }

    def __init__(
        self, collection: Collection, visible_sets: QuerySet[QuestionSet], data: Any = None
    ) -> None:
        # A copy: `collecting.change_settings` compares with the stored values, which the form
        # overwrites.
        initial = {}
        if collection._state.adding:
            initial["excludes"] = waves.list_excluded_sets(collection.version.question_set)
        super().__init__(data, instance=copy(collection), initial=initial)
        excludes: Any = self.fields["excludes"]
        owner = collection.version.question_set.owner_id
        # Workers belong to the owner of a set, so only sets of one owner can share workers.
        self.visible_sets = visible_sets.filter(owner=owner)
        excludes.queryset = self.visible_sets.order_by("name")
        excludes.widget = forms.CheckboxSelectMultiple(choices=excludes.choices)
        for name in ("places", "answers_per_question", "questions_per_worker", "grade_every"):
            self.fields[name].widget.attrs["min"] = 1

    def _get_validation_exclusions(self) -> set[str]:
        """Return all field names, to skip model validation: `store_collection` validates."""
        return {field.name for field in Collection._meta.get_fields()}

    def select_fields(self, names: tuple[str, ...]) -> list[forms.BoundField]:
        """Return the bound form fields with these names, in the order of the names."""
        return [self[name] for name in names]

    @property
    def main_fields(self) -> list[forms.BoundField]:
        """Fields that are always shown, because every requester must decide on them."""
        return self.select_fields(MAIN_FIELDS)

    @property
    def sections(self) -> list[FoldedSection]:
        """Folded sections with all fields that are not always shown."""
        return [
            FoldedSection(anchor, title, summary, self.select_fields(names))
            for anchor, title, summary, names in SECTIONS
        ]

    def store_collection(self, collection: Collection, base_url: str) -> Collection | None:
        """Publish the version or change its collection; return the collection, None if refused.

        Returns None if the rules refuse a value; the error is then added to its field.
        """
        values = dict(self.cleaned_data)
        excluded = values.pop("excludes")
        try:
            if collection._state.adding:
                values |= {"base_url": base_url}
                question_set = collection.version.question_set
                # `publish_question_set` has its own defaults, which None would replace.
                filled = {name: value for name, value in values.items() if value is not None}
                stored = collecting.publish_question_set(question_set, **filled).collection
            else:
                collecting.change_settings(collection, **values)
                stored = collection
        except SettingsError as error:
            field = error.field if error.field in self.fields else None
            self.add_error(field, ValidationError(capfirst(str(error)), error.code))
            return None
        # Excluded sets that the user cannot see are not in the form and must stay.
        collecting.set_excluded_question_sets(stored, excluded, self.visible_sets)
        return stored


class PlacesForm(forms.Form):
    """Form that adds places for workers; `was` is the number of places when it was rendered."""

    more = forms.IntegerField(
        label="More places",
        min_value=1,
        max_value=MOST_PLACES,
        error_messages={
            "required": "Enter how many places to add.",
            "min_value": "Add at least 1 place.",
            "invalid": "Write a whole number of places.",
        },
    )
    was = forms.IntegerField(
        widget=forms.HiddenInput, required=False, min_value=0, max_value=MOST_PLACES
    )


class WorkerIdsForm(forms.Form):
    """Form for a list of worker ids, one per line: to admit, to remove, or to create links for."""

    ids = forms.CharField(
        label="Ids of workers, one a line",
        widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false"}),
        max_length=MAX_IDS * 40,
        error_messages={"required": "Write at least one id."},
    )

    def clean_ids(self) -> list[str]:
        """Return the worker ids in order, without duplicates; refuse invalid or too many ids."""
        lines = [line.strip() for line in self.cleaned_data["ids"].splitlines()]
        ids = list(dict.fromkeys(filter(None, lines)))
        if not ids:
            raise forms.ValidationError("Write at least one id.")
        if not all(map(links.is_valid_worker_id, ids)):
            raise forms.ValidationError("An id has at most 255 characters, all of which show.")
        if len(ids) > MAX_IDS:
            raise forms.ValidationError(f"At most {MAX_IDS:,} ids at once.")
        return ids
