"""Forms that name another account by its full user name, for teams and shares.

They do not disclose which accounts exist: there is no list and no search, and an unknown name and
an inactive account get the same message.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from annotations.models import (
    Membership,
    QuestionSet,
    Share,
    Team,
    has_never_signed_in,
    is_operator,
)

PENDING_NOTICE = (
    "This account has never signed in: nothing is shown to it until that person signs in and "
    "accepts."
)
"""Message for an account that is invited and has not accepted."""

ACTIVE_ACCOUNTS = Q(is_active=True)
REQUESTERS = ACTIVE_ACCOUNTS & (Q(is_staff=True) | Q(is_superuser=True))


class AccountNameForm(forms.Form):
    """Base class of forms with a user name; `person` is the account that a valid form names."""

    username = forms.CharField(
        label="User name",
        max_length=150,
        help_text="The whole name, as they sign in with it.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
        error_messages={"required": "Write a user name."},
    )
    person: User

    def select_accounts(self) -> QuerySet[User]:
        """Return the accounts that this form accepts; subclasses define it."""
        raise NotImplementedError

    def describe_unknown_account(self, username: str) -> str:
        """Return the error message for a user name without an account; subclasses define it."""
        raise NotImplementedError

    def clean_username(self) -> str:
        """Return the user name and set `person` to its account; refuse an unknown name."""
        # NFKC, as Django stores user names.
        username = User.normalize_username(self.cleaned_data["username"].strip())
        account = self.select_accounts().filter(username=username).first()
        if account is None:
            raise forms.ValidationError(self.describe_unknown_account(username), "unknown")
        self.person = account
        return username


class TeamMemberForm(AccountNameForm):
    """Form that adds a requester to a team."""

    def __init__(self, team: Team, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.team = team

    def select_accounts(self) -> QuerySet[User]:
        """Return the accounts of active requesters."""
        return User.objects.filter(REQUESTERS)

    def describe_unknown_account(self, username: str) -> str:
        """Return the error message for a user name that no active requester has."""
        return (
            f"There is no requester with the name “{username}”. An operator can create the account."
        )

    def clean_username(self) -> str:
        """Return the user name; refuse the team's owner and existing or invited members."""
        username = super().clean_username()
        if self.person.pk == self.team.owner_id:
            raise forms.ValidationError(f"“{username}” owns the team.", "owner")
        membership = self.team.memberships.filter(user=self.person).first()
        if membership is not None:
            state = "invited" if membership.pending else "in the team"
            code = "invited" if membership.pending else "member"
            raise forms.ValidationError(f"“{username}” is {state} already.", code)
        return username

    def save(self) -> Membership:
        """Add the account to the team and return the membership; new accounts are invited."""
        # A second click finds the row of the first one.
        membership, _ = Membership.objects.get_or_create(
            team=self.team, user=self.person, defaults={"pending": has_never_signed_in(self.person)}
        )
        return membership


class ShareForm(AccountNameForm):
    """Form that shares a question set with an account in a role (viewer or expert)."""

    role = forms.ChoiceField(
        label="May",
        choices=[
            (Share.Role.VIEWER, "see everything, and change nothing (viewer)"),
            (Share.Role.EXPERT, "judge answers blindly (expert)"),
        ],
        help_text="An expert sees passages and questions, but no runs, grades or names of workers.",
    )

    field_order = ("username", "role")

    def __init__(self, question_set: QuestionSet, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.question_set = question_set

    def select_accounts(self) -> QuerySet[User]:
        """Return all active accounts."""
        return User.objects.filter(ACTIVE_ACCOUNTS)

    def describe_unknown_account(self, username: str) -> str:
        """Return the error message for a user name that no active account has."""
        return f"There is no account with the name “{username}”. An operator can create one."

    def clean_username(self) -> str:
        """Return the user name; refuse accounts that can edit the question set already.

        They would see what a share with a lesser role hides, such as grades from an expert.
        """
        username = super().clean_username()
        if self.person.pk == self.question_set.owner_id:
            raise forms.ValidationError(f"“{username}” owns the question set.", "owner")
        this_set = QuestionSet.objects.filter(pk=self.question_set.pk)
        # Operators may edit every set, yet a share lists the set among their own.
        if not is_operator(self.person) and this_set.editable_by(self.person).exists():
            text = f"“{username}” edits it as a member of the team."
            raise forms.ValidationError(text, "member")
        return username

    def save(self) -> Share:
        """Share the question set with the account, or change the role; return the share.

        An account that has never signed in is invited.
        """
        role = self.cleaned_data["role"]
        share, _ = Share.objects.update_or_create(
            question_set=self.question_set,
            user=self.person,
            defaults={"role": role},
            # Only of a new share: a changed role must not undo an accepted invitation.
            create_defaults={"role": role, "pending": has_never_signed_in(self.person)},
        )
        return share


class TeamNameForm(forms.ModelForm):  # type: ignore[type-arg]
    """Form for the name of a team."""

    class Meta:
        """Model and only field of the form."""

        model = Team
        fields = ("name",)


class SharingTeamForm(forms.Form):
    """Form that chooses the team whose members edit a question set, or none."""

    team = forms.ModelChoiceField(
        Team.objects.none(),
        to_field_name="public_id",
        required=False,
        empty_label="none: only the owner edits it",
        help_text="All its members edit the set as its owner does, but cannot share or delete it.",
    )

    def __init__(self, teams: QuerySet[Team], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["team"]
        field.queryset = teams
