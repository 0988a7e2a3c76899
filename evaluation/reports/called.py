"""What runs are called: their name, else what differs from the defaults, else their date."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.utils.text import capfirst

from annotations.models import Worker
from annotations.web.downloads import build_file_name
from evaluation.models import LanguageModel, PromptVersion, Run
from evaluation.models.runs import GRADING
from evaluation.options import Parameters
from evaluation.options.declaration import IDS_SHOWN

DEFAULTS = "the defaults"
# Settings that are told in a list, and characters of a title made of them.
SHOWN, LONGEST = 5, 90
_LENGTH_OF_ID = 36


@dataclass(frozen=True)
class Called:
    """A run in a list.

    Attributes
    ----------
    title : its name; without one what differs from the defaults; without that its date.
    differs : what differs from the defaults, a few words each, in the order of the form.
    began : when it was started, where another run of the list has the same title; else "".
    """

    title: str
    differs: tuple[str, ...]
    began: str = ""

    @property
    def full(self) -> str:
        """The title, which no other run of the list has."""
        return f"{self.title} ({self.began})" if self.began else self.title

    @property
    def settings(self) -> str:
        """What differs, in one line."""
        more = len(self.differs) - SHOWN
        shown = "; ".join(self.differs[:SHOWN]) or DEFAULTS
        return f"{shown}; {more} more" if more > 0 else shown

    @property
    def beside(self) -> str:
        """What differs, for a place beside the title; "" where the title says it."""
        settings = self.settings
        return "" if self.title == _capital(settings) else settings


def called(run: Run, options: type[Parameters]) -> Called:
    """Return what a run is called; `options` are those of its kind."""
    known: dict[str, Any] = vars(run)
    if "names_in_parameters" not in known:  # a run's parameters never change
        known["names_in_parameters"] = names_of([run.parameters])
    return _called(run, options, known["names_in_parameters"])


def file_of(run: Run, what: str) -> str:
    """Return the name of a file of a run: set, kind if it is no grading, name or date, and what."""
    kind = "" if run.kind == GRADING else run.kind
    title = run.name or f"{run.created_at:%Y-%m-%d-%H%M}"
    return build_file_name(run.version.question_set.name, kind, title, what)


def all_called(runs: Sequence[tuple[Run, type[Parameters]]]) -> list[Called]:
    """Return what runs are called, by one query, none where no id is in question.

    Runs of the list that share a title get the time at which they were started.
    """
    names = names_of(run.parameters for run, _ in runs)
    found = [_called(run, options, names) for run, options in runs]
    counts = Counter(one.title for one in found)
    return [
        replace(one, began=f"{run.created_at:%-d %b %Y, %H:%M:%S} UTC")
        if counts[one.title] > 1
        else one
        for (run, _), one in zip(runs, found, strict=True)
    ]


def _called(run: Run, options: type[Parameters], names: Mapping[str, str]) -> Called:
    differs = tuple(options.in_short(run.parameters, names))
    made = Called("", differs).settings
    if not differs:
        made = f"Run of {run.created_at:%-d %B %Y, %H:%M} UTC"
    elif len(made) > LONGEST:
        made = f"{made[: LONGEST - 1].rstrip()}…"
    return Called(run.name or _capital(made), differs)


def _capital(text: str) -> str:
    return capfirst(text)


def _ids(parameters: Mapping[str, Any]) -> Iterator[str]:
    """Yield what may be a public id: of a model, of a prompt, of a worker."""
    for value in parameters.values():
        for one in value[:IDS_SHOWN] if isinstance(value, list) else [value]:
            if isinstance(one, str) and len(one) == _LENGTH_OF_ID and _is_id(one):
                yield one


def _is_id(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def names_of(stored: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return what the ids in stored parameters stand for, by one query at most."""
    ids = {id for parameters in stored for id in _ids(parameters)}
    if not ids:
        return {}
    models, *others = (
        rows.filter(public_id__in=ids).order_by().values_list("public_id", name)
        for rows, name in (
            (LanguageModel.objects.all(), "name"),
            (PromptVersion.objects.all(), "prompt__name"),
            (Worker.objects.all(), "external_id"),
        )
    )
    return {str(id): name for id, name in models.union(*others, all=True)}
