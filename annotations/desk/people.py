"""Naming another account in a form: by its whole name, and with one answer for all that do not fit.

Who may share learns by it whether an account of exactly that name can be added, and nothing else:
there is no list, no search, and no telling an unknown name from one that is closed.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from annotations.models import Membership, QuestionSet, Share, Team, is_only_invited, is_operator

WAITS = (
    "This account has never signed in: nothing is shown to it until that person signs in and "
    "accepts."
)
"""Said of a person who is only invited."""

ACTIVE = Q(is_active=True)
REQUESTERS = ACTIVE & (Q(is_staff=True) | Q(is_superuser=True))


class PersonForm(forms.Form):
    """One account, by its user name; `person` is the answer of a valid form."""

    username = forms.CharField(
        label="User name",
        max_length=150,
        help_text="The whole name, as they sign in with it.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
        error_messages={"required": "Write a user name."},
    )
    person: User

    def among(self) -> QuerySet[User]:
        """Return the accounts that can be added."""
        raise NotImplementedError

    def unknown(self, username: str) -> str:
        """Return what to say where there is none of that name."""
        raise NotImplementedError

    def clean_username(self) -> str:
        """Find the account."""
        username = User.normalize_username(self.cleaned_data["username"].strip())
        found = self.among().filter(username=username).first()
        if found is None:
            raise forms.ValidationError(self.unknown(username), "unknown")
        self.person = found
        return username


class MemberForm(PersonForm):
    """A requester who joins a team."""

    def __init__(self, team: Team, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.team = team

    def among(self) -> QuerySet[User]:
        """Return the requesters."""
        return User.objects.filter(REQUESTERS)

    def unknown(self, username: str) -> str:
        """Say it, and what to do."""
        return f"There is no requester called “{username}”. An operator can make the account."

    def clean_username(self) -> str:
        """Refuse who is in it already."""
        username = super().clean_username()
        if self.person.pk == self.team.owner_id:
            raise forms.ValidationError(f"“{username}” owns the team.", "owner")
        before = self.team.memberships.filter(user=self.person).first()
        if before is not None:
            state = "invited" if before.pending else "in the team"
            code = "invited" if before.pending else "member"
            raise forms.ValidationError(f"“{username}” is {state} already.", code)
        return username

    def save(self) -> Membership:
        """Add the person; an account that never signed in is invited."""
        waits = {"pending": is_only_invited(self.person)}
        return Membership.objects.get_or_create(team=self.team, user=self.person, defaults=waits)[0]


class ShareForm(PersonForm):
    """Somebody who is shown a set, and as what."""

    role = forms.ChoiceField(
        label="May",
        choices=[
            (Share.Role.VIEWER, "look at everything, and change nothing (viewer)"),
            (Share.Role.EXPERT, "judge answers blindly (expert)"),
        ],
        help_text="An expert sees passages and questions, but no runs, grades or names of workers.",
    )

    field_order = ("username", "role")

    def __init__(self, question_set: QuestionSet, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.question_set = question_set

    def among(self) -> QuerySet[User]:
        """Return everybody who can sign in."""
        return User.objects.filter(ACTIVE)

    def unknown(self, username: str) -> str:
        """Say it, and what to do."""
        return f"There is no account called “{username}”. An operator can make one."

    def clean_username(self) -> str:
        """Refuse who may do more already: what a share hides, they would see all the same."""
        username = super().clean_username()
        if self.person.pk == self.question_set.owner_id:
            raise forms.ValidationError(f"“{username}” owns the question set.", "owner")
        one = QuestionSet.objects.filter(pk=self.question_set.pk)
        # Operators may change every set, but are no part of this one until it is shared with them.
        if not is_operator(self.person) and one.editable_by(self.person).exists():
            said = f"“{username}” edits it as a member of the team."
            raise forms.ValidationError(said, "member")
        return username

    def save(self) -> Share:
        """Share the set; somebody it is shared with already gets the new role.

        An account that never signed in is invited.
        """
        role = self.cleaned_data["role"]
        share, _ = Share.objects.update_or_create(
            question_set=self.question_set,
            user=self.person,
            defaults={"role": role},
            create_defaults={"role": role, "pending": is_only_invited(self.person)},
        )
        return share


class TeamForm(forms.ModelForm):  # type: ignore[type-arg]
    """The name of a team."""

    class Meta:
        """The fields."""

        model = Team
        fields = ("name",)


class SetTeamForm(forms.Form):
    """The team that works on a set."""

    team = forms.ModelChoiceField(
        Team.objects.none(),
        to_field_name="public_id",
        required=False,
        empty_label="nobody: only the owner edits it",
        help_text="All its members edit the set as its owner does, but cannot share or delete it.",
    )

    def __init__(self, teams: QuerySet[Team], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["team"]
        field.queryset = teams
