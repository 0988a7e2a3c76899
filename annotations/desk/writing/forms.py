"""Forms of a writing project: settings, members, a written problem, a vote, a note."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import QuerySet

from annotations.desk.people import ACTIVE_ACCOUNTS, AccountNameForm
from annotations.models import CandidateVote, Team, WritingMember, WritingProject
from annotations.models.writing import MOST_CHARACTERS
from annotations.writing import (
    CATEGORY_DESCRIPTIONS,
    MESSAGES,
    CandidateVerdict,
    WritingError,
    find_invitation_error,
)
from annotations.writing.candidates import ACCEPT, EDIT, REJECT

if TYPE_CHECKING:
    ProjectForm = forms.ModelForm[WritingProject]
else:
    ProjectForm = forms.ModelForm

ROLES = [
    (WritingMember.Role.WRITER, "write problems (writer)"),
    (WritingMember.Role.VALIDATOR, "check what others wrote, blindly (validator)"),
]
CANDIDATE_VERDICTS = [
    (ACCEPT, "Accept: the answers are right and complete"),
    (EDIT, "Edit: accept with the changes below"),
    (REJECT, "Reject"),
]
VERDICTS = [("no", "No, it has no answer"), ("yes", "Yes, it can be answered")]


class WritingSettingsForm(ProjectForm):
    """Form for a writing project's instructions, problems per question, and votes per problem."""

    class Meta:
        """Model, fields in display order, labels and help texts of the form."""

        model = WritingProject
        fields = ("instructions", "per_original", "votes_needed")
        labels = {  # noqa: RUF012
            "per_original": "Problems for each question",
            "votes_needed": "Validators for each problem",
        }
        help_texts = {  # noqa: RUF012
            "per_original": "From 1 to 5, each by the next writer who takes the question.",
            "votes_needed": "All of them must find it unanswerable. With 3 an error of one is "
            "seen. It counts for what is decided from now on.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["instructions"].widget.attrs["rows"] = 4
        for name, highest in (("per_original", 5), ("votes_needed", 9)):
            field = self.fields[name]
            assert isinstance(field, forms.IntegerField)
            # Replaced, because bounds reach the widget only in the constructor.
            self.fields[name] = forms.IntegerField(
                label=field.label,
                help_text=field.help_text,
                min_value=1,
                max_value=highest,
                initial=field.initial,
            )


class ProjectMemberForm(AccountNameForm):
    """Form that invites an account to a writing project as writer or validator."""

    role = forms.ChoiceField(label="Will", choices=ROLES)

    field_order = ("username", "role")

    def __init__(self, project: WritingProject, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project

    def select_accounts(self) -> QuerySet[User]:
        """Return all active accounts."""
        return User.objects.filter(ACTIVE_ACCOUNTS)

    def describe_unknown_account(self, username: str) -> str:
        """Return the error message for a user name that no active account has."""
        return f"There is no account with the name “{username}”. An operator can create one."

    def clean(self) -> dict[str, Any]:
        """Return the form's values; refuse a person who may not have the role.

        Writers cannot be validators, nor can persons who see the votes.
        """
        values = super().clean() or self.cleaned_data
        if not self.errors:
            reason = find_invitation_error(self.project, self.person, values["role"])
            if reason:
                self.add_error("username", reason)
        return values


class TeamInvitationForm(forms.Form):
    """Form that invites all members of a team to a writing project in one role."""

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
    """Form for the text and the category of a problem; `annotations.writing` validates it."""

    text = forms.CharField(
        label="Your problem, without an answer",
        required=False,
        strip=False,
        # No max_length: the browser would cut a pasted text without a message.
        widget=forms.Textarea(attrs={"rows": 6, "dir": "auto"}),
        help_text=f"At most {MOST_CHARACTERS:,} characters.",
    )
    category = forms.TypedChoiceField(
        label="Why it has no answer",
        required=False,
        choices=[(category.value, category.label) for category in CATEGORY_DESCRIPTIONS],
        coerce=int,
        empty_value=None,
        widget=forms.RadioSelect,
    )

    def add_rule_error(self, error: WritingError) -> None:
        """Add the error of a writing rule to its field, or to the whole form."""
        self.add_error(error.field if error.field in self.fields else None, str(error))


class VoteForm(forms.Form):
    """Form for a validator's vote on whether a written problem can be answered."""

    verdict = forms.ChoiceField(
        label="Can this be answered?", required=False, choices=VERDICTS, widget=forms.RadioSelect
    )
    category = forms.TypedChoiceField(
        label="Why not?",
        required=False,
        choices=[(category.value, category.label) for category in CATEGORY_DESCRIPTIONS],
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

    def read_vote(self) -> tuple[bool | None, int | None, str]:
        """Return the vote as (answerable, category, note); the first two are None if missing."""
        verdict = {"yes": True, "no": False}.get(self.cleaned_data["verdict"])
        # The category stays selected on the page after a change from "no" to "yes".
        category = None if verdict else self.cleaned_data["category"]
        return verdict, category, self.cleaned_data["note"]

    def add_rule_error(self, error: WritingError) -> None:
        """Add the error of a writing rule to its field, or to the whole form."""
        field = {"answerable": "verdict"}.get(error.field, error.field)
        self.add_error(field if field in self.fields else None, str(error))


class NoteForm(forms.Form):
    """Form for the requester's reason to send a written problem back or to drop it."""

    note = forms.CharField(
        label="Why, for its author",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
    )


class CandidateVerdictForm(forms.Form):
    """Form for a validator's verdict on a candidate question, with its edited text."""

    verdict = forms.ChoiceField(
        label="Your verdict", required=False, choices=CANDIDATE_VERDICTS, widget=forms.RadioSelect
    )
    text = forms.CharField(
        label="Question",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
        help_text="Changed only if you choose Edit.",
    )
    answers = forms.CharField(
        label="Right answers",
        required=False,
        widget=forms.Textarea(attrs={"rows": 6, "dir": "auto"}),
        help_text="One answer in each line; other spellings of it after a bar: USA | United "
        "States. Changed only if you choose Edit.",
    )
    reason = forms.ChoiceField(
        label="Reason of a rejection",
        required=False,
        choices=CandidateVote.Reason.choices,
        widget=forms.RadioSelect,
    )
    note = forms.CharField(
        label="Note",
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "dir": "auto"}),
        help_text="Shown to the requester. Required for another reason.",
    )
    revision = forms.IntegerField(widget=forms.HiddenInput)

    def read_verdict(self) -> CandidateVerdict:
        """Return the verdict with the typed texts."""
        values = self.cleaned_data
        return CandidateVerdict(
            values["verdict"],
            values["revision"],
            values["text"],
            values["answers"],
            values["reason"],
            values["note"],
        )

    def add_rule_error(self, error: WritingError) -> None:
        """Add the error of a writing rule to its field, or to the whole form."""
        self.add_error(error.field if error.field in self.fields else None, str(error))


class NewQuestionSetForm(forms.Form):
    """Form for the name of the new question set, which confirms a preview."""

    name = forms.CharField(
        label="Name of the new question set",
        max_length=200,
        error_messages={"required": MESSAGES["name_missing"]},
    )
    preview = forms.CharField(widget=forms.HiddenInput)
