"""URLs of the REST API, version 1."""

from __future__ import annotations

from typing import Any

from django.urls import include, path, re_path
from rest_framework.routers import SimpleRouter

from annotations.api.answers import AnswerViewSet
from annotations.api.collecting import CollectionViewSet
from annotations.api.demographics import DemographicViewSet
from annotations.api.monitor import MonitorViewSet
from annotations.api.participants import WritingMembershipViewSet
from annotations.api.passages import PassageViewSet
from annotations.api.pictures import ImageViewSet, PictureViewSet
from annotations.api.question_sets import QuestionSetViewSet
from annotations.api.questions import QuestionViewSet
from annotations.api.translations import TranslationViewSet
from annotations.api.writing import WritingProjectViewSet
from crowdgrade.rest.views import DocsView, ProblemView, RootView, SchemaView, UnknownUrlView
from evaluation.admission.api import ScoreRuleViewSet
from evaluation.api.judging import JudgingViewSet, RunJudgingViewSet
from evaluation.api.runs import ExportViewSet, RunViewSet, TableViewSet
from evaluation.deletion.api import (
    ErasureViewSet,
    ImportViewSet,
    ModelRemovalViewSet,
    RunRemovalViewSet,
    SetRemovalViewSet,
)
from evaluation.experts.api import AuditViewSet, ExpertsViewSet
from evaluation.grading.results.api.alarms import AlarmViewSet, FactViewSet
from evaluation.grading.results.api.results import ComparisonViewSet, ResultViewSet
from evaluation.interim.api import InterimViewSet
from evaluation.language_models.api.models import (
    LanguageModelViewSet,
    ModelAnswerViewSet,
    ModelNoteViewSet,
)
from evaluation.language_models.api.prompts import PromptViewSet
from evaluation.model_comparison.api import ComparingViewSet
from evaluation.payments.api.bonuses import BonusViewSet, PanelFileViewSet, PaymentListViewSet
from evaluation.payments.api.decisions import AppealViewSet, PayDecisionViewSet
from evaluation.payments.api.files import (
    InvitationViewSet,
    PayDecisionImportViewSet,
    PayStatusImportViewSet,
)
from evaluation.payments.api.rules import BonusRuleViewSet, PartViewSet
from evaluation.sample_size.api import PlanViewSet
from evaluation.scorer.api import ScorerViewSet
from evaluation.triage.api import BatchViewSet, TriageViewSet
from evaluation.trust.api import TrustViewSet
from evaluation.waves.api import EarlierWaveViewSet, WaveResultViewSet, WaveViewSet
from evaluation.webhooks.api import WebhookViewSet
from evaluation.workers.api import WorkerViewSet

app_name = "api"
SET_PATH = "question-sets/<uuid:set_id>"

router = SimpleRouter(use_regex_path=False)
router.register("question-sets", QuestionSetViewSet, "question-set")
router.register(f"{SET_PATH}/passages", PassageViewSet, "passage")
router.register(f"{SET_PATH}/questions", QuestionViewSet, "question")
router.register(f"{SET_PATH}/answers", AnswerViewSet, "answer")
router.register(f"{SET_PATH}/model-answers", ModelAnswerViewSet, "model-answer")
router.register("language-models", LanguageModelViewSet, "language-model")
router.register("prompts", PromptViewSet, "prompt")
router.register("runs", RunViewSet, "run")
router.register("workers", WorkerViewSet, "worker")
router.register("webhooks", WebhookViewSet, "webhook")

MODEL_PATH = "language-models/<uuid:model_id>"

RESULTS = (
    ("", ResultViewSet, "retrieve", "run"),
    ("workers/", ResultViewSet, "workers", "workers"),
    ("workers/<uuid:worker>/", ResultViewSet, "worker", "worker"),
    ("workers/<uuid:worker>/without/", ResultViewSet, "without", "worker-without"),
    ("questions/", ResultViewSet, "questions", "questions"),
    ("questions/<uuid:question>/", ResultViewSet, "question", "question"),
    ("models/", ResultViewSet, "models", "models"),
    ("consensus/", ResultViewSet, "consensus", "consensus"),
    ("scorer/", ScorerViewSet, "preview", "scorer"),
    ("scorer/file/", ScorerViewSet, "scorer", "scorer-file"),
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
    ("accept/", BatchViewSet, {"get": "rest", "post": "accept"}, "-accept"),
    ("accept/<uuid:together>/undo/", BatchViewSet, {"post": "take_back"}, "-accept-undo"),
    ("<uuid:worker>/", TriageViewSet, {"get": "worker", "post": "decide"}, "-worker"),
    ("<uuid:worker>/undo/", TriageViewSet, {"post": "undo"}, "-undo"),
)

EXPORTS = ("answers", "model-answers", "questions", "passages")

WRITING: tuple[tuple[str, type, dict[str, str], str], ...] = (
    (
        f"{SET_PATH}/writing/",
        WritingProjectViewSet,
        {"get": "retrieve", "post": "create", "patch": "partial_update"},
        "writing",
    ),
    (
        f"{SET_PATH}/writing/accepted/",
        WritingProjectViewSet,
        {"get": "list_accepted"},
        "writing-accepted",
    ),
    (
        f"{SET_PATH}/writing/people/",
        WritingProjectViewSet,
        {"get": "list_members", "post": "invite"},
        "writing-people",
    ),
    (
        f"{SET_PATH}/writing/people/<uuid:member_id>/",
        WritingProjectViewSet,
        {"delete": "remove"},
        "writing-person",
    ),
    (
        f"{SET_PATH}/writing/problems/",
        WritingProjectViewSet,
        {"get": "list_problems"},
        "writing-problems",
    ),
    (
        f"{SET_PATH}/writing/problems/<uuid:problem_id>/",
        WritingProjectViewSet,
        {"get": "read_problem", "patch": "decide"},
        "writing-problem",
    ),
    (f"{SET_PATH}/monitor/", MonitorViewSet, {"get": "read_progress"}, "monitor"),
    ("writing/", WritingMembershipViewSet, {"get": "list"}, "writing-list"),
    (
        "writing/<uuid:project_id>/problems/",
        WritingMembershipViewSet,
        {"get": "list_problems", "post": "take"},
        "own-problems",
    ),
    (
        "writing/<uuid:project_id>/problems/<uuid:own_id>/",
        WritingMembershipViewSet,
        {"get": "read_problem", "patch": "write", "delete": "give_up"},
        "own-problem",
    ),
    (
        "writing/<uuid:project_id>/tasks/",
        WritingMembershipViewSet,
        {"get": "list_tasks"},
        "check-tasks",
    ),
    (
        "writing/<uuid:project_id>/tasks/<uuid:check_id>/",
        WritingMembershipViewSet,
        {"get": "read_task", "patch": "vote"},
        "check-task",
    ),
)

COLLECTION_PATH = f"{SET_PATH}/collection"
COLLECTING: tuple[tuple[str, type, dict[str, str], str], ...] = (
    (
        f"{COLLECTION_PATH}/",
        CollectionViewSet,
        {"get": "retrieve", "post": "create", "patch": "partial_update"},
        "collection",
    ),
    (f"{COLLECTION_PATH}/state/", CollectionViewSet, {"post": "set_state"}, "collection-state"),
    (f"{COLLECTION_PATH}/places/", CollectionViewSet, {"post": "add_places"}, "collection-places"),
    (
        f"{COLLECTION_PATH}/links/",
        CollectionViewSet,
        {"post": "make_signed_links"},
        "collection-links",
    ),
    (
        f"{COLLECTION_PATH}/admissions/",
        CollectionViewSet,
        {"get": "list_admissions", "post": "admit"},
        "collection-admissions",
    ),
    (
        f"{COLLECTION_PATH}/admissions/strike/",
        CollectionViewSet,
        {"post": "strike"},
        "collection-strike",
    ),
    (f"{SET_PATH}/paying/", PayDecisionViewSet, {"get": "list"}, "paying"),
    (f"{SET_PATH}/paying/log/", PayDecisionViewSet, {"get": "log"}, "paying-log"),
    (f"{SET_PATH}/paying/invited/", InvitationViewSet, {"get": "retrieve"}, "paying-invited"),
    (f"{SET_PATH}/paying/invited/ids/", InvitationViewSet, {"get": "ids"}, "paying-invited-ids"),
    (f"{SET_PATH}/paying/groups/", InvitationViewSet, {"get": "groups"}, "paying-groups"),
    (
        f"{SET_PATH}/paying/people/<uuid:submission_id>/appeal/",
        AppealViewSet,
        {"post": "answer"},
        "paying-appeal",
    ),
    (
        f"{SET_PATH}/paying/people/<uuid:submission_id>/appeal/noted/",
        AppealViewSet,
        {"post": "note"},
        "paying-appeal-noted",
    ),
    (f"{SET_PATH}/paying/bonuses/", BonusViewSet, {"get": "list"}, "paying-bonuses"),
    (f"{SET_PATH}/paying/bonuses/rounds/", BonusViewSet, {"get": "rounds"}, "paying-rounds"),
    (f"{SET_PATH}/paying/bonuses/rule/", BonusRuleViewSet, {"post": "propose"}, "paying-rule"),
    (f"{SET_PATH}/paying/bonuses/plan/", BonusRuleViewSet, {"post": "plan"}, "paying-plan"),
    (f"{SET_PATH}/paying/bonuses/confirm/", BonusViewSet, {"post": "confirm"}, "paying-confirm"),
    (f"{SET_PATH}/paying/bonuses/cancel/", BonusViewSet, {"post": "cancel"}, "paying-cancel"),
    (f"{SET_PATH}/paying/bonuses/settle/", BonusViewSet, {"post": "settle"}, "paying-settle"),
    (f"{SET_PATH}/paying/parts/", PartViewSet, {"get": "retrieve", "post": "plan"}, "paying-parts"),
    (
        f"{SET_PATH}/paying/lists/",
        PaymentListViewSet,
        {"get": "list", "post": "take"},
        "paying-lists",
    ),
    (
        f"{SET_PATH}/paying/lists/<uuid:batch_id>/",
        PanelFileViewSet,
        {"get": "money"},
        "paying-list",
    ),
    (
        f"{SET_PATH}/paying/decisions/",
        PayDecisionImportViewSet,
        {"post": "create"},
        "paying-decisions",
    ),
    (f"{SET_PATH}/paying/statuses/", PayStatusImportViewSet, {"post": "create"}, "paying-statuses"),
    (f"{SET_PATH}/paying/exports/<slug:name>/", PanelFileViewSet, {"get": "file"}, "paying-export"),
    (
        f"{SET_PATH}/paying/people/<uuid:submission_id>/",
        PayDecisionViewSet,
        {"get": "retrieve", "post": "decide"},
        "paying-person",
    ),
    (
        f"{COLLECTION_PATH}/score-rule/",
        ScoreRuleViewSet,
        {"get": "retrieve", "put": "update", "delete": "destroy"},
        "collection-score-rule",
    ),
    (
        f"{COLLECTION_PATH}/score-rule/count/",
        ScoreRuleViewSet,
        {"post": "count"},
        "collection-score-count",
    ),
    (
        f"{COLLECTION_PATH}/interims/",
        InterimViewSet,
        {"get": "list", "post": "create"},
        "collection-interims",
    ),
    (f"{COLLECTION_PATH}/interims/latest/", InterimViewSet, {"get": "latest"}, "collection-so-far"),
)

PICTURES: tuple[tuple[str, type, dict[str, str], str], ...] = (
    (
        f"{SET_PATH}/passages/<uuid:passage_id>/image/",
        PictureViewSet,
        {"put": "put", "delete": "delete"},
        "passage-image",
    ),
    (f"{SET_PATH}/images/<uuid:image_id>/", ImageViewSet, {"get": "retrieve"}, "image"),
)

TRANSLATIONS: tuple[tuple[str, type, dict[str, str], str], ...] = (
    (
        f"{SET_PATH}/translations/",
        TranslationViewSet,
        {"get": "list_languages", "post": "add"},
        "translations",
    ),
    (
        f"{SET_PATH}/translations/<slug:language>/",
        TranslationViewSet,
        {"get": "retrieve", "patch": "partial_update", "delete": "destroy"},
        "translation",
    ),
)

REMOVING: tuple[tuple[str, type, dict[str, str], str], ...] = tuple(
    (f"{prefix}/{end}/", view, methods, f"{name}-{end}")
    for prefix, view, name in (
        (SET_PATH, SetRemovalViewSet, "question-set"),
        ("runs/<uuid:run_id>", RunRemovalViewSet, "run"),
        (MODEL_PATH, ModelRemovalViewSet, "language-model"),
    )
    for end, methods in (
        ("archive", {"post": "archive"}),
        ("restore", {"post": "restore"}),
        ("deletion", {"get": "list_dependents", "post": "delete_for_good"}),
    )
)

DEMOGRAPHICS: tuple[tuple[str, type, dict[str, str], str], ...] = (
    (f"{SET_PATH}/demographics/", DemographicViewSet, {"post": "create"}, "demographics"),
    (
        f"{SET_PATH}/demographics/<uuid:upload_id>/",
        DemographicViewSet,
        {"get": "retrieve", "patch": "partial_update", "delete": "destroy"},
        "demographics-upload",
    ),
    (
        f"{SET_PATH}/demographics/<uuid:upload_id>/confirm/",
        DemographicViewSet,
        {"post": "confirm"},
        "demographics-confirm",
    ),
)

UNDOING: tuple[tuple[str, type, dict[str, str], str], ...] = (
    (f"{SET_PATH}/imports/", ImportViewSet, {"get": "list"}, "imports"),
    (
        f"{SET_PATH}/imports/<uuid:import_id>/undoing/",
        ImportViewSet,
        {"get": "list_dependents", "post": "undo"},
        "import-undoing",
    ),
    (
        "workers/<uuid:worker_id>/erasure/",
        ErasureViewSet,
        {"get": "list_dependents", "post": "erase"},
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
    (f"{MODEL_PATH}/history/", ModelNoteViewSet, {"get": "history"}, "language-model-history"),
    (
        f"{MODEL_PATH}/notes/",
        ModelNoteViewSet,
        {"get": "notes", "post": "note"},
        "language-model-notes",
    ),
    (
        f"{MODEL_PATH}/notes/<uuid:model_note_id>/",
        ModelNoteViewSet,
        {"delete": "remove_note"},
        "language-model-note",
    ),
)

WEBHOOK_PATH = "webhooks/<uuid:webhook_id>"
WEBHOOKS: tuple[tuple[str, type, dict[str, str], str], ...] = (
    (f"{WEBHOOK_PATH}/secret/", WebhookViewSet, {"post": "renew"}, "webhook-secret"),
    (f"{WEBHOOK_PATH}/test/", WebhookViewSet, {"post": "test"}, "webhook-test"),
    (f"{WEBHOOK_PATH}/deliveries/", WebhookViewSet, {"get": "deliveries"}, "webhook-deliveries"),
    (
        f"{WEBHOOK_PATH}/deliveries/<uuid:delivery_id>/again/",
        WebhookViewSet,
        {"post": "again"},
        "webhook-delivery-again",
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
            f"{SET_PATH}/exports/{what}/",
            ExportViewSet.as_view({"get": what.replace("-", "_")}),
            name=f"export-{what}",
        )
        for what in EXPORTS
    ),
    path(
        f"{SET_PATH}/waves/",
        WaveViewSet.as_view({"post": "create"}),
        name="question-set-waves",
    ),
    path(
        f"{SET_PATH}/earlier-wave/",
        EarlierWaveViewSet.as_view({"get": "retrieve", "put": "link", "delete": "unlink"}),
        name="question-set-earlier-wave",
    ),
    path(
        f"{SET_PATH}/earlier-wave/replies/",
        EarlierWaveViewSet.as_view({"post": "replies"}),
        name="question-set-earlier-wave-replies",
    ),
    path(
        f"{SET_PATH}/leaderboard/",
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
    path(f"{SET_PATH}/judging/", JudgingViewSet.as_view({"get": "queues"}), name="judging"),
    path(
        f"{SET_PATH}/judging/<uuid:task_id>/",
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
            *DEMOGRAPHICS,
            *UNDOING,
            *WEBHOOKS,
        )
    ),
    *router.urls,
]
urlpatterns = [
    path("v1/", include(version_1)),
    # Unknown URLs below /api/ also return a problem document.
    re_path("", UnknownUrlView.as_view(), name="nowhere"),
]
