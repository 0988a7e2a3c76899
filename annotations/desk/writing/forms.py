"""The forms of the writing: settings, who takes part, a problem, a vote, a note."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import QuerySet

from annotations.desk.people import ACTIVE, PersonForm
from annotations.models import Team, WritingMember, WritingProject
from annotations.models.writing import MOST_CHARACTERS
from annotations.writing import WHAT_CATEGORIES_MEAN, WritingError, why_not

if TYPE_CHECKING:
    ProjectForm = forms.ModelForm[WritingProject]
else:
    ProjectForm = forms.ModelForm

ROLES = [
    (WritingMember.Role.WRITER, "write problems (writer)"),
    (WritingMember.Role.VALIDATOR, "check what others wrote, blindly (validator)"),
]
VERDICTS = [("no", "No, it has no answer"), ("yes", "Yes, it can be answered")]


class SettingsForm(ProjectForm):
    """How much is wanted, and what those who write and check are told."""

    class Meta:
        """The fields, in their order."""

        model = WritingProject
        fields = ("instructions", "per_original", "votes_needed")
        labels = {  # noqa: RUF012
            "per_original": "Problems for each question",
            "votes_needed": "Validators for each problem",
        }
        help_texts = {  # noqa: RUF012
            "per_original": "From 1 to 5, each by whoever takes the question next.",
            "votes_needed": "All of them must find it unanswerable. With 3 an error of one is "
            "seen. It counts for what is decided from now on.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["instructions"].widget.attrs["rows"] = 4
        for name, highest in (("per_original", 5), ("votes_needed", 9)):
            field = self.fields[name]
            assert isinstance(field, forms.IntegerField)
            self.fields[name] = forms.IntegerField(
                label=field.label,
                help_text=field.help_text,
                min_value=1,
                max_value=highest,
                initial=field.initial,
            )


class MemberForm(PersonForm):
    """Somebody who writes or checks."""

    role = forms.ChoiceField(label="Will", choices=ROLES)

    field_order = ("username", "role")

    def __init__(self, project: WritingProject, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project

    def among(self) -> QuerySet[User]:
        """Return everybody who can sign in."""
        return User.objects.filter(ACTIVE)

    def unknown(self, username: str) -> str:
        """Say it, and what to do."""
        return f"There is no account called “{username}”. An operator can make one."

    def clean(self) -> dict[str, Any]:
        """Refuse who would both write and check, or check and see what others say."""
        values = super().clean() or self.cleaned_data
        if not self.errors:
            reason = why_not(self.project, self.person, values["role"])
            if reason:
                self.add_error("username", reason)
        return values


class TeamForm(forms.Form):
    """A team, all of which writes or checks."""

    team = forms.ModelChoiceField(
        Team.objects.none(), to_field_name="public_id", empty_label="choose a team"
    )
    role = forms.ChoiceField(label="Will", choices=ROLES)

    def __init__(self, teams: QuerySet[Team], *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("auto_id", "team-%s")
        super().__init__(*args, **kwargs)
        field: Any = self.fields["team"]
        field.queryset = teams


class ProblemForm(forms.Form):
    """A problem as its author writes it; what is wrong with it the rules say."""

    text = forms.CharField(
        label="Your problem, without an answer",
        required=False,
        strip=False,
        # The rule says how long it may be, in words; the field alone would cut it in the browser.
        widget=forms.Textarea(attrs={"rows": 6, "dir": "auto"}),
        help_text=f"At most {MOST_CHARACTERS:,} characters.",
    )
    category = forms.TypedChoiceField(
        label="Why it has no answer",
        required=False,
        choices=[(one.value, one.label) for one in WHAT_CATEGORIES_MEAN],
        coerce=int,
        empty_value=None,
        widget=forms.RadioSelect,
    )

    def refuse(self, error: WritingError) -> None:
        """Say what the rules refuse, beside the field it is about."""
        self.add_error(error.field if error.field in self.fields else None, str(error))


class VoteForm(forms.Form):
    """What a validator says."""

    verdict = forms.ChoiceField(
        label="Can this be answered?", required=False, choices=VERDICTS, widget=forms.RadioSelect
    )
    category = forms.TypedChoiceField(
        label="Why not?",
        required=False,
        choices=[(one.value, one.label) for one in WHAT_CATEGORIES_MEAN],
        coerce=int,
        empty_value=None,
        widget=forms.RadioSelect,
    )
    note = forms.CharField(
        label="A note for its author",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
        help_text="Shown to the author without your name if the problem goes back.",
    )

    def said(self) -> tuple[bool | None, int | None, str]:
        """Return whether it has an answer, why not, and the note; what was not said is None."""
        verdict = {"yes": True, "no": False}.get(self.cleaned_data["verdict"])
        # Whoever changes from "no" to "yes" leaves a reason behind that no longer counts.
        category = None if verdict else self.cleaned_data["category"]
        return verdict, category, self.cleaned_data["note"]

    def refuse(self, error: WritingError) -> None:
        """Say what the rules refuse, beside the field it is about."""
        field = {"answerable": "verdict"}.get(error.field, error.field)
        self.add_error(field if field in self.fields else None, str(error))


class NoteForm(forms.Form):
    """Why a problem is sent back or left out."""

    note = forms.CharField(
        label="Why, for its author",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
    )
