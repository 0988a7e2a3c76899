"""URL of the preview, which the admin site serves to signed-in users only."""

from django.urls import path

from annotations.worker_pages.preview import show_preview

urlpatterns = [
    path("question-sets/<uuid:set_id>/editor/preview/", show_preview, name="editor-preview"),
]
