"""Progress line of the worker pages."""

from __future__ import annotations

from dataclasses import dataclass

from annotations.answering.progress import AnswerPage, SurveyProgress


@dataclass(frozen=True, slots=True)
class ProgressSummary:
    """Numbers of the progress line: pages submitted (`done` of `total`), page shown (`part`).

    `minutes_reserved` is how long the place stays reserved without a request.
    """

    part: int
    done: int
    total: int
    minutes_reserved: int


def summarize_progress(progress: SurveyProgress, page: AnswerPage | None = None) -> ProgressSummary:
    """Return the numbers for the progress line; `page` is the page shown, if any."""
    return ProgressSummary(
        part=0 if page is None else page.number,
        done=progress.count_finished_pages(),
        total=len(progress.pages),
        minutes_reserved=progress.collection.reservation_minutes,
    )
