"""Addresses of workers: the link of a collection, and somebody's own pages behind a signed name."""

from django.urls import path

from annotations.worker_pages import decided, ends, entering, keeping, questions, texts

app_name = "worker"

OWN = "answer/at/<str:seat>/"

urlpatterns = [
    path("answer/<uuid:collection_id>/", entering.enter, name="enter"),
    path(OWN, entering.go_on, name="go-on"),
    path(f"{OWN}language/", entering.language, name="language"),
    path(f"{OWN}text/<int:page_number>/", texts.text, name="text"),
    path(f"{OWN}text/<int:page_number>/image/", texts.image, name="image"),
    path(f"{OWN}page/<int:page_number>/", questions.page, name="page"),
    path(f"{OWN}page/<int:page_number>/feedback/", questions.feedback, name="feedback"),
    path(f"{OWN}draft/", keeping.draft, name="draft"),
    path(f"{OWN}review/", ends.review, name="review"),
    path(f"{OWN}thanks/", ends.thanks, name="thanks"),
    path(f"{OWN}data/", ends.data, name="data"),
    path(f"{OWN}decision/", decided.decision, name="decision"),
    path(f"{OWN}withdraw/", ends.withdraw, name="withdraw"),
]
