"""Pages of the trust report, the decision summary and the printable summary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.urls import reverse

from annotations.models import rights
from evaluation.consensus.methods.scale import FEWEST_QUESTIONS
from evaluation.core.charts.chart import Chart
from evaluation.grading.alarms.report import build_outcomes_report
from evaluation.grading.remedies.report import build_remedies_report
from evaluation.grading.results.charts.grades import build_decision_chart
from evaluation.grading.results.pages import grading_page
from evaluation.grading.results.views.alarms import (
    build_exclusion_link,
    build_exclusion_links,
    build_link_to_add_models,
    read_what_if,
)
from evaluation.grading.summary import describe_contradictions, read_summary
from evaluation.models import Run
from evaluation.models.runs import GRADING, choose_official_or_newest
from evaluation.runs.reports.graded import KIND as OWN_DOMAIN
from evaluation.runs.reports.graded import find_set_comparison
from evaluation.runs.reports.verdicts import build_applied_context, load_run_decisions
from evaluation.runs.result_pages import (
    Context,
    build_breadcrumbs,
    build_start_link,
    build_worker_link,
)
from evaluation.runs.run_types import get_kind
from evaluation.trust.report import NOT_SEEN, PROVEN, build_trust_report
from evaluation.trust.report.decision import Decision, RecommendedStep, build_decision
from evaluation.trust.report.facts import Level
from evaluation.trust.report.summary import build_summary_report

ASK = "ask"
DRAWN = 5
"""Workers to look at in the chart; the list below it has all."""


ADD_MODELS = (
    "Answers of language models were added or changed since this run. A new run with the same "
    "settings scores them. They change no person's grade."
)


WHY_TAKE_AWAY: Mapping[Level, str] = {
    "bad": "A check failed. Read the checks before you pay, invite or reject by these grades.",
    "care": "The grades are usable with care. Read the checks above first, then download the "
    "grades and pay or invite by them.",
    "unknown": "No check found a problem, but some could not run. Read some answers or let an "
    "expert grade some first, then download the grades and pay or invite by them.",
    "good": "All checks are good. Download the grades, and pay or invite by them.",
}
"""Why the last step is next, by the level of the verdict."""


@dataclass(frozen=True)
class NextStep:
    """Recommended next step of the decision page: button text, link and reason.

    `level` is the verdict's, where the step depends on it; "" otherwise.
    """

    label: str
    why: str
    link: str
    level: str = ""


@grading_page("evaluation/decision.html")
def show_decision(request: HttpRequest, run: Run) -> Context:
    """Show trust in the run, its best workers, the workers to review, and the best model.

    `without` in the address names the worker to leave out on trial.
    """
    result = build_decision(run)
    tried = read_what_if(request, run)
    may = rights(request.user, run.version.question_set).edit
    workers = [person.row.worker for person in (*result.best, *result.look_at)]
    verdicts = load_run_decisions(run, workers)
    made = build_applied_context(run, verdicts.applied)
    decided_in = run if verdicts.any_counts else made["made_of"]
    return {
        "verdicts": verdicts.counting,
        "may_decide": may,
        **made,
        # The run whose decisions lists for panels are made of; None where nobody decided.
        "decided_in": decided_in and decided_in.public_id,
        "title": f"Results of {result.about.name}",
        "breadcrumbs": build_breadcrumbs(run)[:1],
        "report": result,
        "chart": build_linked_decision_chart(run, result),
        "remedies": build_remedies_report(run),
        "outcomes": build_outcomes_report(run),
        "next": _build_next_step(run, result, may),
        "record": _build_official_run_context(run),
        "new_models": result.trust.changed.has_model_changes
        and result.step is not RecommendedStep.ADD_MODELS,
        "add_models": build_link_to_add_models(run) if may else "",
        "may": may,
        "without": build_exclusion_links(run, [person.row for person in result.look_at], may),
        "what_if": tried,
        "what_if_link": build_exclusion_link(run, tried.worker, tried.name)
        if tried and may
        else "",
    }


def build_linked_decision_chart(run: Run, result: Decision) -> Chart | None:
    """Return the chart of the best workers and those to review, with links; None without any."""

    def build_link(worker: UUID) -> str:
        """Return the link to a worker's page."""
        return build_worker_link(run, worker)

    best = [person.row for person in result.best]
    doubtful = [person.row for person in result.look_at[:DRAWN]]
    return build_decision_chart(best, doubtful, build_link)


def _build_official_run_context(run: Run) -> dict[str, Any]:
    """Return template values: the run whose grades exports use, and whether it was chosen."""
    if hasattr(run, "of_record"):
        return {"run": run, "is_chosen": True}
    done = Run.objects.filter(
        version__question_set=run.version.question_set_id, kind=GRADING, state=Run.State.DONE
    )
    counts = choose_official_or_newest(done.select_related("of_record")) or run
    return {"run": counts, "is_chosen": hasattr(counts, "of_record")}


def _build_next_step(run: Run, result: Decision, may: bool) -> NextStep:
    """Return the button of the next step; a link to read for users who may not edit the set."""
    step = result.step
    ids = {"run": run.public_id}
    question_set = run.version.question_set
    if step is RecommendedStep.READ_ALARMS:
        why = "An alarm is open. Read the answers it is about before you pay or publish."
        return NextStep("Read the evidence", why, reverse("admin:results-alarms", kwargs=ids))
    if step is RecommendedStep.ASK_QUESTIONS:
        why = f"No worker can be ranked with fewer than {FEWEST_QUESTIONS} graded questions. Add "
        why += "questions, then let people answer them."
        page = "admin:editor" if may else "admin:question-set"
        return NextStep("Add questions", why, reverse(page, args=[question_set.public_id]))
    if step is RecommendedStep.ASK_PEOPLE:
        why = "There are too few answers to decide about people. See how many more it takes."
        return NextStep("Plan more answers", why, reverse("admin:results-planner", kwargs=ids))
    if may and step is RecommendedStep.GRADE_AGAIN:
        again = reverse("admin:grade", kwargs={"set_id": question_set.public_id})
        why = "People's answers were added, changed or withdrawn since this run."
        return NextStep("Grade again", why, f"{again}?like={run.public_id}")
    if may and step is RecommendedStep.ADD_MODELS:
        return NextStep("Add the models", ADD_MODELS, build_link_to_add_models(run))
    if may and step is RecommendedStep.ASK_MODELS:
        why = "No language model is in this run. Ask some the same questions, and see where they "
        why += "rank among your people."
        return NextStep("Ask models", why, build_start_link(get_kind(ASK), question_set))
    level = result.trust.verdict.level
    if level == "bad":
        trust = reverse("admin:results-trust", kwargs=ids)
        return NextStep("Read the checks", WHY_TAKE_AWAY[level], trust, level)
    table = reverse("admin:results-table", kwargs={**ids, "name": "workers"})
    return NextStep("Download the grades", WHY_TAKE_AWAY[level], table, level)


@grading_page("evaluation/summary.html")
def show_summary(request: HttpRequest, run: Run) -> Context:
    """Show the printable summary: decision, workers, questions, models and limits."""
    report = build_summary_report(run)
    return {
        "title": f"Summary of {report.decision.about.name}",
        "report": report,
        "marks": report.marks,
        "contradictions": describe_contradictions(read_summary(run).facts),
        **build_applied_context(run),
    }


@grading_page("evaluation/trust.html")
def show_trust(request: HttpRequest, run: Run) -> Context:
    """Show the facts for and against this run, and the measured evidence for the method."""
    report = build_trust_report(run)
    question_set = run.version.question_set
    own = find_set_comparison(question_set)
    may_start = rights(request.user, question_set).edit and question_set.archived_at is None
    return {
        "title": "Can I trust this?",
        "subtitle": f"The grades of {report.about.name}, version {report.about.version}",
        "report": report,
        "own": own,
        "own_link": own and reverse("admin:results-run", kwargs={"run": own.run}),
        "own_start": may_start
        and reverse("admin:start", kwargs={"set_id": question_set.public_id, "name": OWN_DOMAIN}),
        "proven": PROVEN,
        "contradictions": describe_contradictions(read_summary(run).facts),
        "not_seen": NOT_SEEN,
        "experts_link": reverse("admin:results-audit", kwargs={"run": run.public_id}),
        "alarms_link": reverse("admin:results-alarms", kwargs={"run": run.public_id}),
    }
