"""Build the head of every report: facts about the run and its question set."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar
from uuid import UUID

from evaluation.consensus.parameters import AqerParameters
from evaluation.core.options import Parameters, Setting
from evaluation.models import Run
from evaluation.models.runs import GRADING
from evaluation.runs.reports.run_titles import RunTitle, build_title


@dataclass(frozen=True)
class RunAbout:
    """The head of every report: the run, its question set, and its settings.

    Attributes
    ----------
    called : what people call the run; without a name what differs from the defaults, or its date.
    differs : what differs from the defaults, a few words each. notes : people's, "" without any.
    notice : what must stand wherever answers of the set are shown; "" if nothing.
    settings : every option, with its value in words. score_name : of a grading, what workers' mean
        scores are that grades are stretched from.
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
    def in_short(self) -> str:
        """The run's non-default options in one line; "" if the title already has them."""
        return RunTitle(self.called, self.differs).beside


def build_about(run: Run, options: type[Parameters] = AqerParameters) -> RunAbout:
    """Return the head of a run's report, without a query if version and set were fetched.

    `options` are those of its kind. Ids of models, prompts and workers take one query.
    """
    question_set = run.version.question_set
    name = build_title(run, options)
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
        settings=options.settings(run.parameters),
        n_withdrawn=run.n_withdrawn,
        score_name=_find_score_name(run),
    )


def _find_score_name(run: Run) -> str:
    """Return the display name of a grading run's raw score; "" for other run types."""
    try:
        return AqerParameters.of_dict(run.parameters).score_name if run.kind == GRADING else ""
    except KeyError:  # it is of another version of the platform
        return AqerParameters().score_name
