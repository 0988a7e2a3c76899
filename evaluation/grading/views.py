"""Menu pages of a grading, its start page, and its columns in the model overview.

`results.views` has the views of the pages, which need addresses.
"""

from __future__ import annotations

from django.db.models import Count

from annotations.languages import get_english_language_name
from annotations.models import GRADED, Question, QuestionSetVersion, Response
from evaluation.grading.summary import read_summary
from evaluation.models import Run
from evaluation.runs.flow.stored import Aspect, Measure, MeasureSource, build_column_reader
from evaluation.runs.result_pages import annotate_other_gradings
from evaluation.runs.run_types.kind import DataReadiness, Page, Start

PEOPLE, MODELS, TRUST, MORE = "People", "Models", "Trust", "More"


def has_models(run: Run) -> bool:
    """Return whether a run scored at least one language model."""
    return bool(read_summary(run).get_shown_counts().get("models"))


def has_other_gradings(run: Run) -> bool:
    """Return whether the question set has another finished grading to compare with."""
    if hasattr(run, "has_other_gradings"):  # the query read it: `annotate_other_gradings`
        return bool(run.has_other_gradings)
    return annotate_other_gradings(Run.objects.filter(pk=run.pk)).get().has_other_gradings


def is_later_wave(run: Run) -> bool:
    """Return whether the run's question set repeats an earlier one as a new wave."""
    return run.version.question_set.earlier_wave_id is not None


PAGES = (
    Page("", "Decide", address="results-decision"),
    Page("people", "People and questions", address="results-people", group=PEOPLE),
    Page("triage", "Decide about people", address="results-triage", group=PEOPLE),
    Page("alarms", "Alarms", address="results-alarms", group=PEOPLE),
    Page("heat-map", "Heat map", address="results-heat-map", group=PEOPLE),
    Page("disagreement", "Disagreement", address="results-disagreement"),
    Page("models", "Language models", address="results-models", group=MODELS, offered=has_models),
    Page(
        "comparison",
        "Models compared",
        address="results-comparison",
        group=MODELS,
        offered=has_models,
    ),
    Page("trust", "Can I trust this?", address="results-trust", group=TRUST),
    Page("audit", "Expert check", address="results-audit", group=TRUST),
    Page("experts", "Experts' grades", address="results-experts", group=TRUST),
    Page("planner", "How many more answers?", address="results-planner", group=TRUST),
    Page(
        "against",
        "Against another run",
        address="results-against",
        group=MORE,
        offered=has_other_gradings,
    ),
    Page(
        "waves",
        "Compare with an earlier wave",
        address="results-waves",
        group=MORE,
        offered=is_later_wave,
    ),
    Page("summary", "To print", address="results-summary", group=MORE),
)


def build_language_warning(version: QuestionSetVersion | None) -> DataReadiness | None:
    """Return the warning that answers are in several languages; None if they are in one.

    A language is that in which the question was read. Choices are the same in all languages.
    """
    if version is None or not version.languages:
        return None
    free = Response.objects.filter(
        submission__version=version,
        state=Response.State.SUBMITTED,
        status=Response.Status.TEXT,
        question__role__in=GRADED,
    ).exclude(question__kind=Question.Kind.CHOICE)
    counted = free.order_by().values_list("language").annotate(n=Count("pk"))
    counts = sorted(counted, key=lambda item: (-item[1], item[0]))
    if len(counts) < 2:
        return None
    languages = ", ".join(
        f"{get_english_language_name(tag) if tag else 'an unknown language'} ({n:,})"
        for tag, n in counts
    )
    return DataReadiness(
        "People read the questions in several languages. Answers in their own words: "
        f"{languages}. A "
        "model that knows only one of these languages, or that counts words or letters, cannot "
        "see that two answers in two languages have the same meaning. Then people seem to "
        "disagree who do not, "
        "and those of the language with fewer answers get lower grades whatever they know. Choose "
        "a model that knows all of these languages; else compare people only with those of their "
        "own language."
    )


START = Start(before=build_language_warning)


VIEWS = (
    MeasureSource(
        Measure(
            "crowd_score",
            Aspect.CROWD,
            "Similarity to people",
            "Similarity of the model's answer to the people's consensus answer; 1 if both have "
            "the same meaning.",
            highest=1.0,
        ),
        build_column_reader("score"),
        table="model-answers",
        model="model",
        question="question",
        merges=False,
    ),
    MeasureSource(
        Measure(
            "crowd_dispersion",
            Aspect.CROWD,
            "Disagreement of people",
            "Disagreement of the people's answers to the question: 0 if all have the same "
            "meaning, near 1 if they have nothing in common.",
            lowest=0.0,
            highest=1.0,
            better="",
            of="question",
        ),
        build_column_reader("dispersion"),
        table="questions",
        file="exemplars.csv",
        question="question",
        merges=False,
    ),
    MeasureSource(
        Measure(
            "crowd_percentile",
            Aspect.CROWD,
            "Percentile among people",
            "Percentage of people whose answers are less similar to the consensus of the others "
            "than the model, on the questions that it answered.",
            lowest=0.0,
            highest=100.0,
            of="model",
        ),
        build_column_reader("percentile"),
        table="models",
        model="model",
        merges=False,
    ),
)
