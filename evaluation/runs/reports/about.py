"""Titles of runs, and the head of every report.

Build the titles of runs: the run's name, else its non-default options, else its date. Build the
head of every report: facts about the run and its question set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.utils.text import capfirst

from annotations.models import Worker
from annotations.web.downloads import build_file_name
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.options import Parameters, Setting
from evaluation.core.options.declaration import IDS_SHOWN
from evaluation.models import LanguageModel, PromptVersion, Run
from evaluation.models.runs import GRADING

DEFAULTS = "the defaults"
# Settings that are told in a list, and characters of a title made of them.
SHOWN, LONGEST = 5, 90
_LENGTH_OF_ID = 36


@dataclass(frozen=True)
class RunTitle:
    """The title of a run, its non-default options, and its date.

    Attributes
    ----------
    title : name of the run, else its non-default options, else its date.
    differs : non-default options, a few words each, in the order of the form.
    began : time of the start if another run of the list has the same title; else "".
    """

    title: str
    differs: tuple[str, ...]
    began: str = ""

    @property
    def full(self) -> str:
        """The title, made unique among the runs of a list."""
        return f"{self.title} ({self.began})" if self.began else self.title

    @property
    def settings(self) -> str:
        """The run's non-default options in one line."""
        more = len(self.differs) - SHOWN
        settings = "; ".join(self.differs[:SHOWN]) or DEFAULTS
        return f"{settings}; {more} more" if more > 0 else settings

    @property
    def beside(self) -> str:
        """The non-default options to show after the title; "" if the title contains them."""
        settings = self.settings
        return "" if self.title == _capitalise(settings) else settings


def build_run_title(run: Run, options: type[Parameters]) -> RunTitle:
    """Return the title of one run; `options` is the options class of its run type."""
    attributes: dict[str, Any] = vars(run)
    if "names_in_parameters" not in attributes:  # a run's parameters never change
        attributes["names_in_parameters"] = load_referenced_names([run.parameters])
    return _build_title_with_names(run, options, attributes["names_in_parameters"])


def build_run_file_name(run: Run, what: str) -> str:
    """Return the name of a file to download, from the question set, run and its content `what`."""
    kind = "" if run.kind == GRADING else run.kind
    title = run.name or f"{run.created_at:%Y-%m-%d-%H%M}"
    return build_file_name(run.version.question_set.name, kind, title, what)


def build_run_titles(runs: Sequence[tuple[Run, type[Parameters]]]) -> list[RunTitle]:
    """Return the titles of several runs, each title unique, by one query at most.

    Runs of the list that share a title get the time at which they were started.
    """
    names = load_referenced_names(run.parameters for run, _ in runs)
    titles = [_build_title_with_names(run, options, names) for run, options in runs]
    counts = Counter(title.title for title in titles)
    return [
        replace(title, began=f"{run.created_at:%-d %b %Y, %H:%M:%S} UTC")
        if counts[title.title] > 1
        else title
        for (run, _), title in zip(runs, titles, strict=True)
    ]


def _build_title_with_names(
    run: Run, options: type[Parameters], names: Mapping[str, str]
) -> RunTitle:
    """Return the title of a run; `names` has the names of the ids in its options."""
    differs = tuple(options.summarize_changes(run.parameters, names))
    text = RunTitle("", differs).settings
    if not differs:
        text = f"Run of {run.created_at:%-d %B %Y, %H:%M} UTC"
    elif len(text) > LONGEST:
        text = f"{text[: LONGEST - 1].rstrip()}…"
    return RunTitle(run.name or _capitalise(text), differs)


def _capitalise(text: str) -> str:
    """Return a text with a capital first letter."""
    return capfirst(text)


def _list_ids(parameters: Mapping[str, Any]) -> Iterator[str]:
    """Yield the stored values that may be public ids of models, prompts or workers."""
    for value in parameters.values():
        for one in value[:IDS_SHOWN] if isinstance(value, list) else [value]:
            if isinstance(one, str) and len(one) == _LENGTH_OF_ID and _is_uuid(one):
                yield one


def _is_uuid(text: str) -> bool:
    """Return whether a text is a public id (UUID)."""
    try:
        # UUID() reads other forms as well, such as one without hyphens.
        return str(UUID(text)) == text
    except ValueError:
        return False


def load_referenced_names(stored: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the names of models, prompts and workers whose ids stored parameters hold, by id."""
    ids = {id for parameters in stored for id in _list_ids(parameters)}
    if not ids:
        return {}
    models, *others = (
        # Without an order: SQLite allows none in the parts of a UNION.
        rows.filter(public_id__in=ids).order_by().values_list("public_id", name)
        for rows, name in (
            (LanguageModel.objects.all(), "name"),
            (PromptVersion.objects.all(), "prompt__name"),
            (Worker.objects.all(), "external_id"),
        )
    )
    return {str(id): name for id, name in models.union(*others, all=True)}


@dataclass(frozen=True)
class RunAbout:
    """Head of a report: the run with its title, its question set, and its settings.

    Attributes
    ----------
    called : title of the run: its name, else its non-default options or its date.
    differs : non-default options, a few words each. notes : users' notes on the run; "" for none.
    notice : text that must be shown with all answers of the set; "" if none.
    settings : every option with its value in words. score_name : name of the workers' mean scores
        from which a grading run scales the grades.
    """

    renamed_keys: ClassVar = {"called": "label", "kind": "run_type"}

    run: UUID
    called: str
    differs: tuple[str, ...]
    notes: str
    state: str
    kind: str
    question_set: UUID
    name: str
    version: int
    notice: str
    created_at: datetime
    finished_at: datetime | None
    signature: str
    settings: list[Setting]
    n_withdrawn: int = 0
    score_name: str = ""

    @property
    def is_done(self) -> bool:
        """Whether the run is finished and has results."""
        return self.state == Run.State.DONE

    @property
    def summary(self) -> str:
        """The run's non-default options in one line; "" if the title already has them."""
        return RunTitle(self.called, self.differs).beside


def build_run_about(run: Run, options: type[Parameters] = AqerParameters) -> RunAbout:
    """Return the head of a run's report: the run, its question set and its settings.

    `options` is the options class of its run type. No query if version and set were fetched, but
    one for the names of ids in the options.
    """
    question_set = run.version.question_set
    name = build_run_title(run, options)
    return RunAbout(
        run=run.public_id,
        called=name.title,
        differs=name.differs,
        notes=run.notes,
        state=run.state,
        kind=run.get_kind_display(),
        question_set=question_set.public_id,
        name=question_set.name,
        version=run.version.number,
        notice=question_set.notice,
        created_at=run.created_at,
        finished_at=run.finished_at,
        signature=run.signature,
        settings=options.list_settings(run.parameters),
        n_withdrawn=run.n_withdrawn,
        score_name=_find_score_name(run),
    )


def _find_score_name(run: Run) -> str:
    """Return the label of a grading run's raw score; "" for other run types."""
    try:
        return AqerParameters.from_dict(run.parameters).score_name if run.kind == GRADING else ""
    except KeyError:  # it is of another version of the platform
        return AqerParameters().score_name
