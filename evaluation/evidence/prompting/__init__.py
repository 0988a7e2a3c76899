"""Study of prompts: the same models asked in two ways, scored by AQER and by the baselines."""

from evaluation.runs.run_types.kind import Kind

PROMPTING = Kind(
    name="prompting",
    title="Two prompts",
    words="Asks models the same questions by two prompts and scores both replies against a crowd.",
    options="evaluation.evidence.prompting.study.PromptingParameters",
    study="evaluation.evidence.prompting.command.STUDY",
)
