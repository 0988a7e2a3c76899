"""Define the filters and sort orders of the lists of runs, language models and prompts."""

from __future__ import annotations

from typing import ClassVar

import django_filters
from django import forms
from django.db.models import Count, IntegerField, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotations.models import QuestionSet
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
from evaluation.models import LanguageModel, LLMResponse, Prompt, PromptVersion, Run
from evaluation.models.runs import known_kinds
from evaluation.runs.reports.lists import count_alarms

# Sets that a form offers to choose from.
OFFERED = 200


class RunFilter(ListFilter):
    """Filters runs by name, question set, run type and state."""

    q = SearchFilter(
        "name", "version__question_set__name", label="Part of the name, or of the question set's"
    )
    state = django_filters.ChoiceFilter(
        label="State", choices=Run.State.choices, empty_label="All states"
    )
    kind = django_filters.ChoiceFilter(label="Kind", choices=known_kinds, empty_label="Any")
    question_set = django_filters.UUIDFilter(
        field_name="version__question_set__public_id", label="Question set"
    )

    ORDERS: ClassVar[dict[str, Order]] = {
        **AGE,
        **build_orders(
            "finished",
            "Finished last first",
            "Finished longest ago first",
            by="finished_at",
            text=True,
            may_be_empty=True,
        ),
        **build_orders(
            "set",
            "Question set, Z to A",
            "Question set, A to Z",
            by="version__question_set__name",
            text=True,
        ),
        **build_orders(
            "alarms",
            "Most alarms first",
            by="value",
            annotate=lambda rows: rows.annotate(value=count_alarms(OuterRef("pk"))),
        ),
    }
    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("Run"),
        Column("Kind"),
        Column("State", "", "-alarms"),
        Column("Question set", "set", "-set"),
        Column("Version"),
        Column("Started", "new", "-new"),
        Column("Finished", "finished", "-finished"),
    )

    class Meta(ListFilter.Meta):
        """Generates no further filters: every filter is declared above."""

        model = Run
        fields: ClassVar[list[str]] = []

    def offering(self, user: AnyUser) -> RunFilter:
        """Replace the filter's field for a set's id by a choice of the user's sets; one query."""
        sets = QuestionSet.objects.visible_to(user).filter(archived_at=None).order_by("name")
        ids = sets.values_list("public_id", "name")[:OFFERED]
        self.form.fields["question_set"].widget = forms.Select(choices=[("", "Any"), *ids])
        return self


def annotate_answers(rows: QuerySet[LanguageModel], user: AnyUser) -> QuerySet[LanguageModel]:
    """Annotate models with their answers and question sets (`n_answers`, `n_sets`) for a user."""
    answers = LLMResponse.objects.visible_to(user).filter(model=OuterRef("pk")).order_by()
    by_model = answers.values("model")

    def build_count(number: Count) -> Coalesce:
        return Coalesce(
            Subquery(by_model.annotate(n=number).values("n"), output_field=IntegerField()), 0
        )

    return rows.annotate(
        n_answers=build_count(Count("pk")),
        n_sets=build_count(Count("question__version__question_set", distinct=True)),
    )


class RunApiFilter(RunFilter):
    """`RunFilter` for the REST API, which names the run type `run_type` (formerly `kind`)."""

    run_type = django_filters.ChoiceFilter(
        field_name="kind", label="Run type", choices=known_kinds, empty_label="Any"
    )
    kind = django_filters.ChoiceFilter(
        label="The former name of `run_type`, until the next release.", choices=known_kinds
    )


class ModelFilter(ListFilter):
    """Filters language models by name, and by whether this platform can ask them."""

    q = SearchFilter("name", "family", "version", label="Part of name, family or version")
    asked = FlagFilter(method="by_spec", label="Asked from here")

    ORDERS: ClassVar[dict[str, Order]] = {
        **AGE,
        **build_orders("name", "Name, Z to A", "Name, A to Z", text=True),
        **build_orders("family", "Family, Z to A", "Family, A to Z", text=True),
        **build_orders("sets", "Most question sets first", by="n_sets"),
        **build_orders("answers", "Most answers first", "Fewest answers first", by="n_answers"),
    }
    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("Model", "name", "-name"),
        Column("Asked"),
        Column("Family", "family", "-family"),
        Column("Version"),
        Column("Size"),
        Column("Strategy"),
        Column("Question sets", "", "-sets", number=True),
        Column("Answers", "answers", "-answers", number=True),
    )

    class Meta(ListFilter.Meta):
        """Generates no further filters: every filter is declared above."""

        model = LanguageModel
        fields: ClassVar[list[str]] = []

    def by_spec(
        self, rows: QuerySet[LanguageModel], name: str, value: bool
    ) -> QuerySet[LanguageModel]:
        """Keep the models with a SPEC (which can be asked), or those without."""
        uploaded = Q(spec="")
        return rows.filter(~uploaded if value else uploaded)


def annotate_versions(rows: QuerySet[Prompt]) -> QuerySet[Prompt]:
    """Annotate prompts with the number of their versions and the time of the latest."""
    versions = PromptVersion.objects.filter(prompt=OuterRef("pk")).order_by().values("prompt")
    return rows.annotate(
        n_versions=Subquery(versions.annotate(n=Count("pk")).values("n")),
        changed_at=Subquery(versions.annotate(at=Max("created_at")).values("at")),
    )


class PromptFilter(ListFilter):
    """Filters stored prompts by name."""

    q = SearchFilter("name", label="Part of the name")

    ORDERS: ClassVar[dict[str, Order]] = {
        **AGE,
        **build_orders("name", "Name, Z to A", "Name, A to Z", text=True),
        **build_orders(
            "changed",
            "Changed last first",
            "Not changed for longest",
            by="changed_at",
            text=True,
            annotate=annotate_versions,
        ),
    }
    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("Prompt", "name", "-name"),
        Column("Versions", number=True),
        Column("Changed", "changed", "-changed"),
    )

    class Meta(ListFilter.Meta):
        """Generates no further filters: every filter is declared above."""

        model = Prompt
        fields: ClassVar[list[str]] = []
