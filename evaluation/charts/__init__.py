"""Pictures of results, drawn on the server as SVG.

Why no chart library: a picture drawn here is there without JavaScript and in print, obeys a
Content-Security-Policy that allows neither inline scripts nor eval, weighs a few kilobytes instead
of a megabyte, escapes texts in one place (`svg`), and its numbers are tested like any others. What
a script adds on the page (tooltips by pointer and finger, PNG) is small and optional.

Every picture is drawn twice, for wide and for narrow screens, so that letters keep their size;
the page shows the one that fits. Each has a table beside it on its page.
"""

from evaluation.charts.answer_map import map_chart
from evaluation.charts.answers import answers_chart
from evaluation.charts.chart import Chart
from evaluation.charts.comparisons import comparisons_chart, pair_chart
from evaluation.charts.convergence import convergence_chart
from evaluation.charts.grades import grades_chart, ranks_chart
from evaluation.charts.history import Occasion, history_chart
from evaluation.charts.lines import Series, lines_chart
from evaluation.charts.placement import placement_chart
from evaluation.charts.questions import questions_chart
from evaluation.charts.rows import estimates_chart
from evaluation.charts.worker import worker_chart

__all__ = [
    "Chart",
    "Occasion",
    "Series",
    "answers_chart",
    "comparisons_chart",
    "convergence_chart",
    "estimates_chart",
    "grades_chart",
    "history_chart",
    "lines_chart",
    "map_chart",
    "pair_chart",
    "placement_chart",
    "questions_chart",
    "ranks_chart",
    "worker_chart",
]
