"""Addresses of the pages about sets, runs and models; the site puts them behind its login."""

from django.urls import path

from evaluation.site import (
    asking,
    comparing,
    exporting,
    judging,
    models,
    prompts,
    question_set,
    runs,
    starting,
)

SET = "question-sets/<uuid:set_id>/"
RUN = "runs/<uuid:run_id>/"
MODEL = "models/<uuid:model_id>/"
PROMPT = "prompts/<uuid:prompt_id>/"

urlpatterns = [
    path(SET, question_set.question_set, name="question-set"),
    path(f"{SET}grade/", starting.start, name="grade"),
    path(f"{SET}ask/", asking.ask_models, name="ask-models"),
    path(f"{SET}run/<slug:name>/", starting.start, name="start"),
    path(f"{SET}compare/", comparing.compare_models, name="compare-models"),
    path(f"{SET}judging/", judging.judging, name="judging"),
    path(f"{SET}judging/<uuid:task_id>/", judging.judge, name="judge"),
    path(f"{SET}export/", exporting.export, name="export"),
    path(f"{SET}export/answers/<slug:what>/", exporting.export_answers, name="export-answers"),
    path(f"{SET}export/questions/<slug:what>/", exporting.export_items, name="export-items"),
    path(f"{SET}models/<uuid:model_id>/", models.model_answers, name="model-answers"),
    path("runs/", runs.runs, name="runs"),
    path(RUN, runs.run, name="run"),
    path(f"{RUN}status.json", runs.run_status, name="run-status"),
    path(f"{RUN}standing/", runs.run_standing, name="run-standing"),
    path(f"{RUN}cancel/", runs.cancel_run, name="run-cancel"),
    path(f"{RUN}pause/", runs.pause_run, name="run-pause"),
    path(f"{RUN}resume/", runs.resume_run, name="run-resume"),
    path(f"{RUN}again/", runs.run_again, name="run-again"),
    path("models/", models.models, name="models"),
    path("models/new/", models.new_model, name="model-new"),
    path("models/packaged/", models.add_packaged, name="model-packaged"),
    path(MODEL, models.model, name="model"),
    path(f"{MODEL}edit/", models.edit_model, name="model-edit"),
    path(f"{MODEL}delete/", models.delete_model, name="model-delete"),
    path(f"{MODEL}try/", models.try_model, name="model-try"),
    path("prompts/", prompts.prompts, name="prompts"),
    path("prompts/new/", prompts.new_prompt, name="prompt-new"),
    path(PROMPT, prompts.prompt, name="prompt"),
    path(f"{PROMPT}edit/", prompts.edit_prompt_page, name="prompt-edit"),
]
