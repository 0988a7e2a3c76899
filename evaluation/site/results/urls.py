"""Addresses of the results, behind the site's login."""

from django.urls import path

from evaluation.site.results import downloads, kind
from evaluation.site.results.against import against
from evaluation.site.results.alarms import alarm, alarms
from evaluation.site.results.anchors import anchors
from evaluation.site.results.audit import audit
from evaluation.site.results.comparisons import comparisons
from evaluation.site.results.decision import decide
from evaluation.site.results.experts import experts
from evaluation.site.results.heat_map import heat_map
from evaluation.site.results.judging import judged
from evaluation.site.results.model import model
from evaluation.site.results.models import models
from evaluation.site.results.noticing import replies
from evaluation.site.results.pair import pair, two
from evaluation.site.results.planner import plan_file, planner
from evaluation.site.results.question import question
from evaluation.site.results.replies import compared, texts
from evaluation.site.results.run import results
from evaluation.site.results.summary import summary
from evaluation.site.results.triage import triage, triage_worker
from evaluation.site.results.triage_accept import triage_accept, triage_accept_undo
from evaluation.site.results.triage_apply import triage_apply, triage_file
from evaluation.site.results.trust import trust
from evaluation.site.results.views import answers, views
from evaluation.site.results.views import model as model_seen
from evaluation.site.results.waves import waves
from evaluation.site.results.worker import worker

RUN = "runs/<uuid:run>/results/"
WORKER = f"{RUN}workers/<uuid:worker>/"
QUESTION = f"{RUN}questions/<uuid:question>/"

urlpatterns = [
    path(RUN, kind.first, name="results-run"),
    path(f"{RUN}pages/<slug:slug>/", kind.page, name="results-page"),
    path(f"{RUN}judging/<slug:name>/", judged, name="results-judging"),
    path(f"{RUN}decision/", decide, name="results-decision"),
    path(f"{RUN}replies/texts/", texts, name="results-reply-texts"),
    path(f"{RUN}replies/models/", compared, name="results-reply-models"),
    path(f"{RUN}people/", results, name="results-people"),
    path(f"{RUN}models/comparison/", comparisons, name="results-comparison"),
    path(f"{RUN}models/comparison/two/", two, name="results-two"),
    path(
        f"{RUN}models/comparison/<uuid:first>/<uuid:second>/",
        pair,
        name="results-pair",
    ),
    path(f"{RUN}models/", models, name="results-models"),
    path(f"{RUN}models/<uuid:model>/", model, name="results-model"),
    path(f"{RUN}noticing/", replies, name="results-noticing-replies"),
    path(f"{RUN}alarms/", alarms, name="results-alarms"),
    path(f"{RUN}alarms/no-<int:place>/", alarm, name="results-alarm"),
    path(f"{RUN}triage/", triage, name="results-triage"),
    path(f"{RUN}triage/apply/", triage_apply, name="results-triage-apply"),
    path(f"{RUN}triage/accept/", triage_accept, name="results-triage-accept"),
    path(
        f"{RUN}triage/accept/<uuid:together>/undo/",
        triage_accept_undo,
        name="results-triage-accept-undo",
    ),
    path(f"{RUN}triage/files/<slug:name>/", triage_file, name="results-triage-file"),
    path(f"{RUN}triage/<uuid:worker>/", triage_worker, name="results-triage-worker"),
    path(f"{RUN}anchors/", anchors, name="results-anchors"),
    path(f"{RUN}audit/", audit, name="results-audit"),
    path(f"{RUN}experts/", experts, name="results-experts"),
    path(f"{RUN}trust/", trust, name="results-trust"),
    path(f"{RUN}heat-map/", heat_map, name="results-heat-map"),
    path(f"{RUN}against/", against, name="results-against"),
    path(f"{RUN}waves/", waves, name="results-waves"),
    path(f"{RUN}summary/", summary, name="results-summary"),
    path(f"{RUN}planner/", planner, name="results-planner"),
    path(f"{RUN}planner/<slug:name>.<slug:form>", plan_file, name="results-plan-file"),
    path(f"{RUN}views/", views, name="results-views"),
    path(f"{RUN}views/answers/", answers, name="results-views-answers"),
    path(f"{RUN}views/models/<int:place>/", model_seen, name="results-views-model"),
    path(WORKER, worker, name="results-worker"),
    path(QUESTION, question, name="results-question"),
    path(f"{RUN}charts/<slug:name>.svg", downloads.chart, name="results-chart"),
    path(f"{RUN}all.<slug:form>", downloads.data_sheets, name="results-data"),
    path(f"{RUN}tables/<slug:name>.csv", downloads.table, name="results-table"),
    path(f"{WORKER}scores.svg", downloads.worker_chart, name="results-worker-chart"),
    path(f"{WORKER}answers.csv", downloads.worker_file, name="results-worker-table"),
    path(f"{QUESTION}answers.svg", downloads.question_chart, name="results-question-chart"),
    path(f"{QUESTION}map.svg", downloads.map_chart, name="results-question-map"),
    path(f"{QUESTION}map.csv", downloads.map_file, name="results-question-map-table"),
    path(f"{QUESTION}answers.csv", downloads.question_file, name="results-question-table"),
]
