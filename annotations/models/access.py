"""Who sees and who changes the rows of a model: a rule that stands on the model itself.

Everything hangs on question sets. A user stands to a set as

- operator: an active superuser, who sees and may do all;
- owner: who made it; changes it while being a requester (active staff);
- member of the set's team: changes it as the owner does, while being a requester, but neither
  deletes it nor says whom it is shared with;
- viewer: by a share; sees everything but the payments, changes nothing;
- expert: by a share; sees what was asked, and nothing of what came back;
- writer or validator: of problems for the set; sees by `annotations.writing` what they write or
  check, and nothing else of the set.

Who is invited before ever signing in gets a share, a membership or a part in the writing that
gives nothing until they accept it (`annotations.models.invitations`).

A model says in `access` how its rows hang on sets and which roles of a share read them.
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

Anybody = AbstractBaseUser | AnonymousUser

VIEWER: Final = "viewer"
EXPERT: Final = "expert"

EDITORS: Final[frozenset[str]] = frozenset()
"""Read by those who may change the set, and by nobody it is shared with."""
VIEWERS: Final = frozenset({VIEWER})
"""Read by viewers too; hidden from experts, who are to judge blindly."""
VIEWERS_AND_EXPERTS: Final = frozenset({VIEWER, EXPERT})
"""Read by everybody the set is shared with."""

INVITING: Final = ("Share", "Membership", "WritingMember")
"""The models whose rows wait for their user's yes while they are `pending`."""

UNLISTED: Final = "rows of nobody, which no page and no export lists"
"""The `access` of a model that is not anybody's data, such as vectors shared by their hash."""


def is_operator(user: Anybody) -> bool:
    """Whether the user sees and may do all."""
    return bool(user.is_active and getattr(user, "is_superuser", False))


def is_requester(user: Anybody) -> bool:
    """Whether the user may make question sets, and change those of their own and of their teams."""
    return bool(user.is_active and (getattr(user, "is_staff", False) or is_operator(user)))


def may_enter(user: Anybody) -> bool:
    """Whether there is a page for the user behind the login.

    Requesters, who sees a set, who writes problems for one or checks them, and who is invited to
    any of it: to accept, and to see nothing until then.
    """
    return _sees_a_set(user, VIEWERS_AND_EXPERTS) or takes_part(user) or _is_invited(user)


def may_read_answers(user: Anybody) -> bool:
    """Whether the user sees answers and runs of any set: not who judges blindly only."""
    return _sees_a_set(user, VIEWERS)


def _sees_a_set(user: Anybody, readers: frozenset[str]) -> bool:
    if is_requester(user):
        return True
    if not user.is_authenticated or not user.is_active:
        return False
    return _rows("QuestionSet").filter(visible_sets(user, readers)).exists()


def _is_invited(user: Anybody) -> bool:
    return bool(
        user.is_authenticated
        and user.is_active
        and any(_rows(name).filter(user=user.pk, pending=True).exists() for name in INVITING)
    )


def takes_part(user: Anybody) -> bool:
    """Whether the user writes problems for a set, or checks them."""
    return bool(
        user.is_authenticated
        and user.is_active
        and _rows("WritingMember").filter(user=user.pk, pending=False).exists()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The rule of a model; every field is a look-up from its rows, empty where there is none.

    `question_set` leads to the one set a row belongs to ("pk" on the set itself; several look-ups
    where a row hangs on it by the one or the other), `answered_in` to the many sets a worker or a
    model answered in: there the row is seen, not changed. `owner` leads to the user whose row
    it is, `people` to further users who see it, unless `waiting` is true of them: they are invited
    and have not accepted. `readers` are the roles of a share that read it,
    beside those who may change the set. `owned_where_answered` says that a row belongs to the owner
    of any set that it answered in. `managed` rows are changed by the owner of the set alone,
    not by the team.
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
    def ways(self) -> tuple[str, ...]:
        """The look-ups that lead to the set."""
        ways = self.question_set
        return tuple(filter(None, (ways,) if isinstance(ways, str) else ways))

    def seen_by(self, user: Anybody, model: type[models.Model]) -> Q:
        """Return the condition on the rows that an active user who is no operator sees."""
        sets = visible_sets(user, self.readers)
        condition = self._of(user, sets)
        if self.answered_in:
            # Those of one's own sets are one's own: a list of all of them for nothing would
            # be made anew for every page, and for its length.
            seen_sets = ties.sets(sets, _key(user) if self.owned_where_answered else None)
            if seen_sets != []:
                answered = model._base_manager.filter(**{f"{self.answered_in}__in": seen_sets})
                condition |= Q(pk__in=answered.values("pk"))
        if self.people:
            # In one call, so that both are said of the same row of a relation to many.
            waits: dict[str, Any] = {self.waiting: False} if self.waiting else {}
            among = model._base_manager.filter(**{self.people: user.pk}, **waits)
            condition |= Q(pk__in=among.values("pk"))
        return condition

    def changed_by(self, user: Anybody) -> Q:
        """Return the condition on the rows that a requester who is no operator may change."""
        return self._of(user, owned_sets(user) if self.managed else editable_sets(user))

    def managed_by(self, user: Anybody) -> Q:
        """Return the condition on the rows of which such a requester is the owner."""
        return self._of(user, owned_sets(user))

    def _of(self, user: Anybody, sets: Q) -> Q:
        # A condition that no row meets, to begin with: an empty Q would let every row through.
        condition = Q(pk__in=())
        if self.question_set == "pk":
            condition |= sets
        elif self.ways:
            among = ties.sets(sets)
            for path in self.ways:
                condition |= Q(**{f"{path}__in": among})
        if self.owner:
            condition |= Q(**{self.owner: user.pk})
        return condition


def owned_sets(user: Anybody) -> Q:
    """Return the condition on a question set that the user owns it."""
    return Q(owner=user.pk)


def editable_sets(user: Anybody) -> Q:
    """Return the condition that the user owns a set or, as a requester, is in its team."""
    if not is_requester(user):
        return owned_sets(user)
    return owned_sets(user) | _one_of("team", ties.teams(_key(user)))


def visible_sets(user: Anybody, readers: frozenset[str]) -> Q:
    """Return the condition that the user sees what `readers` see of a set."""
    condition = editable_sets(user)
    if readers:
        condition |= _one_of("pk", ties.shared_sets(_key(user), readers))
    return condition


def _one_of(path: str, keys: ties.Keys) -> Q:
    # An empty Q adds nothing to a condition with others; of these there is always the owner.
    return Q() if keys == [] else Q(**{f"{path}__in": keys})


def _key(user: Anybody) -> int:
    return int(user.pk or 0)


def _rows(name: str) -> models.QuerySet[Any, Any]:
    """Return the rows of a model by its name: all models import the rules, these import none."""
    return apps.get_model("annotations", name)._default_manager.order_by()
