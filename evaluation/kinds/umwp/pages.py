"""The pages of a run: who notices that there is no answer, and the replies one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.charts import Chart
from evaluation.kinds.kind import Page
from evaluation.kinds.umwp.pictures import noticing_chart, size_chart
from evaluation.models import Run
from evaluation.reports.umwp import TABLES, noticing_report
from evaluation.reports.umwp_people import LABELS, people_report

FORM_WORDS = {
    "direct": "the question alone",
    "instruction": "told before that some questions have no answer",
    "in-context": "shown eight worked examples before",
}


def noticing(run: Run) -> Mapping[str, Any]:
    """Return the report and the pictures."""
    report = noticing_report(run)
    return {
        "report": report,
        "forms": [
            (form, FORM_WORDS.get(form, form), [one for one in report.models if one.form == form])
            for form in report.forms
        ],
        "chart": noticing_chart(report.models),
        "by_size": size_chart(report.sizes),
        "table_names": list(TABLES),
    }


def by_size(run: Run) -> Chart | None:
    """Return F1 by the size of the models."""
    return size_chart(noticing_report(run).sizes)


def by_model(run: Run) -> Chart | None:
    """Return F1 of the models in each form."""
    return noticing_chart(noticing_report(run).models)


def people(run: Run) -> Mapping[str, Any]:
    """Return what people answered, and what they say of the replies."""
    return {"report": people_report(run), "judging": LABELS}


PAGES = (
    Page("", "Who notices", "evaluation/noticing.html", noticing),
    Page("replies", "Replies", address="results-noticing-replies"),
    Page("people", "People", "evaluation/noticing_people.html", people),
)
CHARTS = {"noticing": by_model, "by-size": by_size}
