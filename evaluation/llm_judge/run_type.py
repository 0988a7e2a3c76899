"""Run type of the LLM judge, which grades answers with a language model."""

from evaluation.runs.run_types.kind import Kind

JUDGE = Kind(
    name="judge",
    title="LLM judge",
    words="A language model grades answers. Its agreement with experts and itself is measured.",
    options="evaluation.llm_judge.options.JudgeParameters",
    run="evaluation.llm_judge.storage.execute_run",
    asks=True,
    is_research=True,
    summary="evaluation.llm_judge.storage.JudgeSummary",
    tables={
        "agreement": "evaluation.llm_judge.report.build_agreement_table",
        "corrected": "evaluation.llm_judge.report.build_corrected_table",
        "scores": "evaluation.llm_judge.report.build_scores_table",
        "pairs": "evaluation.llm_judge.report.build_pairs_table",
    },
    charts="evaluation.llm_judge.views.CHARTS",
    report="evaluation.llm_judge.report.build_report",
    text="evaluation.llm_judge.commands.format_run",
    pages=("evaluation.llm_judge.views.JUDGE_PAGE",),
    study="evaluation.llm_judge.arguments.STUDY",
    action="LLM judge",
    standing="evaluation.runs.run_types.run_list.STANDING",
    check="evaluation.llm_judge.storage.find_start_problems",
    start="evaluation.llm_judge.views.START",
)
