"""Search, filter and sort the workers of the payment list."""

from __future__ import annotations

from typing import Any, ClassVar

import django_filters
from django.db.models import Q

from annotations.ledger.appeals import filter_appealed
from annotations.models import PanelStatus, Submission
from annotations.web.filtering import Column, ListFilter, Order, SearchFilter, build_orders
from annotations.web.paging import Keyset
from evaluation.payments.report import (
    APPEALS,
    DECIDED,
    ENDED,
    FAILED_CHECKS,
    NO_STATUS,
    WAITING,
    PaymentRecords,
    Rows,
    build_decision_condition,
)
from evaluation.payments.storage.rules import ACTIONS


class PayFilter(ListFilter):
    """Filters of the payment list: worker id, decision, suggestion, status, outcome, appeal."""

    q = SearchFilter("worker__external_id", label="Part of the worker's id")
    decided = django_filters.ChoiceFilter(
        method="filter_by_decision",
        label="Decision",
        choices=list(DECIDED.items()),
        empty_label="Any",
    )
    suggested = django_filters.ChoiceFilter(
        method="filter_by_suggestion",
        label="Suggested",
        choices=list(ACTIONS.items()),
        empty_label="Any",
    )
    status = django_filters.ChoiceFilter(
        method="filter_by_status",
        label="On the panel",
        choices=[*PanelStatus.Status.choices, (NO_STATUS, "not known")],
        empty_label="Any",
    )
    ended = django_filters.ChoiceFilter(
        method="filter_by_end", label="Ended", choices=list(ENDED.items()), empty_label="Any"
    )
    appeal = django_filters.ChoiceFilter(
        method="filter_by_appeal", label="Appeal", choices=list(APPEALS.items()), empty_label="Any"
    )

    # Ids repeat between panels: the public id makes the order, and so each page, unique.
    ORDERS: ClassVar[dict[str, Order]] = {
        "worker": Order(
            Keyset("pay-a", ("name", "public_id"), texts=("name",)), "Worker's id, A to Z"
        ),
        "-worker": Order(
            Keyset("pay-z", ("-name", "public_id"), texts=("name",)), "Worker's id, Z to A"
        ),
        **build_orders("score", "Highest score first", "Lowest score first", may_be_empty=True),
        **build_orders(
            "contrast",
            "Highest question contrast first",
            "Lowest question contrast first",
            may_be_empty=True,
        ),
        **build_orders("answers", "Most answers first", "Fewest answers first"),
    }
    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("Worker", "worker", "-worker"),
        Column("Suggested"),
        Column("Decision"),
        Column("Raw score", "score", "-score", number=True),
        Column("Answers", "answers", "-answers", number=True),
        Column("Minutes", number=True),
        Column("On the panel"),
        Column("Evidence"),
    )

    class Meta(ListFilter.Meta):
        """Filter settings: no filters besides those declared above."""

        model = Submission
        fields: ClassVar[list[str]] = []

    def __init__(self, data: Any, desk: PaymentRecords) -> None:
        self.desk = desk
        super().__init__(data, desk.select_submissions())

    def count_rows(self, rows: Rows) -> int:
        """Return the number of rows; without a filter it needs no query of its own."""
        if self.is_active:
            return super().count_rows(rows)
        return self.desk.n_all

    def filter_by_decision(self, rows: Rows, name: str, value: str) -> Rows:
        """Return the submissions with this decision, a key of `DECIDED`."""
        return rows.filter(build_decision_condition(value))

    def filter_by_suggestion(self, rows: Rows, name: str, value: str) -> Rows:
        """Return the submissions with this suggested action."""
        # Suggestions are computed in Python, so all of them are needed to filter by one.
        suggestions = self.desk.suggest_actions()
        return rows.filter(
            pk__in=[key for key, suggested in suggestions.items() if suggested.action == value]
        )

    def filter_by_status(self, rows: Rows, name: str, value: str) -> Rows:
        """Return the submissions with this panel status, or those of unknown status."""
        return rows.filter(Q(status__isnull=True) if value == NO_STATUS else Q(status=value))

    def filter_by_end(self, rows: Rows, name: str, value: str) -> Rows:
        """Return the submissions in a state, or the submitted ones that failed attention checks."""
        if value == FAILED_CHECKS:
            return rows.filter(state=Submission.State.SUBMITTED, failed_checks=True)
        return rows.filter(state=value)

    def filter_by_appeal(self, rows: Rows, name: str, value: str) -> Rows:
        """Return the submissions with an appeal, or only those with an unanswered one."""
        return filter_appealed(rows, unanswered=value == WAITING)


class PayPageFilter(PayFilter):
    """Filters of the payment page; its default order puts submissions that need review first."""

    ORDERS: ClassVar[dict[str, Order]] = {
        "look": Order(
            Keyset("pay-look", ("place", "name", "public_id"), texts=("name",)),
            "What needs a look first",
        ),
        **PayFilter.ORDERS,
    }

    def apply_order(self, rows: Rows) -> tuple[Rows, Keyset]:
        """Return (rows with the columns that the requested order needs, that order)."""
        if self.sort == "look":
            rows = rows.annotate(place=self.desk.build_review_order())
        return super().apply_order(rows)
