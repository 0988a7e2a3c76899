"""Lists of runs, models and prompts, their filters, and tables for a spreadsheet.

Build the database rows that lists of runs show. Define the filters and sort orders of the lists of
runs, language models and prompts. Count the replies of each model that a study asked, by status and
error. Define tables that users open in a spreadsheet. Read the declared result tables of a run, for
downloads, the REST API and pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import django_filters
from django import forms
from django.db.models import Count, Exists, IntegerField, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce

from annotations.exchange.writing.formats import Table as Table
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
from evaluation.core.messages.reasons import FaultTexts, get_fault_texts
from evaluation.models import (
    Alarm,
    AuditItem,
    HumanJudgement,
    LanguageModel,
    LLMResponse,
    Prompt,
    PromptVersion,
    Run,
    RunOfRecord,
)
from evaluation.models.alarms import SETTLED
from evaluation.models.runs import known_kinds
from evaluation.runs.flow.asking.summary import Usage
from evaluation.runs.flow.stored import ResultTable, RunSummary
from evaluation.runs.steps.checkpoints import read_result_table

# What a list does not show, and would be long.
LONG = ("summary", "reasons", "warnings", "signature", "notes")


def annotate_runs_for_list(rows: QuerySet[Run]) -> QuerySet[Run]:
    """Annotate runs with what a list shows (embedder, alarms, audits); defer long fields.

    `is_of_record` marks an official run. `n_drawn` counts the answers that experts are to grade,
    `n_judged` those that one graded.
    """
    return rows.defer(*LONG).annotate(
        embedder=KT("parameters__embedder"),
        is_of_record=Exists(RunOfRecord.objects.filter(run=OuterRef("pk"))),
        n_alarms=build_alarm_count(OuterRef("pk")),
        n_drawn=_build_drawn_count(AuditItem.objects.all()),
        n_judged=_build_drawn_count(
            AuditItem.objects.filter(
                Exists(HumanJudgement.objects.filter(response=OuterRef("response")))
                | Exists(HumanJudgement.objects.filter(llm_response=OuterRef("llm_response")))
            )
        ),
    )


def _build_drawn_count(items: QuerySet[AuditItem]) -> Coalesce:
    """Return the database expression that counts those of `items` in a run's sample."""
    # A subquery for each count: joins would multiply the rows and need DISTINCT.
    mine = items.filter(audit__run=OuterRef("pk")).order_by().values("audit")
    counted = mine.annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def filter_unarchived_runs(rows: QuerySet[Run]) -> QuerySet[Run]:
    """Return the runs that are not archived and whose question set is not archived."""
    return rows.filter(archived_at=None, version__question_set__archived_at=None)


def build_alarm_count(run: Any) -> Coalesce:
    """Return the database expression that counts a run's unresolved alarms."""
    ringing = Alarm.objects.filter(run=run, severity=Alarm.Severity.ALARM).order_by()
    ringing = ringing.exclude(SETTLED)
    counted = ringing.values("run").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


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
    kind = django_filters.ChoiceFilter(label="Type", choices=known_kinds, empty_label="Any")
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
            annotate=lambda rows: rows.annotate(value=build_alarm_count(OuterRef("pk"))),
        ),
    }
    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("Run"),
        Column("Type"),
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

    def offer_question_sets(self, user: AnyUser) -> RunFilter:
        """Offer the user's sets in place of the field for a set's id, and return the filter."""
        sets = QuestionSet.objects.visible_to(user).filter(archived_at=None).order_by("name")
        ids = sets.values_list("public_id", "name")[:OFFERED]
        self.form.fields["question_set"].widget = forms.Select(choices=[("", "Any"), *ids])
        return self


def annotate_answer_counts(rows: QuerySet[LanguageModel], user: AnyUser) -> QuerySet[LanguageModel]:
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
    asked = FlagFilter(method="filter_by_spec", label="Asked from here")

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

    def filter_by_spec(
        self, rows: QuerySet[LanguageModel], name: str, value: bool
    ) -> QuerySet[LanguageModel]:
        """Return the models that can be asked because they have a SPEC, or those without one."""
        uploaded = Q(spec="")
        return rows.filter(~uploaded if value else uploaded)


def annotate_version_counts(rows: QuerySet[Prompt]) -> QuerySet[Prompt]:
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
            annotate=annotate_version_counts,
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


@dataclass(frozen=True)
class ReplyCounts:
    """Counts of one model's replies in a step of a study, its errors by kind, most first."""

    usage: Usage
    errors: tuple[tuple[int, FaultTexts], ...]


def list_reply_counts(summary: RunSummary) -> list[ReplyCounts]:
    """Return the counts of replies of each model and step; [] for a run without such counts."""
    usage: Sequence[Usage] = summary.get_model_usage()
    return [
        ReplyCounts(
            one,
            tuple(
                (count, get_fault_texts(code))
                for code, count in sorted(one.error_codes.items(), key=lambda item: -item[1])
            ),
        )
        for one in usage
        if one.replies
    ]


def build_table_readers(tables: Iterable[ResultTable[Any]]) -> dict[str, Callable[[Run], Table]]:
    """Return functions that read the declared tables from a finished run, by table name."""
    return {table.name: _build_table_reader(table) for table in tables}


def _build_table_reader(table: ResultTable[Any]) -> Callable[[Run], Table]:
    """Return a function that reads one declared table from a finished run."""

    def read(run: Run) -> Table:
        return Table(table.columns, table.build_cells(read_result_table(run, table)))

    return read
