"""Prompts of the database, and the two that are there without a row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import Max

from annotations.models.access import AnyUser
from evaluation.flow.asking.prompts import SYSTEM, TEMPLATES, Prompt
from evaluation.models import Prompt as StoredPrompt
from evaluation.models import PromptVersion

LONGEST_TEXT = 20_000
"""Characters of a template or a system text."""


@dataclass(frozen=True)
class NamedPrompt:
    """A prompt as it is chosen and shown: `id` is "closed", "passage" or that of a version."""

    id: str
    name: str
    prompt: Prompt


class UnknownPromptError(LookupError):
    """There is no such prompt, or none that the user may use."""


def built_in(strategy: str) -> NamedPrompt:
    """Return the prompt that is there without a row: "closed" or "passage"."""
    return NamedPrompt(strategy, BUILT_IN[strategy], Prompt(strategy, TEMPLATES[strategy], SYSTEM))


BUILT_IN = {"closed": "Closed book", "passage": "Beside its passage"}
"""Names of the prompts that are there without a row."""


def prompt_of(id: str, user: AnyUser | None = None) -> NamedPrompt:
    """Return the prompt of an id; with a user, one that this user may use.

    Raises UnknownPromptError.
    """
    if id in BUILT_IN:
        return built_in(id)
    try:
        public_id = UUID(id)
    except ValueError:
        raise UnknownPromptError(id) from None
    rows = PromptVersion.objects.all() if user is None else PromptVersion.objects.visible_to(user)
    found = rows.filter(public_id=public_id).select_related("prompt").first()
    if found is None:
        raise UnknownPromptError(id)
    return named(found)


def named(version: PromptVersion) -> NamedPrompt:
    """Return a stored version as it is chosen and shown."""
    prompt = Prompt(version.strategy, version.template, version.system)
    return NamedPrompt(str(version.public_id), str(version), prompt)


def prompts_of(user: AnyUser) -> list[NamedPrompt]:
    """Return what a user may choose from: the built-in ones, then the latest of each stored one."""
    rows = PromptVersion.objects.visible_to(user).select_related("prompt")
    latest = rows.annotate(newest=Max("prompt__versions__number")).order_by("prompt__name", "pk")
    return [*map(built_in, BUILT_IN), *_latest(latest)]


def _latest(rows: Iterable[PromptVersion]) -> list[NamedPrompt]:
    return [named(row) for row in rows if row.number == row.newest]  # type: ignore[attr-defined]


@transaction.atomic
def create_prompt(owner_id: int, name: str, prompt: Prompt) -> PromptVersion:
    """Keep a prompt under a new name, as its version 1. Raises IntegrityError for a taken name."""
    made = StoredPrompt.objects.create(owner_id=owner_id, name=name)
    return _add(made, owner_id, prompt, 1)


@transaction.atomic
def edit_prompt(stored: StoredPrompt, author_id: int, prompt: Prompt) -> PromptVersion:
    """Keep another version of a prompt; the latest one, where that says the same already."""
    StoredPrompt.objects.select_for_update().get(pk=stored.pk)  # two edits at once: one waits
    latest = stored.latest()
    if (latest.hash, latest.strategy) == (prompt.hash, prompt.strategy):
        return latest
    return _add(stored, author_id, prompt, latest.number + 1)


def _add(stored: StoredPrompt, author_id: int, prompt: Prompt, number: int) -> PromptVersion:
    return PromptVersion.objects.create(
        prompt=stored,
        number=number,
        author_id=author_id,
        strategy=prompt.strategy,
        system=prompt.system,
        template=prompt.template,
        hash=prompt.hash,
    )
