"""Frames of pages, files and REST views that only a grading has."""

from __future__ import annotations

from collections.abc import Callable

from evaluation.grading.summary import AqerSummary
from evaluation.result_pages import Context, View, results_file, results_page


def grading_page(template: str) -> Callable[[Callable[..., Context]], View]:
    """Make a view of a function, as `results_page`; runs of other types have no such page."""
    return results_page(template, AqerSummary)


def grading_file(made: View) -> View:
    """Make a view of a function that sends a file; runs of other types have no such file."""
    return results_file(made, AqerSummary)
