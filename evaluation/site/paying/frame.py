"""What the pages of the payment desk share: which version it is, and the way back."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from annotations.ledger.deciding import answered_version
from annotations.models import QuestionSetVersion
from annotations.web.pages import breadcrumbs


def frame(version: QuestionSetVersion, title: str, *, inside: bool = True) -> dict[str, Any]:
    """Return what every page of the desk says; `inside` pages lead back to the list of people."""
    question_set = version.question_set
    newest = answered_version(question_set)
    kept = "" if newest is not None and newest.pk == version.pk else f"?version={version.number}"
    way = breadcrumbs(question_set)
    if inside:
        way.append(("Pay people", reverse("admin:paying", args=[question_set.public_id]) + kept))
    return {
        "title": title,
        "subtitle": f"{question_set.name}, version {version.number}",
        "breadcrumbs": way,
        "notice": question_set.notice,
        "question_set": question_set,
        "version": version,
        # Stands behind every address of the desk where another version is looked at.
        "kept": kept,
    }
