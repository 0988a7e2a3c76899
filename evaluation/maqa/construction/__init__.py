"""Construction of questions with several right answers: generate, filter, verify by a model.

The run type `maqa-questions` ends with candidates on the writing pages (`annotations.writing`),
where validators check them.
"""

from evaluation.runs.run_types.kind import Kind

MAQA_QUESTIONS = Kind(
    name="maqa-questions",
    title="Questions with several answers",
    words="A model generates questions with all their right answers, filters and a second model "
    "check them, and validators of the set accept, edit or reject the rest.",
    options="evaluation.maqa.construction.options.ConstructionOptions",
    run="evaluation.maqa.construction.storage.execute_run",
    asks=True,
    is_research=True,
    summary="evaluation.maqa.construction.storage.ConstructionSummary",
    tables="evaluation.maqa.construction.views.TABLES",
    columns="evaluation.maqa.construction.views.COLUMNS",
    pages="evaluation.maqa.construction.views.PAGES",
    needs_answers=False,
    check="evaluation.maqa.construction.storage.find_start_problems",
    action="Generate questions with several answers",
    start="evaluation.maqa.construction.views.START",
)
