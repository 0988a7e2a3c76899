"""URLs of the pages on sets, runs and models; the site requires a login for them."""

from django.urls import path

from evaluation.admission import views as recruiting
from evaluation.deletion import views
from evaluation.interim import views as collecting
from evaluation.language_models.views import asking, models, prompts
from evaluation.model_comparison import views as comparing
from evaluation.payments.views import bonuses, files, people
from evaluation.site import exporting, judging, question_set, runs
from evaluation.waves import views as waves
from evaluation.webhooks import views as webhooks
from evaluation.workers import views as workers

SET = "question-sets/<uuid:set_id>/"
RUN = "runs/<uuid:run_id>/"
WORKER = "workers/<uuid:worker_id>/"
MODEL = "models/<uuid:model_id>/"
PAYING = f"{SET}paying/"
PROMPT = "prompts/<uuid:prompt_id>/"
WEBHOOK = "webhooks/<uuid:webhook_id>/"

urlpatterns = [
    path(SET, question_set.show_question_set, name="question-set"),
    path(f"{SET}collecting/admission/", recruiting.show_admission, name="collecting-admission"),
    path(f"{SET}wave/", waves.show_new_wave, name="new-wave"),
    path(f"{SET}earlier-wave/", waves.show_wave_link, name="link-wave"),
    path("archived/", views.show_archive, name="archived"),
    path(f"{SET}draft/discard/", views.discard_draft, name="draft-discard"),
    path(f"{SET}archive/", views.archive_set, name="question-set-archive"),
    path(f"{SET}restore/", views.restore_set, name="question-set-restore"),
    path(f"{SET}imports/", views.show_imports, name="imports"),
    path(f"{SET}imports/<uuid:import_id>/undo/", views.undo_import, name="import-undo"),
    path(f"{SET}delete/", views.delete_set, name="question-set-delete"),
    path(f"{RUN}archive/", views.archive_run, name="run-archive"),
    path(f"{RUN}restore/", views.restore_run, name="run-restore"),
    path(f"{RUN}delete/", views.delete_run, name="run-delete"),
    path(f"{SET}grade/", runs.start_run, name="grade"),
    path(f"{SET}ask/", asking.ask_models, name="ask-models"),
    path(f"{SET}run/<slug:name>/", runs.start_run, name="start"),
    path(f"{SET}compare/", comparing.show_leaderboard, name="compare-models"),
    path(f"{SET}judging/", judging.show_judging, name="judging"),
    path(f"{SET}judging/<uuid:task_id>/", judging.show_or_save_judgement, name="judge"),
    path(f"{SET}judging/<uuid:task_id>/undo/", judging.undo_judgement, name="judge-undo"),
    path(f"{SET}export/", exporting.show_exports, name="export"),
    path(f"{SET}export/answers/<slug:what>/", exporting.send_answer_export, name="export-answers"),
    path(
        f"{SET}export/questions/<slug:what>/", exporting.send_question_export, name="export-items"
    ),
    path(f"{SET}models/<uuid:model_id>/", models.show_model_answers, name="model-answers"),
    path(f"{SET}collecting/", collecting.show_collection, name="collecting"),
    path(f"{SET}collecting/live/", collecting.show_live_part, name="collecting-live"),
    path(f"{SET}collecting/places/", collecting.raise_places, name="collecting-places"),
    path(f"{SET}collecting/ids/", collecting.admit_ids, name="collecting-ids"),
    path(f"{SET}collecting/grade/", collecting.start_grading, name="collecting-grade"),
    path(PAYING, people.show_payment_list, name="paying"),
    path(f"{PAYING}approve/", people.approve_submissions, name="paying-approve"),
    path(f"{PAYING}people/<uuid:submission_id>/", people.show_submission, name="paying-person"),
    path(f"{PAYING}lists/<slug:name>/", files.send_panel_list, name="paying-list"),
    path(f"{PAYING}bonuses/", bonuses.show_bonuses, name="paying-bonuses"),
    path(f"{PAYING}invite/", files.show_invited_workers, name="paying-invite"),
    path(f"{PAYING}take-bonuses/", files.send_new_payment_list, name="paying-take"),
    path("runs/", runs.show_runs, name="runs"),
    path(RUN, runs.show_run, name="run"),
    path(f"{RUN}status.json", runs.send_run_status, name="run-status"),
    path(f"{RUN}standing/", runs.show_run_type_status, name="run-standing"),
    path(f"{RUN}cancel/", runs.cancel_run, name="run-cancel"),
    path(f"{RUN}pause/", runs.pause_run, name="run-pause"),
    path(f"{RUN}resume/", runs.resume_run, name="run-resume"),
    path("workers/", workers.show_workers, name="workers"),
    path(WORKER, workers.show_worker, name="worker"),
    path(f"{WORKER}history.svg", workers.send_worker_chart, name="worker-history"),
    path(f"{WORKER}notes/", workers.add_note, name="worker-note"),
    path(f"{WORKER}notes/<uuid:note_id>/remove/", workers.remove_note, name="worker-note-remove"),
    path(f"{WORKER}erase/", views.erase_worker, name="worker-erase"),
    path(f"{RUN}again/", runs.start_again, name="run-again"),
    path(f"{RUN}label/", runs.label_run, name="run-label"),
    path(f"{RUN}use/", runs.make_run_official, name="run-use"),
    path("models/", models.show_models, name="models"),
    path("models/new/", models.add_model, name="model-new"),
    path("models/packaged/", models.add_packaged_model, name="model-packaged"),
    path(MODEL, models.show_model, name="model"),
    path(f"{MODEL}edit/", models.edit_model, name="model-edit"),
    path(f"{MODEL}archive/", views.archive_model, name="model-archive"),
    path(f"{MODEL}restore/", views.restore_model, name="model-restore"),
    path(f"{MODEL}delete/", views.delete_model, name="model-delete"),
    path(f"{MODEL}notes/", models.add_note, name="model-note"),
    path(
        f"{MODEL}notes/<uuid:model_note_id>/remove/",
        models.remove_note,
        name="model-note-remove",
    ),
    path(f"{MODEL}history.svg", models.send_model_chart, name="model-history"),
    path(f"{MODEL}try/", models.try_model, name="model-try"),
    path("prompts/", prompts.show_prompts, name="prompts"),
    path("prompts/new/", prompts.add_prompt, name="prompt-new"),
    path(PROMPT, prompts.show_prompt, name="prompt"),
    path(f"{PROMPT}edit/", prompts.edit_prompt_page, name="prompt-edit"),
    path("webhooks/", webhooks.show_webhooks, name="webhooks"),
    path("webhooks/new/", webhooks.add_webhook, name="webhook-new"),
    path(WEBHOOK, webhooks.show_webhook, name="webhook"),
    path(f"{WEBHOOK}edit/", webhooks.change_webhook, name="webhook-edit"),
    path(f"{WEBHOOK}delete/", webhooks.delete_webhook, name="webhook-delete"),
    path(f"{WEBHOOK}test/", webhooks.send_test_event, name="webhook-test"),
    path(f"{WEBHOOK}secret/", webhooks.renew_webhook_secret, name="webhook-secret"),
    path(f"{WEBHOOK}switch/", webhooks.switch_webhook, name="webhook-switch"),
    path(
        f"{WEBHOOK}deliveries/<uuid:delivery_id>/again/",
        webhooks.send_delivery_again,
        name="webhook-again",
    ),
]
