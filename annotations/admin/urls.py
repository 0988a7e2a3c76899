"""Addresses of the pages about what people wrote; the site puts them behind its login."""

from django.urls import path

from annotations.admin import question_sets, questions, uploads

SET = "question-sets/<uuid:set_id>/"

urlpatterns = [
    path("question-sets/", question_sets.question_sets, name="question-sets"),
    path("question-sets/new/", question_sets.new_question_set, name="question-set-new"),
    path(f"{SET}edit/", question_sets.edit_question_set, name="question-set-edit"),
    path(f"{SET}publish/", question_sets.publish, name="question-set-publish"),
    path(f"{SET}passages/", questions.passages, name="passages"),
    path(f"{SET}questions/<uuid:question_id>/", questions.question, name="question"),
    path(f"{SET}upload/<slug:kind>/", uploads.upload, name="upload"),
    path(f"{SET}uploads/<str:token>/", uploads.uploaded, name="uploaded"),
    path(f"{SET}uploads/<str:token>/confirm/", uploads.confirm_upload, name="upload-confirm"),
    path(f"{SET}uploads/<str:token>/discard/", uploads.discard_upload, name="upload-discard"),
]
