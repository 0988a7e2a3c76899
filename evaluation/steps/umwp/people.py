"""What people answered to the questions of a version, as files of answers have it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from annotations.exchange.records import AnswerFacts, AnswerRecord
from annotations.models import GRADED, QuestionSetVersion, Response
from evaluation.steps.outside import answering, keys_of_workers


def peoples_answers(
    version: QuestionSetVersion, excluded: Sequence[str] = ()
) -> Iterator[AnswerRecord]:
    """Yield the submitted answers of a version, in the order in which they came.

    Those of `excluded` workers, by their own or public ids, are left out.

    A person is named by the id of the panel; where two panels have the same one, with the panel.
    """
    answered = answering(version).values_list("pk", flat=True) if excluded else ()
    out = keys_of_workers(version, excluded, list(answered))
    rows = (
        Response.objects.filter(
            submission__version=version,
            question__role__in=GRADED,
            state=Response.State.SUBMITTED,
        )
        .exclude(submission__worker__in=out)
        .order_by("pk")
        .values_list(
            "submission__worker",
            "submission__worker__panel",
            "submission__worker__external_id",
            "question__external_id",
            "text",
            "rejected",
        )
    )
    owners: dict[str, int] = {}
    for place, (worker, panel, name, question, text, rejected) in enumerate(rows.iterator()):
        if owners.setdefault(name, worker) != worker:
            name = f"{panel}/{name}"
        facts = AnswerFacts(rejected=rejected)
        yield AnswerRecord(place, place + 1, name, question, text, facts=facts)
