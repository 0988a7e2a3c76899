"""Run type that evaluates experts' grades from a file; for question sets there is a page."""

from evaluation.runs.run_types.kind import Kind

EXPERTS = Kind(
    name="experts",
    title="Expert judgements",
    words="Agreement of experts, difficulty of questions, and grades of workers and models by "
    "experts.",
    options="evaluation.experts.run.ExpertsParameters",
    evaluate="evaluation.experts.arguments.EVALUATE",
)
