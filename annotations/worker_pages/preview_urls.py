"""The address of the preview; the site puts it behind its login."""

from django.urls import path

from annotations.worker_pages.preview import preview

urlpatterns = [
    path("question-sets/<uuid:set_id>/editor/preview/", preview, name="editor-preview"),
]
