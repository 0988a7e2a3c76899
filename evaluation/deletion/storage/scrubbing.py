"""Remove texts from all stored copies: run results, alarms and prompts.

What an answer said stands in many places that do not hang on its row. Each place is looked through
once, some rows at a time, whatever kind of run wrote it, so that a new kind needs no line here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Model, Q, QuerySet

from annotations.models import IdempotentRequest, QuestionSet, Response
from evaluation.models import (
    Alarm,
    AlarmReview,
    AnswerFact,
    CrowdFact,
    Embedding,
    Exhibit,
    LLMResponse,
    RawReply,
    Run,
    RunData,
    WorkerVerdict,
    text_hash,
)
from evaluation.runs.flow.fact_slots import MEANING

ERASED = "(erased)"
"""What stands where a text was."""
DISTINCT = 12
"""Characters from which on a text is recognised inside a longer one; a shorter one, such as "yes",
would be found in sentences that nobody copied, and goes where it stands alone or on a line of its
own."""
QUOTED = 60
"""Characters after which a message about a text cuts it off."""
ROWS = 50
"""Rows of one transaction: those of results may be large."""
ASKED = 200
"""Texts looked up by one query."""


class Texts:
    """Texts to remove from all stored values."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.whole: set[str] = set()
        inside: set[str] = set()
        for text in texts:
            line = " ".join(text.split())
            forms = {text, text.strip(), line} - {""}
            self.whole |= forms
            if len(line) >= DISTINCT:
                inside |= {kept for form in forms for kept in _written(form)}
                inside |= set(_written(line[:QUOTED])) if len(line) > QUOTED else set()
        # The longest first: the beginning of a text must not be all that goes of it.
        self.inside = sorted(inside, key=len, reverse=True)
        self._shortest = min(map(len, self.inside), default=0)

    def without(self, value: Any) -> Any:
        """Return a JSON value without the texts; the same object if it contained none."""
        if isinstance(value, str):
            return self._cut(value)
        if isinstance(value, list):
            made = [self.without(one) for one in value]
            return made if any(a is not b for a, b in zip(made, value, strict=True)) else value
        if isinstance(value, dict):
            pairs = {key: self.without(one) for key, one in value.items()}
            return pairs if any(pairs[key] is not value[key] for key in value) else value
        return value

    def _cut(self, value: str) -> str:
        if value.strip() in self.whole:
            return ERASED
        made = value
        if self.inside and len(value) >= self._shortest:
            for text in self.inside:
                if text in made:
                    made = made.replace(text, ERASED)
        if "\n" in made:
            lines = made.split("\n")
            cut = [ERASED if line.strip() in self.whole else line for line in lines]
            made = made if cut == lines else "\n".join(cut)
        return made if made != value else value


def _written(text: str) -> list[str]:
    """Return the forms of a text in storage: plain, and escaped as in stored JSON."""
    return [text, *(json.dumps(text, ensure_ascii=plain)[1:-1] for plain in (True, False))]


Place = tuple[Callable[[Sequence[int]], QuerySet[Any, Any]], tuple[str, ...]]
RUN = "run__version__in"

PLACES: Mapping[str, Place] = {
    "runs": (
        lambda versions: _rows(Run, version__in=versions),
        ("summary", "warnings", "reasons", "error", "notes"),
    ),
    "run data": (lambda versions: _rows(RunData, **{RUN: versions}), ("data",)),
    "alarms": (
        lambda versions: _rows(Alarm, **{RUN: versions}),
        ("message", "evidence", "outcome"),
    ),
    "reviews": (lambda versions: _rows(AlarmReview, **{f"alarm__{RUN}": versions}), ("note",)),
    "verdicts": (
        lambda versions: _rows(
            WorkerVerdict,
            question_set__in=QuestionSet.objects.filter(versions__in=versions).values("pk"),
        ),
        ("reason",),
    ),
    "exhibits": (lambda versions: _rows(Exhibit, **{RUN: versions}), ("key", "shown")),
    "claims": (
        lambda versions: _rows(CrowdFact, slot=MEANING, **{RUN: versions}),
        ("value",),
    ),
    "claims beside answers": (
        lambda versions: _rows(AnswerFact, slot=MEANING, **{RUN: versions}),
        ("crowd",),
    ),
    "replies": (
        lambda versions: _rows(LLMResponse, question__version__in=versions),
        ("prompt", "text", "parameters", "extra"),
    ),
    "raw replies": (
        lambda versions: _rows(RawReply, response__question__version__in=versions),
        ("request", "reply"),
    ),
    "requests": (lambda versions: _rows(IdempotentRequest), ("body",)),
}
"""Where copies of texts stand: the rows by the versions that the texts answered, and the fields.

What is kept for good, decisions and the audit, quotes no answer by itself."""


def scrub(place: str, texts: Texts, versions: Sequence[int], after: int) -> int | None:
    """Remove texts from a batch of rows after key `after`.

    Return the last key or None at the end.
    """
    rows_of, fields = PLACES[place]
    rows = list(rows_of(versions).filter(pk__gt=after).order_by("pk").only("pk", *fields)[:ROWS])
    for row in rows:
        cut = {field: texts.without(getattr(row, field)) for field in fields}
        changed = {field: made for field, made in cut.items() if made is not getattr(row, field)}
        if changed:
            _rows(type(row), pk=row.pk).update(**changed)
    return rows[-1].pk if len(rows) == ROWS else None


def only_theirs(texts: Iterable[str], responses: Sequence[int], **where: Any) -> set[str]:
    """Return the texts that no other worker's or model's answer repeats exactly.

    `where` narrows the answers of people and models down by the same words as `PLACES`: versions.
    """
    own = set(texts)
    versions = where.get("versions")
    people = Response.objects.exclude(pk__in=responses)
    models = LLMResponse.objects.all()
    if versions is not None:
        people = people.filter(submission__version__in=versions)
        models = models.filter(question__version__in=versions)
    for some in _some(sorted(own)):
        for rows in (people, models):
            own -= set(rows.filter(text__in=some).values_list("text", flat=True))
    return own


def drop_vectors(texts: Iterable[str]) -> int:
    """Delete the vectors of texts under every embedder; return their number."""
    n = 0
    for some in _some(sorted(texts)):
        n += Embedding.objects.filter(text_hash__in=[text_hash(text) for text in some]).delete()[0]
    return n


def _some(items: Sequence[str]) -> Iterable[Sequence[str]]:
    for first in range(0, len(items), ASKED):
        yield items[first : first + ASKED]


def _rows(model: type[Model], *conditions: Q, **named: Any) -> QuerySet[Any, Any]:
    """Return all rows of a table, including those of models with restricted managers."""
    rows: QuerySet[Any, Any] = QuerySet(model).filter(*conditions, **named)
    return rows
