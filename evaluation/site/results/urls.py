"""Addresses of the results, behind the site's login."""

from django.urls import path

from evaluation.site.results.against import AgainstPage
from evaluation.site.results.alarms import AlarmPage, AlarmsPage
from evaluation.site.results.anchors import AnchorsPage
from evaluation.site.results.comparisons import ComparisonsPage
from evaluation.site.results.downloads import (
    ChartFile,
    MapFile,
    MapTableFile,
    QuestionChartFile,
    QuestionTableFile,
    TableFile,
    WorkerChartFile,
    WorkerTableFile,
)
from evaluation.site.results.heat_map import HeatMapPage
from evaluation.site.results.models import ModelsPage
from evaluation.site.results.planner import PlannerPage
from evaluation.site.results.question import QuestionPage
from evaluation.site.results.run import RunPage
from evaluation.site.results.summary import SummaryPage
from evaluation.site.results.trust import TrustPage
from evaluation.site.results.worker import WorkerPage

RUN = "runs/<uuid:run>/results/"
WORKER = f"{RUN}workers/<uuid:worker>/"
QUESTION = f"{RUN}questions/<uuid:question>/"

urlpatterns = [
    path(RUN, RunPage.as_view(), name="results-run"),
    path(f"{RUN}models/comparison/", ComparisonsPage.as_view(), name="results-comparison"),
    path(f"{RUN}models/", ModelsPage.as_view(), name="results-models"),
    path(f"{RUN}alarms/", AlarmsPage.as_view(), name="results-alarms"),
    path(f"{RUN}alarms/no-<int:place>/", AlarmPage.as_view(), name="results-alarm"),
    path(f"{RUN}anchors/", AnchorsPage.as_view(), name="results-anchors"),
    path(f"{RUN}trust/", TrustPage.as_view(), name="results-trust"),
    path(f"{RUN}heat-map/", HeatMapPage.as_view(), name="results-heat-map"),
    path(f"{RUN}against/", AgainstPage.as_view(), name="results-against"),
    path(f"{RUN}summary/", SummaryPage.as_view(), name="results-summary"),
    path(f"{RUN}planner/", PlannerPage.as_view(), name="results-planner"),
    path(WORKER, WorkerPage.as_view(), name="results-worker"),
    path(QUESTION, QuestionPage.as_view(), name="results-question"),
    path(f"{RUN}charts/<slug:name>.svg", ChartFile.as_view(), name="results-chart"),
    path(f"{RUN}tables/<slug:name>.csv", TableFile.as_view(), name="results-table"),
    path(f"{WORKER}scores.svg", WorkerChartFile.as_view(), name="results-worker-chart"),
    path(f"{WORKER}answers.csv", WorkerTableFile.as_view(), name="results-worker-table"),
    path(f"{QUESTION}answers.svg", QuestionChartFile.as_view(), name="results-question-chart"),
    path(f"{QUESTION}map.svg", MapFile.as_view(), name="results-question-map"),
    path(f"{QUESTION}map.csv", MapTableFile.as_view(), name="results-question-map-table"),
    path(f"{QUESTION}answers.csv", QuestionTableFile.as_view(), name="results-question-table"),
]
