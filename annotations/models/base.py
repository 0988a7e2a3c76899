"""Base classes of the models: public ids, and querysets restricted to a user's rows."""

from __future__ import annotations

import os
import time
import uuid
from typing import Any, ClassVar, NoReturn, Self, TypeVar

from django.db import models
from django.db.models import ExpressionWrapper, Value

from annotations.models.access import Access, AnyUser, is_operator, is_requester

M = TypeVar("M", bound=models.Model, covariant=True)


def new_public_id() -> uuid.UUID:
    """Return a new id for URLs and files: a UUID version 7 (time in ms, 74 random bits).

    It cannot be guessed from others; the leading time keeps new rows together in the index.
    """
    value = time.time_ns() // 1_000_000 << 80 | int.from_bytes(os.urandom(10), "big")
    value = value & ~(0xF << 76) | 0x7 << 76  # the version
    value = value & ~(0x3 << 62) | 0x2 << 62  # the variant
    return uuid.UUID(int=value)


class ScopedQuerySet(models.QuerySet[M]):
    """Queryset that can be restricted to the rows that a user may see or change."""

    def visible_to(self, user: AnyUser, *, of_one_row: bool = False) -> Self:
        """Return the rows that `user` may see; all pages, exports and URLs start from these.

        Pass `of_one_row` when looking up a single row, which then takes one query.
        """
        if not user.is_authenticated or not user.is_active:
            return self.none()
        if is_operator(user):
            return self.all()
        return self.filter(
            self._get_access().build_visible_condition(user, self.model, of_one_row=of_one_row)
        )

    def annotate_right_to_change(self, user: AnyUser) -> Self:
        """Return the rows with an annotation `may_change`: whether the user may change the row."""
        if not is_requester(user) or is_operator(user):
            return self.annotate(may_change=Value(is_operator(user)))
        condition = self._get_access().build_editable_condition(user, of_one_row=True)
        return self.annotate(may_change=ExpressionWrapper(condition, models.BooleanField()))

    def editable_by(self, user: AnyUser) -> Self:
        """Return the rows that `user` may change; all pages that change rows start from these.

        These are rows of sets that the user owns or edits in a team, as a requester. Operators may
        change all rows.
        """
        if not is_requester(user):
            return self.none()
        if is_operator(user):
            return self.all()
        return self.filter(self._get_access().build_editable_condition(user))

    def manageable_by(self, user: AnyUser) -> Self:
        """Return the rows that `user` may delete or share: the user's own; all for operators."""
        if not is_requester(user):
            return self.none()
        if is_operator(user):
            return self.all()
        return self.filter(self._get_access().build_owned_condition(user))

    def _get_access(self) -> Access:
        """Return the access rule of the queryset's model."""
        access: Access = self.model.access  # type: ignore[attr-defined]
        return access


class Scoped(models.Model):
    """Base class of models whose rows are restricted to some users by an access rule."""

    access: ClassVar[Access]

    objects = ScopedQuerySet.as_manager()

    class Meta:
        abstract = True


class Record(Scoped):
    """Base class of models with restricted access and a public id for URLs."""

    public_id = models.UUIDField(unique=True, default=new_public_id, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True


class AppendOnlyError(TypeError):
    """Error: a row that can only be added was to be changed or deleted."""


class AppendOnlyQuerySet(ScopedQuerySet[M]):
    """Queryset whose rows cannot be changed or deleted; a database trigger refuses it as well."""

    def _refuse_change(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise `AppendOnlyError`; replaces update, delete, bulk_update and update_or_create."""
        name = self.model._meta.verbose_name_plural
        raise AppendOnlyError(f"{name} are append-only: add a row that corrects the other")

    update = delete = bulk_update = update_or_create = _refuse_change
    aupdate = adelete = abulk_update = aupdate_or_create = _refuse_change


class AppendOnly(Record):
    """Base class of models whose rows are added and never changed or deleted, such as ledgers."""

    objects = AppendOnlyQuerySet.as_manager()  # type: ignore[misc]

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Insert the row; raise `AppendOnlyError` if it is already stored."""
        if not self._state.adding:
            raise AppendOnlyError(f"a {self._meta.verbose_name} cannot be changed")
        # Without it, a row with the primary key of another would overwrite that one.
        kwargs["force_insert"] = True
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise `AppendOnlyError`, because such rows are never deleted."""
        raise AppendOnlyError(f"a {self._meta.verbose_name} cannot be deleted")
