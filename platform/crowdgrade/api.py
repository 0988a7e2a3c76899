"""The addresses of the API, version 1."""

from __future__ import annotations

from django.urls import include, path, re_path
from rest_framework.routers import SimpleRouter

from annotations.viewsets.answers import AnswerViewSet
from annotations.viewsets.passages import PassageViewSet
from annotations.viewsets.question_sets import QuestionSetViewSet
from annotations.viewsets.questions import QuestionViewSet
from crowdgrade.rest.views import DocsView, NowhereView, ProblemView, RootView, SchemaView
from evaluation.viewsets.exports import ExportViewSet
from evaluation.viewsets.language_models import LanguageModelViewSet
from evaluation.viewsets.model_answers import ModelAnswerViewSet
from evaluation.viewsets.results import ResultViewSet
from evaluation.viewsets.runs import RunViewSet

app_name = "api"
OF_SET = "question-sets/<uuid:set_id>"

router = SimpleRouter(use_regex_path=False)
router.register("question-sets", QuestionSetViewSet, "question-set")
router.register(f"{OF_SET}/passages", PassageViewSet, "passage")
router.register(f"{OF_SET}/questions", QuestionViewSet, "question")
router.register(f"{OF_SET}/answers", AnswerViewSet, "answer")
router.register(f"{OF_SET}/model-answers", ModelAnswerViewSet, "model-answer")
router.register("language-models", LanguageModelViewSet, "language-model")
router.register("runs", RunViewSet, "run")

RESULTS = (
    ("", "retrieve", "results-run"),
    ("workers/", "workers", "results-workers"),
    ("workers/<uuid:worker>/", "worker", "results-worker"),
    ("questions/", "questions", "results-questions"),
    ("questions/<uuid:question>/", "question", "results-question"),
    ("models/", "models", "results-models"),
    ("consensus/", "consensus", "results-consensus"),
)

EXPORTS = ("answers", "model-answers", "questions", "passages")

version_1 = [
    path("", RootView.as_view(), name="root"),
    path("schema/", SchemaView.as_view(), name="schema"),
    path("docs/", DocsView.as_view(), name="docs"),
    path("problems/<slug:code>/", ProblemView.as_view(), name="problem"),
    *(
        path(f"runs/<uuid:run_id>/results/{end}", ResultViewSet.as_view({"get": action}), name=name)
        for end, action, name in RESULTS
    ),
    *(
        path(
            f"{OF_SET}/exports/{what}/",
            ExportViewSet.as_view({"get": what.replace("-", "_")}),
            name=f"export-{what}",
        )
        for what in EXPORTS
    ),
    *router.urls,
]
urlpatterns = [
    path("v1/", include(version_1)),
    # An address of the API that is none has a problem document too.
    re_path("", NowhereView.as_view(), name="nowhere"),
]
