"""What the models share: ids that cannot be counted, and one rule for who sees what."""

from __future__ import annotations

import os
import time
import uuid
from typing import Any, ClassVar, NoReturn, Self, TypeVar

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db import models

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
    """Rows of a model whose `owner_path` leads to the user they belong to."""

    def visible_to(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """The rows that `user` may see; every page, export and address starts from these.

        Operators (active superusers) see all, other active users what they own, the rest nothing.
        """
        if not user.is_authenticated or not user.is_active:
            return self.none()
        if getattr(user, "is_superuser", False):
            return self.all()
        owner_path: str = self.model.owner_path  # type: ignore[attr-defined]
        return self.filter(**{owner_path: user.pk})


class Owned(models.Model):
    """A row that belongs to somebody; `owner_path` is the look-up that leads to the user."""

    owner_path: ClassVar[str] = "owner"

    objects = ScopedQuerySet.as_manager()

    class Meta:
        abstract = True


class Record(Owned):
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
