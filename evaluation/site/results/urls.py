"""URLs of the results of runs; the site requires a login for them."""

from django.urls import path

from evaluation.eloquent.views import show_comparison, show_texts
from evaluation.experts.views import show_audit, show_experts
from evaluation.grading.results.views.alarms import show_alarm, show_alarms, show_expert_grading
from evaluation.grading.results.views.models import (
    show_comparisons,
    show_heat_map,
    show_model,
    show_models,
)
from evaluation.grading.results.views.pages import (
    show_question,
    show_questions_by_disagreement,
    show_results,
    show_run_comparison,
    show_worker,
)
from evaluation.model_comparison.views import redirect_to_pair, show_pair
from evaluation.model_overview.views import show_answers, show_overview
from evaluation.model_overview.views import show_model as model_seen
from evaluation.sample_size.views import send_plan_file, show_planner
from evaluation.scorer.views import send_scorer, show_scorer
from evaluation.site.results import pages
from evaluation.site.results.pages import show_or_request_judgements
from evaluation.triage.views.exclusion import (
    send_decision_file,
    show_batch,
    start_run_without_excluded,
    undo_batch,
)
from evaluation.triage.views.workers import review_worker, show_queue
from evaluation.trust.views import show_decision, show_summary, show_trust
from evaluation.umwp.views import show_replies
from evaluation.waves.views import show_wave_comparison

RUN = "runs/<uuid:run>/results/"
WORKER = f"{RUN}workers/<uuid:worker>/"
QUESTION = f"{RUN}questions/<uuid:question>/"

urlpatterns = [
    path(RUN, pages.show_first_page, name="results-run"),
    path(f"{RUN}pages/<slug:slug>/", pages.show_results_page, name="results-page"),
    path(f"{RUN}judging/<slug:name>/", show_or_request_judgements, name="results-judging"),
    path(f"{RUN}decision/", show_decision, name="results-decision"),
    path(f"{RUN}replies/texts/", show_texts, name="results-reply-texts"),
    path(f"{RUN}replies/models/", show_comparison, name="results-reply-models"),
    path(f"{RUN}people/", show_results, name="results-people"),
    path(f"{RUN}disagreement/", show_questions_by_disagreement, name="results-disagreement"),
    path(f"{RUN}models/comparison/", show_comparisons, name="results-comparison"),
    path(f"{RUN}models/comparison/two/", redirect_to_pair, name="results-two"),
    path(
        f"{RUN}models/comparison/<uuid:first>/<uuid:second>/",
        show_pair,
        name="results-pair",
    ),
    path(f"{RUN}models/", show_models, name="results-models"),
    path(f"{RUN}models/<uuid:model>/", show_model, name="results-model"),
    path(f"{RUN}noticing/", show_replies, name="results-noticing-replies"),
    path(f"{RUN}alarms/", show_alarms, name="results-alarms"),
    path(f"{RUN}alarms/no-<int:place>/", show_alarm, name="results-alarm"),
    path(f"{RUN}triage/", show_queue, name="results-triage"),
    path(f"{RUN}triage/apply/", start_run_without_excluded, name="results-triage-apply"),
    path(f"{RUN}triage/accept/", show_batch, name="results-triage-accept"),
    path(
        f"{RUN}triage/accept/<uuid:together>/undo/",
        undo_batch,
        name="results-triage-accept-undo",
    ),
    path(f"{RUN}triage/files/<slug:name>/", send_decision_file, name="results-triage-file"),
    path(f"{RUN}triage/<uuid:worker>/", review_worker, name="results-triage-worker"),
    path(f"{RUN}anchors/", show_expert_grading, name="results-anchors"),
    path(f"{RUN}audit/", show_audit, name="results-audit"),
    path(f"{RUN}experts/", show_experts, name="results-experts"),
    path(f"{RUN}trust/", show_trust, name="results-trust"),
    path(f"{RUN}heat-map/", show_heat_map, name="results-heat-map"),
    path(f"{RUN}against/", show_run_comparison, name="results-against"),
    path(f"{RUN}waves/", show_wave_comparison, name="results-waves"),
    path(f"{RUN}summary/", show_summary, name="results-summary"),
    path(f"{RUN}planner/", show_planner, name="results-planner"),
    path(f"{RUN}planner/<slug:name>.<slug:form>", send_plan_file, name="results-plan-file"),
    path(f"{RUN}scorer/", show_scorer, name="results-scorer"),
    path(f"{RUN}scorer/file/", send_scorer, name="results-scorer-file"),
    path(f"{RUN}views/", show_overview, name="results-views"),
    path(f"{RUN}views/answers/", show_answers, name="results-views-answers"),
    path(f"{RUN}views/models/<int:place>/", model_seen, name="results-views-model"),
    path(WORKER, show_worker, name="results-worker"),
    path(QUESTION, show_question, name="results-question"),
    path(f"{RUN}charts/<slug:name>.svg", pages.send_chart, name="results-chart"),
    path(f"{RUN}all.<slug:form>", pages.send_data_sheets, name="results-data"),
    path(f"{RUN}tables/<slug:name>.csv", pages.send_table, name="results-table"),
    path(f"{WORKER}scores.svg", pages.send_worker_chart, name="results-worker-chart"),
    path(f"{WORKER}answers.csv", pages.send_worker_file, name="results-worker-table"),
    path(f"{QUESTION}answers.svg", pages.send_question_chart, name="results-question-chart"),
    path(f"{QUESTION}map.svg", pages.send_map_chart, name="results-question-map"),
    path(f"{QUESTION}map.csv", pages.send_map_file, name="results-question-map-table"),
    path(f"{QUESTION}answers.csv", pages.send_question_file, name="results-question-table"),
]
