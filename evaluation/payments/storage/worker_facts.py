"""Facts about workers that were imported with their answers, as groups for comparisons."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from django.db.models import JSONField, OuterRef, Subquery

from annotations.exchange.column_names import is_demographic, normalise_name, normalise_names
from annotations.models import Import, QuestionSetVersion, Response, Submission

UNKNOWN = "not known"
"""Group of the workers whose fact is missing."""
AGES = normalise_names(
    "age ages ageinyears alter âge edad età idade leeftijd wiek возраст 年龄 年齢 나이"
)
"""Names of columns with an age in years."""
AGE_BANDS = (
    *((18, "under 18"), (25, "18 to 24"), (35, "25 to 34"), (45, "35 to 44")),
    *((55, "45 to 54"), (65, "55 to 64"), (121, "65 and over")),
)
"""Groups of ages: the first age above the band, and the band's name."""
MOST_JOINED_VALUES = 12
"""Most different values of a joined column that is no known demographic one, such as an id."""


def load_worker_facts(
    version: QuestionSetVersion, keys: Collection[int]
) -> dict[str, dict[int, str]]:
    """Return the groups of submissions by each imported fact: column, submission key, group.

    Facts are the demographic columns stored with the answers, and the columns of joined demographic
    exports that have few values. Submissions without the fact are left out. Two queries.
    """
    answers = Response.objects.filter(submission=OuterRef("pk")).exclude(extra={}).order_by("pk")
    extra = Subquery(answers.values("extra")[:1], output_field=JSONField())
    rows = Submission.objects.filter(version=version).annotate(facts=extra)
    cells: dict[str, dict[int, str]] = {}
    for key, facts in rows.exclude(facts=None).order_by("pk").values_list("pk", "facts"):
        for column, value in facts.items() if key in keys else ():
            if text := str(value).strip():
                cells.setdefault(column, {})[key] = text
    joined = _load_joined_columns(version)
    return {
        column: _group_cells(column, values)
        for column, values in cells.items()
        if is_demographic(column)
        or (column in joined and len(set(values.values())) <= MOST_JOINED_VALUES)
    }


def _load_joined_columns(version: QuestionSetVersion) -> frozenset[str]:
    """Return the columns of demographic exports that were joined to a version's answers."""
    joins = Import.objects.filter(version=version, what=Import.What.DEMOGRAPHICS, undone_at=None)
    return frozenset(
        name for columns in joins.values_list("columns", flat=True) for name in columns
    )


def _group_cells(column: str, values: Mapping[int, str]) -> dict[int, str]:
    """Return the group of each submission: an age band, or the cell as stored."""
    if normalise_name(column) not in AGES:
        return dict(values)
    return {key: find_age_band(text) for key, text in values.items()}


def find_age_band(text: str) -> str:
    """Return the band of an age in years, such as "25 to 34"; the text itself if it is no age."""
    try:
        age = float(text.replace(",", "."))
    except ValueError:
        return text
    return next((name for above, name in AGE_BANDS if 0 <= age < above), text)
