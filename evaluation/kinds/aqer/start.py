"""What the page that starts a grading says of the languages in which people answered."""

from __future__ import annotations

from django.db.models import Count

from annotations.languages import name_of
from annotations.models import GRADED, Question, QuestionSetVersion, Response
from evaluation.kinds.kind import Beforehand, Start


def before(version: QuestionSetVersion | None) -> Beforehand | None:
    """Say what a mixture of languages means for the grades; None for answers in one language.

    A language is that in which the question was read. Answers to choices are the same in all.
    """
    if version is None or not version.languages:
        return None
    free = Response.objects.filter(
        submission__version=version,
        state=Response.State.SUBMITTED,
        status=Response.Status.TEXT,
        question__role__in=GRADED,
    ).exclude(question__kind=Question.Kind.CHOICE)
    found = free.order_by().values_list("language").annotate(n=Count("pk"))
    counts = sorted(found, key=lambda one: (-one[1], one[0]))
    if len(counts) < 2:
        return None
    told = ", ".join(
        f"{name_of(tag) if tag else 'a language that nobody said'} ({n:,})" for tag, n in counts
    )
    return Beforehand(
        f"People read the questions in several languages. Answers in their own words: {told}. A "
        "model that knows only one of these languages, or that counts words or letters, cannot see "
        "that two answers in two languages say the same. Then people seem to disagree who do not, "
        "and those of the language with fewer answers get lower grades whatever they know. Choose "
        "a model that knows all of these languages; else compare people only with those of their "
        "own language."
    )


START = Start(before=before)
