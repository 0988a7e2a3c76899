"""Ways from the results to other pages of the site."""

from __future__ import annotations

from uuid import UUID

from django.urls import NoReverseMatch, reverse

from evaluation.models import Run


def status_link(run: Run) -> str:
    """Return the page that shows how far a run is."""
    return _reverse("run", run_id=run.public_id)


def question_set_link(run: Run) -> str:
    """Return the page of the run's question set."""
    return _reverse("question-set", set_id=run.version.question_set.public_id)


def results_link(run: Run) -> str:
    """Return the page of a run's results."""
    return reverse("admin:results-run", kwargs={"run": run.public_id})


def worker_link(run: Run, worker: UUID) -> str:
    """Return the page of a worker in a run."""
    return reverse("admin:results-worker", kwargs={"run": run.public_id, "worker": worker})


def question_link(run: Run, question: UUID) -> str:
    """Return the page of a question in a run."""
    return reverse("admin:results-question", kwargs={"run": run.public_id, "question": question})


def _reverse(name: str, **ids: UUID) -> str:
    """Return a page of another room; the overview on a site that has no such page."""
    try:
        return reverse(f"admin:{name}", kwargs=ids)
    except NoReverseMatch:
        return reverse("admin:index")
