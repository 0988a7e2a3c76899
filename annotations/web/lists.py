"""Filters of the lists of question sets, teams, written problems and admissions."""

from __future__ import annotations

from typing import Any, ClassVar

import django_filters
from django.db.models import Count, Exists, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotations.models import (
    Admission,
    CandidateQuestion,
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
from annotations.models.access import AnyUser
from annotations.web.filtering import (
    AGE,
    Column,
    FlagFilter,
    ListFilter,
    Order,
    SearchFilter,
    build_orders,
)
from annotations.web.paging import Keyset

ANSWERS = Response.objects.filter(
    status=Response.Status.TEXT,
    state=Response.State.SUBMITTED,
    submission__version__question_set=OuterRef("pk"),
)
"""Submitted answers with a text, of the set of an outer query."""


def build_count_expression(
    rows: QuerySet[Any, Any], field: str, *, distinct: bool = False
) -> Coalesce:
    """Return an SQL expression for the number of `rows` that refer to a listed row.

    `rows` name the grouping column in `values`.
    """
    # Without an order, whose columns would be added to the grouping and split the counts.
    counts = rows.order_by().annotate(n=Count(field, distinct=distinct)).values("n")
    # No row, no group: the subquery is then NULL, which sorts and prints as no number.
    return Coalesce(Subquery(counts, output_field=IntegerField()), 0)


def build_question_count() -> Coalesce:
    """Return an SQL expression for the number of questions of a question set, over its versions."""
    questions = Question.objects.filter(version__question_set=OuterRef("pk"))
    # By their ids in files, which the versions share: a later version repeats the questions.
    return build_count_expression(
        questions.values("version__question_set"), "external_id", distinct=True
    )


def build_worker_count() -> Coalesce:
    """Return an SQL expression for the number of workers who answered in a question set."""
    submissions = Submission.objects.filter(version__question_set=OuterRef("pk"))
    return build_count_expression(
        submissions.values("version__question_set"), "worker", distinct=True
    )


def build_answer_count() -> Coalesce:
    """Return an SQL expression for the number of non-empty answers in a question set."""
    return build_count_expression(ANSWERS.values("submission__version__question_set"), "pk")


def annotate_set_counts(rows: QuerySet[QuestionSet]) -> QuerySet[QuestionSet]:
    """Return question sets annotated with the latest version and their counts, in one query."""
    latest = QuestionSetVersion.objects.filter(question_set=OuterRef("pk")).order_by("-number")
    return rows.annotate(
        version=Subquery(latest.values("number")[:1]),
        published=Exists(latest.filter(published_at__isnull=False)),
        # Subqueries, because joins over several relations would multiply the counts.
        n_questions=build_question_count(),
        n_workers=build_worker_count(),
        n_answers=build_answer_count(),
    )


class QuestionSetFilter(ListFilter):
    """Filter of question sets by name, owner, and whether they have answers."""

    q = SearchFilter("name", label="Part of the name")
    whose = django_filters.ChoiceFilter(
        method="filter_by_owner",
        label="Whose",
        choices=[("mine", "My own"), ("others", "Shared with me")],
        empty_label="Any",
    )
    answered = FlagFilter(method="filter_by_answers", label="Has answers")

    ORDERS: ClassVar[dict[str, Order]] = {
        **AGE,
        **build_orders("name", "Name, Z to A", "Name, A to Z", text=True),
        **build_orders("changed", "Changed last first", by="updated_at", text=True),
        **build_orders(
            "questions",
            "Most questions first",
            by="value",
            annotate=lambda rows: rows.annotate(value=build_question_count()),
        ),
        **build_orders(
            "workers",
            "Most workers first",
            by="value",
            annotate=lambda rows: rows.annotate(value=build_worker_count()),
        ),
        **build_orders(
            "answers",
            "Most answers first",
            "Fewest answers first",
            by="value",
            annotate=lambda rows: rows.annotate(value=build_answer_count()),
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
        """Options of the filter; no filters are derived from model fields."""

        model = QuestionSet
        fields: ClassVar[list[str]] = []

    def __init__(self, data: Any, rows: QuerySet[QuestionSet], *, user: AnyUser) -> None:
        self.user = user
        super().__init__(data, rows)

    def filter_by_owner(
        self, rows: QuerySet[QuestionSet], name: str, value: str
    ) -> QuerySet[QuestionSet]:
        """Return the user's own question sets or those of others, by `value`."""
        own = Q(owner=self.user.pk)
        return rows.filter(own if value == "mine" else ~own)

    def filter_by_answers(
        self, rows: QuerySet[QuestionSet], name: str, value: bool
    ) -> QuerySet[QuestionSet]:
        """Return the question sets with answers if `value` is true, else those without."""
        return rows.filter(Exists(ANSWERS) if value else ~Exists(ANSWERS))


def build_member_count() -> Coalesce:
    """Return an SQL expression for the number of members of a team, without its owner."""
    accepted = Membership.objects.filter_accepted().filter(team=OuterRef("pk"))
    return build_count_expression(accepted.values("team"), "pk")


def annotate_team_counts(rows: QuerySet[Team]) -> QuerySet[Team]:
    """Return teams annotated with their numbers of people and question sets."""
    # The owner belongs to the team without a membership, and is counted as one more.
    sets = QuestionSet.objects.filter(team=OuterRef("pk"))
    return rows.annotate(
        n_members=build_member_count() + 1, n_sets=build_count_expression(sets.values("team"), "pk")
    )


class TeamFilter(ListFilter):
    """Filter of teams by name."""

    q = SearchFilter("name", "owner__username", label="Part of the name, or of its owner's")

    ORDERS: ClassVar[dict[str, Order]] = {
        **AGE,
        **build_orders("name", "Name, Z to A", "Name, A to Z", text=True),
        **build_orders(
            "members",
            "Most members first",
            by="value",
            annotate=lambda rows: rows.annotate(value=build_member_count()),
        ),
    }
    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("Name", "name", "-name"),
        Column("Owner"),
        Column("Members", "", "-members", number=True),
        Column("Question sets", number=True),
    )

    class Meta(ListFilter.Meta):
        """Options of the filter; no filters are derived from model fields."""

        model = Team
        fields: ClassVar[list[str]] = []


LAST_CHANGE = build_orders(
    "changed", "Changed last first", "Not changed for longest", by="updated_at", text=True
)


class CandidateFilter(ListFilter):
    """Filter of candidate questions by text or source, and by state."""

    q = SearchFilter("text", "source", label="Part of the question, or of its source")
    state = django_filters.ChoiceFilter(
        label="State", choices=CandidateQuestion.State.choices, empty_label="Any"
    )

    ORDERS: ClassVar[dict[str, Order]] = {
        **AGE,
        **LAST_CHANGE,
    }
    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("Candidate", "new", "-new"),
        Column("Question"),
        Column("Answers"),
        Column("State"),
        Column("Model"),
        Column("Last change", "changed", "-changed"),
    )

    class Meta(ListFilter.Meta):
        """Options of the filter; no filters are derived from model fields."""

        model = CandidateQuestion
        fields: ClassVar[list[str]] = []


class ProblemFilter(ListFilter):
    """Filter of written problems by text, author, state and category."""

    q = SearchFilter("text", "author__username", label="Part of the words, or of the author's name")
    state = django_filters.ChoiceFilter(
        label="State", choices=WrittenProblem.State.choices, empty_label="Any"
    )
    category = django_filters.ChoiceFilter(
        label="Reason", choices=Category.choices, empty_label="Any"
    )

    ORDERS: ClassVar[dict[str, Order]] = {
        **AGE,
        **LAST_CHANGE,
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
        """Options of the filter; no filters are derived from model fields."""

        model = WrittenProblem
        fields: ClassVar[list[str]] = []


class AdmissionFilter(ListFilter):
    """Filter of the admission list by worker id, reason, and admission by score."""

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
        """Options of the filter; no filters are derived from model fields."""

        model = Admission
        fields: ClassVar[list[str]] = []
