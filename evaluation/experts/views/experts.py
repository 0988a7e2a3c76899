"""Page of the expert findings: agreement, question difficulty, workers and models."""

from __future__ import annotations

from django.http import HttpRequest

from annotations.web.scope import get_user_id
from evaluation.core.messages.reasons import WHY_EMPTY
from evaluation.experts.messages import COEFFICIENTS, LEVELS
from evaluation.experts.report.experts import experts_report
from evaluation.grading.results.pages import grading_page
from evaluation.models import Audit, Run
from evaluation.runs.judging.audit import list_audit_progress
from evaluation.runs.result_pages import Context

# Rows that the page shows; the files have all.
SHOWN = 40


@grading_page("evaluation/experts.html")
def experts(request: HttpRequest, run: Run) -> Context:
    """Show the expert findings; an expert with open answers sees none before the last one."""
    audit = Audit.objects.filter(run=run).first()
    me = get_user_id(request)
    own = (
        next((one for one in list_audit_progress(audit) if one.user == me), None) if audit else None
    )
    report = experts_report(run)
    found = report.found
    return {
        "title": "What experts say",
        "subtitle": f"{report.about.name}, version {report.about.version}",
        "report": report,
        "found": found,
        "grading": own is not None and not own.is_done,
        "level": LEVELS[found.level],
        "coefficients": [
            (*COEFFICIENTS[one.metric], one, _why(one.reason)) for one in found.agreement
        ],
        "difficulty": found.difficulty[:SHOWN],
        "means": [(one, _why(one.reason)) for one in found.means[:SHOWN]],
    }


def _why(reason: str | None) -> str:
    """Return the reason for a missing number, in words; "" for no reason."""
    return WHY_EMPTY.get(reason or "", "")
