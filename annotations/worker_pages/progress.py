"""The progress line of the worker pages."""

from __future__ import annotations

from dataclasses import dataclass

from annotations.answering.progress import AnswerPage, SurveyProgress


@dataclass(frozen=True, slots=True)
class ProgressSummary:
    """Pages handed in (`done` of `total`), and the page shown (`part`, 0 for none).

    `minutes_reserved` is how long the place stays reserved without a request.
    """

    part: int
    done: int
    total: int
    minutes_reserved: int


def summarize_progress(progress: SurveyProgress, page: AnswerPage | None = None) -> ProgressSummary:
    """Return the progress of a submission, with the page that is shown."""
    return ProgressSummary(
        part=0 if page is None else page.number,
        done=progress.count_finished_pages(),
        total=len(progress.pages),
        minutes_reserved=progress.collection.reservation_minutes,
    )
