"""The addresses of the API, version 1."""

from __future__ import annotations

from typing import Any

from django.urls import include, path, re_path
from rest_framework.routers import SimpleRouter

from annotations.api.answers import AnswerViewSet
from annotations.api.collecting import CollectionViewSet
from annotations.api.monitor import MonitorViewSet
from annotations.api.passages import PassageViewSet
from annotations.api.pictures import ImageViewSet, PictureViewSet
from annotations.api.question_sets import QuestionSetViewSet
from annotations.api.questions import QuestionViewSet
from annotations.api.taking_part import TakingPartViewSet
from annotations.api.translations import TranslationViewSet
from annotations.api.writing import WritingViewSet
from crowdgrade.rest.views import DocsView, NowhereView, ProblemView, RootView, SchemaView
from evaluation.api.accepting import AcceptingViewSet
from evaluation.api.alarms import AlarmViewSet
from evaluation.api.audit import AuditViewSet
from evaluation.api.comparing import ComparingViewSet
from evaluation.api.comparisons import ComparisonViewSet
from evaluation.api.erasing import ErasureViewSet
from evaluation.api.experts import ExpertsViewSet
from evaluation.api.exports import ExportViewSet
from evaluation.api.facts import FactViewSet
from evaluation.api.imports import ImportViewSet
from evaluation.api.interims import InterimViewSet
from evaluation.api.judging import JudgingViewSet, RunJudgingViewSet
from evaluation.api.language_models import LanguageModelViewSet
from evaluation.api.model_answers import ModelAnswerViewSet
from evaluation.api.model_notes import ModelNoteViewSet
from evaluation.api.paying.appeals import AppealViewSet
from evaluation.api.paying.bonuses import BonusViewSet
from evaluation.api.paying.desk import PayingViewSet
from evaluation.api.paying.files import PayDecisionsViewSet, PayStatusesViewSet
from evaluation.api.paying.inviting import InvitedViewSet
from evaluation.api.paying.lists import PanelListViewSet, TakenListViewSet
from evaluation.api.paying.parts import PartViewSet
from evaluation.api.paying.rules import BonusRuleViewSet
from evaluation.api.prompts import PromptViewSet
from evaluation.api.recruiting import ScoreRuleViewSet
from evaluation.api.removing import ModelRemovalViewSet, RunRemovalViewSet, SetRemovalViewSet
from evaluation.api.results import ResultViewSet
from evaluation.api.runs import RunViewSet
from evaluation.api.tables import TableViewSet
from evaluation.api.triage import TriageViewSet
from evaluation.api.trust import PlanViewSet, TrustViewSet
from evaluation.api.waves import EarlierWaveViewSet, WaveResultViewSet, WaveViewSet
from evaluation.api.workers import WorkerViewSet

app_name = "api"
OF_SET = "question-sets/<uuid:set_id>"

router = SimpleRouter(use_regex_path=False)
router.register("question-sets", QuestionSetViewSet, "question-set")
router.register(f"{OF_SET}/passages", PassageViewSet, "passage")
router.register(f"{OF_SET}/questions", QuestionViewSet, "question")
router.register(f"{OF_SET}/answers", AnswerViewSet, "answer")
router.register(f"{OF_SET}/model-answers", ModelAnswerViewSet, "model-answer")
router.register("language-models", LanguageModelViewSet, "language-model")
router.register("prompts", PromptViewSet, "prompt")
router.register("runs", RunViewSet, "run")
router.register("workers", WorkerViewSet, "worker")

OF_MODEL = "language-models/<uuid:model_id>"

RESULTS = (
    ("", ResultViewSet, "retrieve", "run"),
    ("workers/", ResultViewSet, "workers", "workers"),
    ("workers/<uuid:worker>/", ResultViewSet, "worker", "worker"),
    ("workers/<uuid:worker>/without/", ResultViewSet, "without", "worker-without"),
    ("questions/", ResultViewSet, "questions", "questions"),
    ("questions/<uuid:question>/", ResultViewSet, "question", "question"),
    ("models/", ResultViewSet, "models", "models"),
    ("consensus/", ResultViewSet, "consensus", "consensus"),
    ("facts/", FactViewSet, "facts", "facts"),
    ("questions/<uuid:question>/facts/", FactViewSet, "question", "question-facts"),
    ("workers/<uuid:worker>/facts/", FactViewSet, "worker", "worker-facts"),
    ("models/<uuid:model>/facts/", FactViewSet, "model", "model-facts"),
    ("alarms/", AlarmViewSet, "alarms", "alarms"),
    ("alarms/no-<int:place>/", AlarmViewSet, "alarm", "alarm"),
    ("comparisons/", ComparisonViewSet, "comparisons", "comparisons"),
    ("comparisons/<uuid:first>/<uuid:second>/", ComparisonViewSet, "comparison", "comparison"),
    ("comparisons/<uuid:first>/<uuid:second>/detail/", ComparingViewSet, "pair", "pair"),
    (
        "comparisons/<uuid:first>/<uuid:second>/questions/",
        ComparingViewSet,
        "questions",
        "pair-questions",
    ),
    ("leaderboard/", ComparingViewSet, "leaderboard", "leaderboard"),
    ("groups/", ComparingViewSet, "groups", "groups"),
    ("against/<uuid:other_id>/", ComparisonViewSet, "against", "against"),
    ("waves/", WaveResultViewSet, "waves", "waves"),
    ("waves/workers/", WaveResultViewSet, "workers", "wave-workers"),
    ("waves/questions/", WaveResultViewSet, "questions", "wave-questions"),
    ("decision/", TrustViewSet, "decision", "decision"),
    ("trust/", TrustViewSet, "trust", "trust"),
    ("planner/", TrustViewSet, "planner", "planner"),
    ("plan/", PlanViewSet, "plan", "plan"),
    ("plan/<slug:name>/", PlanViewSet, "plan_file", "plan-file"),
    ("data/", TableViewSet, "data", "data"),
    ("tables/", TableViewSet, "tables", "tables"),
    ("tables/<slug:name>/", TableViewSet, "table", "table"),
)

TRIAGE: tuple[tuple[str, Any, dict[str, str], str], ...] = (
    ("", TriageViewSet, {"get": "queue"}, ""),
    ("apply/", TriageViewSet, {"get": "preview", "post": "apply"}, "-apply"),
    ("accept/", AcceptingViewSet, {"get": "rest", "post": "accept"}, "-accept"),
    ("accept/<uuid:together>/undo/", AcceptingViewSet, {"post": "take_back"}, "-accept-undo"),
    ("<uuid:worker>/", TriageViewSet, {"get": "worker", "post": "decide"}, "-worker"),
    ("<uuid:worker>/undo/", TriageViewSet, {"post": "undo"}, "-undo"),
)

EXPORTS = ("answers", "model-answers", "questions", "passages")

WRITING: tuple[tuple[str, type, dict[str, str], str], ...] = (
    (
        f"{OF_SET}/writing/",
        WritingViewSet,
        {"get": "retrieve", "post": "create", "patch": "partial_update"},
        "writing",
    ),
    (f"{OF_SET}/writing/accepted/", WritingViewSet, {"get": "accepted"}, "writing-accepted"),
    (
        f"{OF_SET}/writing/people/",
        WritingViewSet,
        {"get": "people", "post": "invite"},
        "writing-people",
    ),
    (
        f"{OF_SET}/writing/people/<uuid:member_id>/",
        WritingViewSet,
        {"delete": "remove"},
        "writing-person",
    ),
    (f"{OF_SET}/writing/problems/", WritingViewSet, {"get": "problems"}, "writing-problems"),
    (
        f"{OF_SET}/writing/problems/<uuid:problem_id>/",
        WritingViewSet,
        {"get": "problem", "patch": "decide"},
        "writing-problem",
    ),
    (f"{OF_SET}/monitor/", MonitorViewSet, {"get": "monitor"}, "monitor"),
    ("writing/", TakingPartViewSet, {"get": "list"}, "writing-list"),
    (
        "writing/<uuid:project_id>/problems/",
        TakingPartViewSet,
        {"get": "problems", "post": "take"},
        "own-problems",
    ),
    (
        "writing/<uuid:project_id>/problems/<uuid:own_id>/",
        TakingPartViewSet,
        {"get": "problem", "patch": "write", "delete": "give_up"},
        "own-problem",
    ),
    ("writing/<uuid:project_id>/tasks/", TakingPartViewSet, {"get": "tasks"}, "check-tasks"),
    (
        "writing/<uuid:project_id>/tasks/<uuid:check_id>/",
        TakingPartViewSet,
        {"get": "task", "patch": "vote"},
        "check-task",
    ),
)

OF_COLLECTION = f"{OF_SET}/collection"
COLLECTING: tuple[tuple[str, type, dict[str, str], str], ...] = (
    (
        f"{OF_COLLECTION}/",
        CollectionViewSet,
        {"get": "retrieve", "post": "create", "patch": "partial_update"},
        "collection",
    ),
    (f"{OF_COLLECTION}/state/", CollectionViewSet, {"post": "set_state"}, "collection-state"),
    (f"{OF_COLLECTION}/places/", CollectionViewSet, {"post": "add_places"}, "collection-places"),
    (f"{OF_COLLECTION}/links/", CollectionViewSet, {"post": "signed_links"}, "collection-links"),
    (
        f"{OF_COLLECTION}/admissions/",
        CollectionViewSet,
        {"get": "admissions", "post": "admit"},
        "collection-admissions",
    ),
    (
        f"{OF_COLLECTION}/admissions/strike/",
        CollectionViewSet,
        {"post": "strike"},
        "collection-strike",
    ),
    (f"{OF_SET}/paying/", PayingViewSet, {"get": "list"}, "paying"),
    (f"{OF_SET}/paying/log/", PayingViewSet, {"get": "log"}, "paying-log"),
    (f"{OF_SET}/paying/invited/", InvitedViewSet, {"get": "retrieve"}, "paying-invited"),
    (f"{OF_SET}/paying/invited/ids/", InvitedViewSet, {"get": "ids"}, "paying-invited-ids"),
    (f"{OF_SET}/paying/groups/", InvitedViewSet, {"get": "groups"}, "paying-groups"),
    (
        f"{OF_SET}/paying/people/<uuid:submission_id>/appeal/",
        AppealViewSet,
        {"post": "answer"},
        "paying-appeal",
    ),
    (
        f"{OF_SET}/paying/people/<uuid:submission_id>/appeal/noted/",
        AppealViewSet,
        {"post": "note"},
        "paying-appeal-noted",
    ),
    (f"{OF_SET}/paying/bonuses/", BonusViewSet, {"get": "list"}, "paying-bonuses"),
    (f"{OF_SET}/paying/bonuses/rounds/", BonusViewSet, {"get": "rounds"}, "paying-rounds"),
    (f"{OF_SET}/paying/bonuses/rule/", BonusRuleViewSet, {"post": "propose"}, "paying-rule"),
    (f"{OF_SET}/paying/bonuses/plan/", BonusRuleViewSet, {"post": "plan"}, "paying-plan"),
    (f"{OF_SET}/paying/bonuses/confirm/", BonusViewSet, {"post": "confirm"}, "paying-confirm"),
    (f"{OF_SET}/paying/bonuses/cancel/", BonusViewSet, {"post": "cancel"}, "paying-cancel"),
    (f"{OF_SET}/paying/bonuses/settle/", BonusViewSet, {"post": "settle"}, "paying-settle"),
    (f"{OF_SET}/paying/parts/", PartViewSet, {"get": "retrieve", "post": "plan"}, "paying-parts"),
    (
        f"{OF_SET}/paying/lists/",
        TakenListViewSet,
        {"get": "list", "post": "take"},
        "paying-lists",
    ),
    (
        f"{OF_SET}/paying/lists/<uuid:batch_id>/",
        PanelListViewSet,
        {"get": "money"},
        "paying-list",
    ),
    (f"{OF_SET}/paying/decisions/", PayDecisionsViewSet, {"post": "create"}, "paying-decisions"),
    (f"{OF_SET}/paying/statuses/", PayStatusesViewSet, {"post": "create"}, "paying-statuses"),
    (f"{OF_SET}/paying/exports/<slug:name>/", PanelListViewSet, {"get": "file"}, "paying-export"),
    (
        f"{OF_SET}/paying/people/<uuid:submission_id>/",
        PayingViewSet,
        {"get": "retrieve", "post": "decide"},
        "paying-person",
    ),
    (
        f"{OF_COLLECTION}/score-rule/",
        ScoreRuleViewSet,
        {"get": "retrieve", "put": "update", "delete": "destroy"},
        "collection-score-rule",
    ),
    (
        f"{OF_COLLECTION}/score-rule/count/",
        ScoreRuleViewSet,
        {"post": "count"},
        "collection-score-count",
    ),
    (
        f"{OF_COLLECTION}/interims/",
        InterimViewSet,
        {"get": "list", "post": "create"},
        "collection-interims",
    ),
    (f"{OF_COLLECTION}/interims/latest/", InterimViewSet, {"get": "latest"}, "collection-so-far"),
)

PICTURES: tuple[tuple[str, type, dict[str, str], str], ...] = (
    (
        f"{OF_SET}/passages/<uuid:passage_id>/image/",
        PictureViewSet,
        {"put": "put", "delete": "delete"},
        "passage-image",
    ),
    (f"{OF_SET}/images/<uuid:image_id>/", ImageViewSet, {"get": "retrieve"}, "image"),
)

TRANSLATIONS: tuple[tuple[str, type, dict[str, str], str], ...] = (
    (
        f"{OF_SET}/translations/",
        TranslationViewSet,
        {"get": "languages", "post": "add"},
        "translations",
    ),
    (
        f"{OF_SET}/translations/<slug:language>/",
        TranslationViewSet,
        {"get": "retrieve", "patch": "partial_update", "delete": "destroy"},
        "translation",
    ),
)

REMOVING: tuple[tuple[str, type, dict[str, str], str], ...] = tuple(
    (f"{place}/{end}/", view, methods, f"{name}-{end}")
    for place, view, name in (
        (OF_SET, SetRemovalViewSet, "question-set"),
        ("runs/<uuid:run_id>", RunRemovalViewSet, "run"),
        (OF_MODEL, ModelRemovalViewSet, "language-model"),
    )
    for end, methods in (
        ("archive", {"post": "archive"}),
        ("restore", {"post": "restore"}),
        ("deletion", {"get": "hanging", "post": "delete_for_good"}),
    )
)

UNDOING: tuple[tuple[str, type, dict[str, str], str], ...] = (
    (f"{OF_SET}/imports/", ImportViewSet, {"get": "list"}, "imports"),
    (
        f"{OF_SET}/imports/<uuid:import_id>/undoing/",
        ImportViewSet,
        {"get": "hanging", "post": "undo"},
        "import-undoing",
    ),
    (
        "workers/<uuid:worker_id>/erasure/",
        ErasureViewSet,
        {"get": "hanging", "post": "erase"},
        "worker-erasure",
    ),
)

NOTES: tuple[tuple[str, type, dict[str, str], str], ...] = (
    ("workers/<uuid:worker_id>/notes/", WorkerViewSet, {"post": "note"}, "worker-notes"),
    (
        "workers/<uuid:worker_id>/notes/<uuid:note_id>/",
        WorkerViewSet,
        {"delete": "remove_note"},
        "worker-note",
    ),
    (f"{OF_MODEL}/history/", ModelNoteViewSet, {"get": "history"}, "language-model-history"),
    (
        f"{OF_MODEL}/notes/",
        ModelNoteViewSet,
        {"get": "notes", "post": "note"},
        "language-model-notes",
    ),
    (
        f"{OF_MODEL}/notes/<uuid:model_note_id>/",
        ModelNoteViewSet,
        {"delete": "remove_note"},
        "language-model-note",
    ),
)

version_1 = [
    path("", RootView.as_view(), name="root"),
    path("schema/", SchemaView.as_view(), name="schema"),
    path("docs/", DocsView.as_view(), name="docs"),
    path("problems/<slug:code>/", ProblemView.as_view(), name="problem"),
    *(
        path(
            f"runs/<uuid:run_id>/results/{end}",
            view.as_view({"get": action}),
            name=f"results-{name}",
        )
        for end, view, action, name in RESULTS
    ),
    *(
        path(
            f"{OF_SET}/exports/{what}/",
            ExportViewSet.as_view({"get": what.replace("-", "_")}),
            name=f"export-{what}",
        )
        for what in EXPORTS
    ),
    path(
        f"{OF_SET}/waves/",
        WaveViewSet.as_view({"post": "create"}),
        name="question-set-waves",
    ),
    path(
        f"{OF_SET}/earlier-wave/",
        EarlierWaveViewSet.as_view({"get": "retrieve", "put": "link", "delete": "unlink"}),
        name="question-set-earlier-wave",
    ),
    path(
        f"{OF_SET}/earlier-wave/replies/",
        EarlierWaveViewSet.as_view({"post": "replies"}),
        name="question-set-earlier-wave-replies",
    ),
    path(
        f"{OF_SET}/leaderboard/",
        ComparingViewSet.as_view({"get": "of_set"}),
        name="question-set-leaderboard",
    ),
    path(
        "runs/<uuid:run_id>/results/judging/<slug:name>/",
        RunJudgingViewSet.as_view({"get": "judging", "post": "ask"}),
        name="results-judging",
    ),
    path(
        "runs/<uuid:run_id>/results/audit/",
        AuditViewSet.as_view({"get": "audit", "post": "ask", "patch": "take_back"}),
        name="results-audit",
    ),
    path(
        "runs/<uuid:run_id>/results/audit/settle/",
        AuditViewSet.as_view({"post": "settle"}),
        name="results-audit-settle",
    ),
    path(
        "runs/<uuid:run_id>/results/experts/",
        ExpertsViewSet.as_view({"get": "experts"}),
        name="results-experts",
    ),
    path("judging/", JudgingViewSet.as_view({"get": "inbox"}), name="inbox"),
    *(
        path(
            f"runs/<uuid:run_id>/results/triage/{end}",
            view.as_view(methods),
            name=f"results-triage{name}",
        )
        for end, view, methods, name in TRIAGE
    ),
    path(f"{OF_SET}/judging/", JudgingViewSet.as_view({"get": "queues"}), name="judging"),
    path(
        f"{OF_SET}/judging/<uuid:task_id>/",
        JudgingViewSet.as_view({"get": "task", "patch": "judge", "delete": "undo"}),
        name="judge",
    ),
    *(
        path(address, view.as_view(methods), name=name)  # type: ignore[attr-defined]
        for address, view, methods, name in (
            *WRITING,
            *COLLECTING,
            *PICTURES,
            *TRANSLATIONS,
            *NOTES,
            *REMOVING,
            *UNDOING,
        )
    ),
    *router.urls,
]
urlpatterns = [
    path("v1/", include(version_1)),
    # An address of the API that is none has a problem document too.
    re_path("", NowhereView.as_view(), name="nowhere"),
]
