"""How many workers do I need? A crowd tried in parts (Yahav et al. 2025, section 6.2)."""

from evaluation.flow.crowd_size.conclusion import CrowdSizeSummary
from evaluation.flow.crowd_size.parameters import CrowdSizeParameters
from evaluation.kinds.crowd_size.evaluate import EVALUATE
from evaluation.kinds.crowd_size.page import CHARTS, CURVES
from evaluation.kinds.crowd_size.terminal import text_of_run
from evaluation.kinds.kind import Kind
from evaluation.reports.crowd_size import crowd_size_report, crowd_size_table
from evaluation.steps.crowd_size import try_sizes
from evaluation.steps.outside import problems_of_workers

CROWD_SIZE = Kind(
    name="crowd-size",
    title="How many workers",
    words="Tries smaller parts of your crowd and says how many workers and questions are enough.",
    options=CrowdSizeParameters,
    run=try_sizes,
    summary=CrowdSizeSummary,
    tables={"crowd-size": crowd_size_table},
    charts=CHARTS,
    report=crowd_size_report,
    text=text_of_run,
    pages=(CURVES,),
    check=problems_of_workers,
    evaluate=EVALUATE,
    action="How many workers do I need?",
)
