"""Export the answers of language models: all requests and all samples."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Count, F, FilteredRelation, Q, Sum, Value
from django.db.models.functions import Coalesce, Length

from annotations.exchange.facts import ASKING, OF_MODEL_RUN, format_object
from annotations.exchange.header import OF_MODEL_ANSWERS
from annotations.models import QuestionSetVersion
from annotations.models.access import AnyUser
from evaluation.models import LLMResponse, Run
from evaluation.runs.exports.table import AT_ONCE, Export, Row, seen_by

FORMAT = 1


def model_answers(
    version: QuestionSetVersion, run: Run | None = None, user: AnyUser | None = None
) -> Export:
    """Return the table of a version's model answers; with a run, also the score of each."""
    rows = seen_by(user, LLMResponse.objects.all()).filter(question__version=version)
    size = rows.aggregate(
        n=Count("pk"), length=Coalesce(Sum(Length("text") + Length("prompt")), Value(0))
    )
    header = (
        *("model", "question", "answer", "status", *ASKING),
        *(OF_MODEL_RUN if run else ()),
        OF_MODEL_ANSWERS,
    )
    columns = ["model__name", "question__external_id", "text", "status", "sample"]
    columns += ["finish_reason", "prompt", "parameters", "extra"]

    def read() -> Iterator[Row]:
        found, names = rows, list(columns)
        if run is not None:
            of_run = FilteredRelation("scores", condition=Q(scores__run=run))
            found = rows.annotate(of_run=of_run)
            names += ["of_run__score", "of_run__reason"]
        values = found.order_by("asked_at", "pk").values_list(*map(F, names))
        for *cells, parameters, extra, score, reason in (
            row if run else (*row, None, None) for row in values.iterator(AT_ONCE)
        ):
            graded = (str(run.public_id), score, reason) if run else ()
            yield (*cells, format_object(parameters), format_object(extra), *graded, FORMAT)

    return Export("model-answers", version, header, read, size["n"], size["length"])
