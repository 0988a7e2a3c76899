"""What the models share: ids that cannot be counted, and one door to who sees what."""

from __future__ import annotations

import os
import time
import uuid
from typing import Any, ClassVar, NoReturn, Self, TypeVar

from django.db import models

from annotations.models.access import Access, Anybody, is_operator, is_requester

M = TypeVar("M", bound=models.Model, covariant=True)


def new_public_id() -> uuid.UUID:
    """An id for addresses and files: 74 random bits after the time in ms (UUID version 7).

    It cannot be guessed from others; the time in front keeps new rows together in the index.
    """
    value = time.time_ns() // 1_000_000 << 80 | int.from_bytes(os.urandom(10), "big")
    value = value & ~(0xF << 76) | 0x7 << 76  # the version
    value = value & ~(0x3 << 62) | 0x2 << 62  # the variant
    return uuid.UUID(int=value)


class ScopedQuerySet(models.QuerySet[M]):
    """Rows of a model that says in `access` who sees them and who may change them."""

    def visible_to(self, user: Anybody) -> Self:
        """The rows that `user` may see; every page, export and address starts from these."""
        if not user.is_authenticated or not user.is_active:
            return self.none()
        if is_operator(user):
            return self.all()
        return self.filter(self._access().seen_by(user, self.model))

    def editable_by(self, user: Anybody) -> Self:
        """The rows that `user` may change; every page and address that changes starts from these.

        Those of the sets that the user owns or works on in a team, as a requester; operators all.
        """
        if not is_requester(user):
            return self.none()
        return self.all() if is_operator(user) else self.filter(self._access().changed_by(user))

    def manageable_by(self, user: Anybody) -> Self:
        """The rows that `user` may delete or share: those of the owner's own; operators all."""
        if not is_requester(user):
            return self.none()
        return self.all() if is_operator(user) else self.filter(self._access().managed_by(user))

    def _access(self) -> Access:
        access: Access = self.model.access  # type: ignore[attr-defined]
        return access


class Scoped(models.Model):
    """A row that only some may see; each model says in `access` who, there is no default."""

    access: ClassVar[Access]

    objects = ScopedQuerySet.as_manager()

    class Meta:
        abstract = True


class Record(Scoped):
    """A row with an address of its own."""

    public_id = models.UUIDField(unique=True, default=new_public_id, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True


class AppendOnlyError(TypeError):
    """A row that only may be added was to be changed or deleted."""


class AppendOnlyQuerySet(ScopedQuerySet[M]):
    """Rows that are added and never changed; the database refuses it as well."""

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        name = self.model._meta.verbose_name_plural
        raise AppendOnlyError(f"{name} are append-only: add a row that corrects the other")

    update = delete = bulk_update = update_or_create = _refuse
    aupdate = adelete = abulk_update = aupdate_or_create = _refuse


class AppendOnly(Record):
    """A row of a ledger."""

    objects = AppendOnlyQuerySet.as_manager()  # type: ignore[misc]

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Add the row; AppendOnlyError if it is there already."""
        if not self._state.adding:
            raise AppendOnlyError(f"a {self._meta.verbose_name} cannot be changed")
        kwargs["force_insert"] = True
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse."""
        raise AppendOnlyError(f"a {self._meta.verbose_name} cannot be deleted")
