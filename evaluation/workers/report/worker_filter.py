"""Filters and sort orders of the worker list, for its page and the API."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

import django_filters
from django import forms
from django.db.models import Q, QuerySet

from annotations.models import QuestionSet, Submission, Worker
from annotations.web.filtering import Column, FlagFilter, ListFilter, Order
from annotations.web.paging import Keyset
from evaluation.workers.report.workers import REPEATED, Workers

# Panels and sets that a form offers to choose from.
OFFERED = 200


def by(name: str, *fields: str, label: str, value: str = "", texts: tuple[str, ...] = ()) -> Order:
    """Return a sort order by fields; `value` is the number that `Workers` must annotate."""
    keyset = Keyset(f"workers-{name}", (*fields, "public_id"), empty_last=bool(value), texts=texts)
    return Order(keyset, label)


class WorkerFilter(ListFilter):
    """Filter of workers by name, panel, question set, alarms and scores."""

    q = django_filters.CharFilter(
        field_name="external_id", lookup_expr="icontains", label="Part of the id", max_length=255
    )
    panel = django_filters.CharFilter(label="Panel", max_length=100)
    question_set = django_filters.UUIDFilter(method="of_set", label="Question set")
    alarms = django_filters.ChoiceFilter(
        method="with_alarms",
        label="Alarms",
        choices=[
            ("any", "Named by an alarm"),
            ("none", "Not named"),
            ("repeated", "Copies in two sets or more"),
        ],
        empty_label="Any",
    )
    excluded = FlagFilter(method="by_exclusion", label="Vote left out of a run")
    notes = FlagFilter(method="with_notes", label="Has notes")
    sets = django_filters.NumberFilter(
        method="by_sets", label="At least so many sets", min_value=1, max_value=100_000
    )
    score_from = django_filters.NumberFilter(
        method="by_score", label="Mean score from", min_value=-1000, max_value=1000
    )
    score_to = django_filters.NumberFilter(
        method="by_score", label="Mean score to", min_value=-1000, max_value=1000
    )

    ORDERS: ClassVar[dict[str, Order]] = {
        "-new": Order(Keyset("workers-new", ("-public_id",)), "Newest first"),
        "-seen": by("-seen", "-value", label="Last seen first", value="x", texts=("value",)),
        "seen": by("seen", "value", label="Not seen for longest", value="x", texts=("value",)),
        "name": by("name", "external_id", label="Name, A to Z", texts=("external_id",)),
        "-name": by("-name", "-external_id", label="Name, Z to A", texts=("external_id",)),
        "-latest": by("-latest", "-value", label="Latest score, best first", value="x"),
        "latest": by("latest", "value", label="Latest score, worst first", value="x"),
        "-mean": by("-mean", "-value", label="Mean score, best first", value="x"),
        "mean": by("mean", "value", label="Mean score, worst first", value="x"),
        "-alarms": by("-alarms", "-value", label="Most alarms first", value="x"),
        "-sets": by("-sets", "-value", label="Most sets first", value="x"),
        "sets": by("sets", "value", label="Fewest sets first", value="x"),
        "-answers": by("-answers", "-value", label="Most answers first", value="x"),
        "answers": by("answers", "value", label="Fewest answers first", value="x"),
        "-notes": by("-notes", "-value", label="Most notes first", value="x"),
    }
    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("Worker", "name", "-name"),
        Column("Sets", "sets", "-sets", number=True),
        Column("Answers", "answers", "-answers", number=True, more=True),
        Column("Latest score", "latest", "-latest", number=True),
        Column("Mean score", "mean", "-mean", number=True),
        Column("Alarms", "", "-alarms"),
        Column("Notes", "", "-notes", number=True, more=True),
        Column("Last seen", "seen", "-seen", more=True),
    )

    VALUES: ClassVar[dict[str, str]] = {
        "seen": "last_seen",
        "latest": "latest",
        "mean": "mean",
        "alarms": "n_alarms",
        "sets": "n_sets",
        "answers": "n_answers",
        "notes": "n_notes",
    }

    class Meta(ListFilter.Meta):
        """Rows are workers; every filter is named above."""

        model = Worker
        fields: ClassVar[list[str]] = []

    def __init__(self, data: Any = None, *, workers: Workers, **kwargs: Any) -> None:
        self.workers = workers
        super().__init__(data, workers.rows(), **kwargs)

    def offer(self) -> None:
        """Offer panels and question sets as choices in the form; one query."""
        names = self.workers.panels()[:OFFERED]
        ids = self.workers.sets[:OFFERED]
        fields = self.form.fields
        fields["panel"].widget = forms.Select(choices=[("", "Any"), *((n, n) for n in names)])
        fields["question_set"].widget = forms.Select(choices=[("", "Any"), *ids])

    def in_order(self, rows: QuerySet[Worker]) -> tuple[QuerySet[Worker], Keyset]:
        """Return rows annotated with their sort value, and the sort order."""
        rows, keyset = super().in_order(rows)
        value = self.VALUES.get(self.sort.removeprefix("-"))
        return (rows.annotate(value=getattr(self.workers, value)()) if value else rows), keyset

    def of_set(self, rows: QuerySet[Worker], name: str, value: UUID) -> QuerySet[Worker]:
        """Select workers who answered in a question set that the user may read."""
        sets = QuestionSet.objects.visible_to(self.workers.user).filter(public_id=value)
        answered = Submission.objects.filter(
            version__in=self.workers.versions, version__question_set__in=sets.values("pk")
        )
        return rows.filter(pk__in=answered.values("worker"))

    def with_alarms(self, rows: QuerySet[Worker], name: str, value: str) -> QuerySet[Worker]:
        """Select workers named by alarms, by none, or as copying in two or more sets."""
        if value == "repeated":
            return rows.alias(copies=self.workers.n_copies()).filter(copies__gte=REPEATED)
        named = self.workers.named().values("worker")
        return rows.exclude(pk__in=named) if value == "none" else rows.filter(pk__in=named)

    def by_exclusion(self, rows: QuerySet[Worker], name: str, value: bool) -> QuerySet[Worker]:
        """Select workers whose vote a run left out, or all others."""
        left_out = Q(pk__in=self.workers.excluded())
        return rows.filter(left_out if value else ~left_out)

    def with_notes(self, rows: QuerySet[Worker], name: str, value: bool) -> QuerySet[Worker]:
        """Select workers with notes, or without."""
        noted = Q(pk__in=self.workers.notes().values("worker"))
        return rows.filter(noted if value else ~noted)

    def by_sets(self, rows: QuerySet[Worker], name: str, value: int) -> QuerySet[Worker]:
        """Select workers who answered in at least this many question sets."""
        return rows.alias(in_sets=self.workers.n_sets()).filter(in_sets__gte=value)

    def by_score(self, rows: QuerySet[Worker], name: str, value: float) -> QuerySet[Worker]:
        """Select workers whose mean score is at least, or at most, this number."""
        lookup = "gte" if name == "score_from" else "lte"
        mean = {f"{name}_mean": self.workers.mean()}
        return rows.alias(**mean).filter(**{f"{name}_mean__{lookup}": float(value)})
