"""What people answered to the questions of a version, as files of answers have it."""

from __future__ import annotations

from collections.abc import Iterator

from annotations.exchange.records import AnswerFacts, AnswerRecord
from annotations.models import GRADED, QuestionSetVersion, Response


def peoples_answers(version: QuestionSetVersion) -> Iterator[AnswerRecord]:
    """Yield the submitted answers of a version, in the order in which they came.

    A person is named by the id of the panel; where two panels have the same one, with the panel.
    """
    rows = (
        Response.objects.filter(
            submission__version=version,
            question__role__in=GRADED,
            state=Response.State.SUBMITTED,
        )
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
