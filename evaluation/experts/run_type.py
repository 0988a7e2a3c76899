"""What experts' grades in a file say; over a question set it is the page “What experts say”."""

from evaluation.runs.run_types.kind import Kind

EXPERTS = Kind(
    name="experts",
    title="Expert judgements",
    words="Agreement of experts, difficulty of questions, and grades of workers and models by "
    "experts.",
    options="evaluation.experts.options.ExpertsParameters",
    evaluate="evaluation.experts.arguments.EVALUATE",
)
