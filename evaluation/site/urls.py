"""Addresses of the pages about sets, runs and models; the site puts them behind its login."""

from django.urls import path

from evaluation.site import comparing, exporting, judging, models, question_set, runs, starting

SET = "question-sets/<uuid:set_id>/"
RUN = "runs/<uuid:run_id>/"

urlpatterns = [
    path(SET, question_set.question_set, name="question-set"),
    path(f"{SET}grade/", starting.start, name="grade"),
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
    path(f"{RUN}cancel/", runs.cancel_run, name="run-cancel"),
    path(f"{RUN}pause/", runs.pause_run, name="run-pause"),
    path(f"{RUN}resume/", runs.resume_run, name="run-resume"),
    path(f"{RUN}again/", runs.run_again, name="run-again"),
    path("models/", models.models, name="models"),
]
