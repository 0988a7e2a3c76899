"""Decorators for web pages and file downloads that only gradings have."""

from __future__ import annotations

from collections.abc import Callable

from evaluation.grading.summary import AqerSummary
from evaluation.runs.result_pages import Context, View, results_file, results_page


def grading_page(template: str) -> Callable[[Callable[..., Context]], View]:
    """Return a decorator that makes a view a results page; 404 for runs of other types."""
    return results_page(template, AqerSummary)


def grading_file(made: View) -> View:
    """Make a view a file download of a run; 404 for runs of other types."""
    return results_file(made, AqerSummary)
