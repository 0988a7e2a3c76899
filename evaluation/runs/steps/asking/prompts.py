"""Store and select prompts: versions of users' prompts, and the two built-in ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import Max

from annotations.models.access import AnyUser
from evaluation.models import Prompt as StoredPrompt
from evaluation.models import PromptVersion
from evaluation.runs.flow.asking.prompts import SYSTEM, TEMPLATES, Prompt

LONGEST_TEXT = 20_000
"""Characters of a template or a system text."""


@dataclass(frozen=True)
class NamedPrompt:
    """A prompt with name and id: "closed", "passage" or the id of a stored version."""

    id: str
    name: str
    prompt: Prompt


class UnknownPromptError(LookupError):
    """The prompt does not exist, or the user may not use it."""


def build_built_in_prompt(strategy: str) -> NamedPrompt:
    """Return the built-in prompt of a strategy, "closed" or "passage"."""
    return NamedPrompt(strategy, BUILT_IN[strategy], Prompt(strategy, TEMPLATES[strategy], SYSTEM))


BUILT_IN = {"closed": "Closed book", "passage": "With its passage"}
"""Names of the prompts that are there without a row."""


def find_prompt(id: str, user: AnyUser | None = None) -> NamedPrompt:
    """Return the prompt with an id; if a user is given, only one that the user may use.

    Raises UnknownPromptError.
    """
    if id in BUILT_IN:
        return build_built_in_prompt(id)
    try:
        public_id = UUID(id)
    except ValueError:
        raise UnknownPromptError(id) from None
    rows = PromptVersion.objects.all() if user is None else PromptVersion.objects.visible_to(user)
    found = rows.filter(public_id=public_id).select_related("prompt").first()
    if found is None:
        raise UnknownPromptError(id)
    return name_prompt(found)


def name_prompt(version: PromptVersion) -> NamedPrompt:
    """Return a stored prompt version as a prompt with name and id."""
    prompt = Prompt(version.strategy, version.template, version.system)
    return NamedPrompt(str(version.public_id), str(version), prompt)


def list_prompts(user: AnyUser) -> list[NamedPrompt]:
    """Return the prompts a user may choose: built-in, and the latest version of stored ones."""
    rows = PromptVersion.objects.visible_to(user).select_related("prompt")
    latest = rows.annotate(newest=Max("prompt__versions__number")).order_by("prompt__name", "pk")
    return [*map(build_built_in_prompt, BUILT_IN), *_select_latest(latest)]


def _select_latest(rows: Iterable[PromptVersion]) -> list[NamedPrompt]:
    """Return those versions that are the latest of their prompt, with names and ids."""
    return [name_prompt(row) for row in rows if row.number == row.newest]  # type: ignore[attr-defined]


@transaction.atomic
def create_prompt(owner_id: int, name: str, prompt: Prompt) -> PromptVersion:
    """Store a prompt under a new name, as version 1. Raises IntegrityError for a taken name."""
    made = StoredPrompt.objects.create(owner_id=owner_id, name=name)
    return _add_version(made, owner_id, prompt, 1)


@transaction.atomic
def edit_prompt(stored: StoredPrompt, author_id: int, prompt: Prompt) -> PromptVersion:
    """Store a new version of a prompt; return the latest version if nothing changed."""
    StoredPrompt.objects.select_for_update().get(pk=stored.pk)  # two edits at once: one waits
    latest = stored.latest()
    if (latest.hash, latest.strategy) == (prompt.hash, prompt.strategy):
        return latest
    return _add_version(stored, author_id, prompt, latest.number + 1)


def _add_version(
    stored: StoredPrompt, author_id: int, prompt: Prompt, number: int
) -> PromptVersion:
    """Store a version of a prompt under this number."""
    return PromptVersion.objects.create(
        prompt=stored,
        number=number,
        author_id=author_id,
        strategy=prompt.strategy,
        system=prompt.system,
        template=prompt.template,
        hash=prompt.hash,
    )
