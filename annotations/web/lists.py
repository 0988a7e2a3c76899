"""What the lists of question sets, teams and problems may be asked for."""

from __future__ import annotations

from typing import Any, ClassVar

import django_filters
from django.db.models import Count, Exists, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotations.models import (
    Admission,
    Category,
    Membership,
    Question,
    QuestionSet,
    QuestionSetVersion,
    Response,
    Submission,
    Team,
    WrittenProblem,
)
from annotations.models.access import Anybody
from annotations.web.filtering import (
    AGE,
    Column,
    FlagFilter,
    ListFilter,
    Order,
    SearchFilter,
    both_ways,
)
from annotations.web.paging import Keyset

ANSWERS = Response.objects.filter(
    status=Response.Status.TEXT,
    state=Response.State.SUBMITTED,
    submission__version__question_set=OuterRef("pk"),
)


def per_row(rows: QuerySet[Any, Any], field: str, *, distinct: bool = False) -> Coalesce:
    """Return the expression for how many rows belong to one of a list, 0 where there are none.

    `rows` name what they are counted by in `values`.
    """
    counted = rows.order_by().annotate(n=Count(field, distinct=distinct)).values("n")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def n_questions() -> Coalesce:
    """Return the expression for how many questions a set has over its versions."""
    of_set = Question.objects.filter(version__question_set=OuterRef("pk"))
    return per_row(of_set.values("version__question_set"), "external_id", distinct=True)


def n_workers() -> Coalesce:
    """Return the expression for how many people answered in a set."""
    of_set = Submission.objects.filter(version__question_set=OuterRef("pk"))
    return per_row(of_set.values("version__question_set"), "worker", distinct=True)


def n_answers() -> Coalesce:
    """Return the expression for how many answers with a text a set has."""
    return per_row(ANSWERS.values("submission__version__question_set"), "pk")


def counted_sets(rows: QuerySet[QuestionSet]) -> QuerySet[QuestionSet]:
    """Add the counts of the list, each by a query of its own inside the one query."""
    latest = QuestionSetVersion.objects.filter(question_set=OuterRef("pk")).order_by("-number")
    return rows.annotate(
        version=Subquery(latest.values("number")[:1]),
        published=Exists(latest.filter(published_at__isnull=False)),
        n_questions=n_questions(),
        n_workers=n_workers(),
        n_answers=n_answers(),
    )


class SetFilter(ListFilter):
    """Question sets by name, owner and whether anything was answered."""

    q = SearchFilter("name", label="Part of the name")
    whose = django_filters.ChoiceFilter(
        method="by_owner",
        label="Whose",
        choices=[("mine", "My own"), ("others", "Shared with me")],
        empty_label="Any",
    )
    answered = FlagFilter(method="by_answers", label="Has answers")

    ORDERS: ClassVar[dict[str, Order]] = {
        **AGE,
        **both_ways("name", "Name, Z to A", "Name, A to Z", text=True),
        **both_ways("changed", "Changed last first", by="updated_at", text=True),
        **both_ways(
            "questions",
            "Most questions first",
            by="value",
            annotate=lambda rows: rows.annotate(value=n_questions()),
        ),
        **both_ways(
            "workers",
            "Most workers first",
            by="value",
            annotate=lambda rows: rows.annotate(value=n_workers()),
        ),
        **both_ways(
            "answers",
            "Most answers first",
            "Fewest answers first",
            by="value",
            annotate=lambda rows: rows.annotate(value=n_answers()),
        ),
    }
    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("Name", "name", "-name"),
        Column("Version"),
        Column("Questions", "", "-questions", number=True),
        Column("Workers", "", "-workers", number=True),
        Column("Answers", "answers", "-answers", number=True),
        Column("Made", "new", "-new"),
    )

    class Meta(ListFilter.Meta):
        """Every filter is named above."""

        model = QuestionSet
        fields: ClassVar[list[str]] = []

    def __init__(self, data: Any, rows: QuerySet[QuestionSet], *, user: Anybody) -> None:
        self.user = user
        super().__init__(data, rows)

    def by_owner(self, rows: QuerySet[QuestionSet], name: str, value: str) -> QuerySet[QuestionSet]:
        """Keep one's own, or what others share."""
        own = Q(owner=self.user.pk)
        return rows.filter(own if value == "mine" else ~own)

    def by_answers(
        self, rows: QuerySet[QuestionSet], name: str, value: bool
    ) -> QuerySet[QuestionSet]:
        """Keep those with answers, or without."""
        return rows.filter(Exists(ANSWERS) if value else ~Exists(ANSWERS))


def n_members() -> Coalesce:
    """Return the expression for how many members a team has besides its owner."""
    accepted = Membership.objects.accepted().filter(team=OuterRef("pk"))
    return per_row(accepted.values("team"), "pk")


def counted_teams(rows: QuerySet[Team]) -> QuerySet[Team]:
    """Add how many people are in a team, its owner too, and how many sets are shared with it."""
    sets = QuestionSet.objects.filter(team=OuterRef("pk"))
    return rows.annotate(n_members=n_members() + 1, n_sets=per_row(sets.values("team"), "pk"))


class TeamFilter(ListFilter):
    """Teams by name."""

    q = SearchFilter("name", "owner__username", label="Part of the name, or of its owner's")

    ORDERS: ClassVar[dict[str, Order]] = {
        **AGE,
        **both_ways("name", "Name, Z to A", "Name, A to Z", text=True),
        **both_ways(
            "members",
            "Most members first",
            by="value",
            annotate=lambda rows: rows.annotate(value=n_members()),
        ),
    }
    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("Name", "name", "-name"),
        Column("Owner"),
        Column("Members", "", "-members", number=True),
        Column("Question sets", number=True),
    )

    class Meta(ListFilter.Meta):
        """Every filter is named above."""

        model = Team
        fields: ClassVar[list[str]] = []


class ProblemFilter(ListFilter):
    """Problems that people write by their words, author, state and reason."""

    q = SearchFilter("text", "author__username", label="Part of the words, or of the author's name")
    state = django_filters.ChoiceFilter(
        label="State", choices=WrittenProblem.State.choices, empty_label="Any"
    )
    category = django_filters.ChoiceFilter(
        label="Reason", choices=Category.choices, empty_label="Any"
    )

    ORDERS: ClassVar[dict[str, Order]] = {
        **AGE,
        **both_ways(
            "changed", "Changed last first", "Not changed for longest", by="updated_at", text=True
        ),
    }
    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("Problem", "new", "-new"),
        Column("Text"),
        Column("Reason"),
        Column("Author"),
        Column("State"),
        Column("Last change", "changed", "-changed"),
    )

    class Meta(ListFilter.Meta):
        """Every filter is named above."""

        model = WrittenProblem
        fields: ClassVar[list[str]] = []


class AdmissionFilter(ListFilter):
    """Who may take part by their id, why, and whether a score put them on the list."""

    q = SearchFilter("external_id", "why", label="Part of the id, or of the reason")
    by_score = FlagFilter(field_name="by_score", label="By an earlier score")

    ORDERS: ClassVar[dict[str, Order]] = {
        **AGE,
        "-worker": Order(Keyset("id-z", ("-external_id",), texts=("external_id",)), "Id, Z to A"),
        "worker": Order(Keyset("id-a", ("external_id",), texts=("external_id",)), "Id, A to Z"),
    }
    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("Id", "worker", "-worker"),
        Column("Why"),
        Column("Put there"),
    )

    class Meta(ListFilter.Meta):
        """Every filter is named above."""

        model = Admission
        fields: ClassVar[list[str]] = []
