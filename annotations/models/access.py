"""Access rules: every model declares which users see its rows and which change them.

All access depends on question sets. A user's role for a set is one of these:

- operator: an active superuser, who sees and may do everything;
- owner: the user who created it; edits it while being a requester (active staff);
- member of the set's team: edits it like the owner, while being a requester, but neither deletes
  nor shares it;
- viewer: has a share; sees everything but the payments, edits nothing;
- expert: has a share; sees the questions, and judges answers blindly;
- writer or validator: of problems for the set; sees by `annotations.writing` what they write or
  check, and nothing else of the set.

An invited user's share, membership or writing role has no effect until they accept it
(`annotations.models.invitations`).

A model's `access` declares how its rows lead to sets, and which roles of a share read them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from django.apps import apps
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import Q

from annotations.models import ties

AnyUser = AbstractBaseUser | AnonymousUser

VIEWER: Final = "viewer"
EXPERT: Final = "expert"

EDITORS: Final[frozenset[str]] = frozenset()
"""Read by users who may edit the set, and by no share."""
VIEWERS: Final = frozenset({VIEWER})
"""Read by viewers too; hidden from experts, who judge blindly."""
VIEWERS_AND_EXPERTS: Final = frozenset({VIEWER, EXPERT})
"""Read by every user with a share of the set."""

INVITATION_MODELS: Final = ("Share", "Membership", "WritingMember")
"""The models whose rows have no effect while they are `pending`."""

UNLISTED: Final = "rows of nobody, which no page and no export lists"
"""The `access` of models without personal data, such as vectors shared by their hash."""


def is_operator(user: AnyUser) -> bool:
    """Return whether the user is an operator (superuser), who may do everything."""
    return bool(user.is_active and getattr(user, "is_superuser", False))


def is_requester(user: AnyUser) -> bool:
    """Return whether the user may create question sets and edit their own and their teams' sets."""
    return bool(user.is_active and (getattr(user, "is_staff", False) or is_operator(user)))


def may_enter(user: AnyUser) -> bool:
    """Return whether the user may open any page behind the login.

    True for requesters, and for users who see a set, write problems or check them. Also for invited
    users, who see nothing else until they accept.
    """
    return (
        _can_see_any_set(user, VIEWERS_AND_EXPERTS) or is_writing_member(user) or _is_invited(user)
    )


def may_read_answers(user: AnyUser) -> bool:
    """Return whether the user may see answers and runs of any set; False if only an expert."""
    return _can_see_any_set(user, VIEWERS)


def _can_see_any_set(user: AnyUser, readers: frozenset[str]) -> bool:
    """Return whether the user may see some question set, in one of the roles `readers`."""
    if is_requester(user):
        return True
    if not user.is_authenticated or not user.is_active:
        return False
    return _get_model_rows("QuestionSet").filter(match_visible_sets(user, readers)).exists()


def _is_invited(user: AnyUser) -> bool:
    """Return whether the user has an invitation that is not accepted yet."""
    return bool(
        user.is_authenticated
        and user.is_active
        and any(
            _get_model_rows(name).filter(user=user.pk, pending=True).exists()
            for name in INVITATION_MODELS
        )
    )


def is_writing_member(user: AnyUser) -> bool:
    """Return whether the user writes or checks problems in any writing project."""
    return bool(
        user.is_authenticated and user.is_active and ties.has_writing_role(_get_user_key(user))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Access rule of a model: the query paths from its rows to the users who may see and edit them.

    Attributes
    ----------
    question_set : leads to the one set of a row; "pk" on the set itself, or several look-ups if
        rows belong to a set by one of them.
    answered_in : leads to the sets in which a worker or model answered; the row is seen there, not
        edited.
    owned_where_answered : the row belongs to the owner of every set in which it answered.
    owner : leads to the user who owns the row.
    people : leads to further users who see it.
    waiting : a field that is true while these users are only invited, and see nothing.
    readers : the roles of a share that read the row, besides the editors of the set.
    managed : the row is edited by the owner of the set alone, not by the team.
    """

    question_set: str | tuple[str, ...] = ""
    answered_in: str = ""
    owned_where_answered: bool = False
    owner: str = ""
    people: str = ""
    waiting: str = ""
    readers: frozenset[str] = EDITORS
    managed: bool = False

    @property
    def paths(self) -> tuple[str, ...]:
        """Query paths from a row to its question set."""
        paths = self.question_set
        return tuple(filter(None, (paths,) if isinstance(paths, str) else paths))

    def build_visible_condition(
        self, user: AnyUser, model: type[models.Model], *, of_one_row: bool = False
    ) -> Q:
        """Return the query condition for the rows that an active non-operator may see.

        With `of_one_row`, one row is looked up: its set is then tested in the same query.
        """
        sets = match_visible_sets(user, self.readers)
        condition = self._build_condition(user, sets, of_one_row=of_one_row)
        if self.answered_in:
            # Rows of the user's own sets are matched by their owner already. Listing those sets
            # here again would cost a query and a long parameter list on every page.
            seen_sets = ties.load_set_keys(
                sets, _get_user_key(user) if self.owned_where_answered else None
            )
            if seen_sets != []:
                rows_with_answers = model._base_manager.filter(
                    **{f"{self.answered_in}__in": seen_sets}
                )
                condition |= Q(pk__in=rows_with_answers.values("pk"))
        if self.people:
            # One filter call, so that both conditions hold for the same related row.
            not_waiting: dict[str, Any] = {self.waiting: False} if self.waiting else {}
            rows_of_user = model._base_manager.filter(**{self.people: user.pk}, **not_waiting)
            # A subquery: a join would repeat a row that reaches the user in several ways.
            condition |= Q(pk__in=rows_of_user.values("pk"))
        return condition

    def build_editable_condition(self, user: AnyUser, *, of_one_row: bool = False) -> Q:
        """Return the query condition for the rows that a requester (no operator) may edit."""
        sets = match_owned_sets(user) if self.managed else match_editable_sets(user)
        return self._build_condition(user, sets, of_one_row=of_one_row)

    def build_owned_condition(self, user: AnyUser) -> Q:
        """Return the query condition for the rows that a requester (no operator) owns."""
        return self._build_condition(user, match_owned_sets(user))

    def _build_condition(self, user: AnyUser, sets: Q, *, of_one_row: bool = False) -> Q:
        """Return the query condition for rows of the question sets `sets`, or owned by the user."""
        # Begin with a condition that no row meets: an empty Q would match every row.
        condition = Q(pk__in=())
        if self.question_set == "pk":
            condition |= sets
        elif self.paths:
            set_keys = ties.load_set_keys(sets, of_one_row=of_one_row)
            for path in self.paths:
                condition |= Q(**{f"{path}__in": set_keys})
        if self.owner:
            condition |= Q(**{self.owner: user.pk})
        return condition


def match_owned_sets(user: AnyUser) -> Q:
    """Return the query condition that a question set is owned by the user."""
    return Q(owner=user.pk)


def match_editable_sets(user: AnyUser) -> Q:
    """Return the query condition that a set is the user's own or, for requesters, their team's."""
    if not is_requester(user):
        return match_owned_sets(user)
    return match_owned_sets(user) | _match_keys("team", ties.load_team_keys(_get_user_key(user)))


def match_visible_sets(user: AnyUser, readers: frozenset[str]) -> Q:
    """Return the query condition that the user may see what the roles `readers` see of a set."""
    condition = match_editable_sets(user)
    if readers:
        condition |= _match_keys("pk", ties.load_shared_set_keys(_get_user_key(user), readers))
    return condition


def _match_keys(path: str, keys: ties.Keys) -> Q:
    """Return the query condition that the key at `path` is in `keys`; no condition for []."""
    # An empty Q adds nothing here, because the condition on the owner is always combined with it.
    return Q() if keys == [] else Q(**{f"{path}__in": keys})


def _get_user_key(user: AnyUser) -> int:
    """Return the user's primary key; 0 for a user who is not stored."""
    return int(user.pk or 0)


def _get_model_rows(name: str) -> models.QuerySet[Any, Any]:
    """Return all rows of the model `name`; it is looked up late to avoid a circular import."""
    return apps.get_model("annotations", name)._default_manager.order_by()
