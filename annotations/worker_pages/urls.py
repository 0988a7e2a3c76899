"""URLs of the worker pages: a collection's link, and a submission's pages by signed token."""

from django.urls import path

from annotations.worker_pages import completion, consent, decision, drafts, passages, questions

app_name = "worker"

SUBMISSION_PATH = "answer/at/<str:seat>/"

urlpatterns = [
    path("answer/<uuid:collection_id>/", consent.enter_collection, name="enter"),
    path(SUBMISSION_PATH, consent.continue_survey, name="go-on"),
    path(f"{SUBMISSION_PATH}language/", consent.change_language, name="language"),
    path(f"{SUBMISSION_PATH}text/<int:page_number>/", passages.show_passage, name="text"),
    path(
        f"{SUBMISSION_PATH}text/<int:page_number>/image/",
        passages.serve_passage_image,
        name="image",
    ),
    path(f"{SUBMISSION_PATH}page/<int:page_number>/", questions.show_questions, name="page"),
    path(
        f"{SUBMISSION_PATH}page/<int:page_number>/feedback/",
        questions.show_feedback,
        name="feedback",
    ),
    path(f"{SUBMISSION_PATH}draft/", drafts.save_draft, name="draft"),
    path(f"{SUBMISSION_PATH}review/", completion.show_answer_review, name="review"),
    path(f"{SUBMISSION_PATH}thanks/", completion.show_thanks, name="thanks"),
    path(f"{SUBMISSION_PATH}data/", completion.show_data_use, name="data"),
    path(f"{SUBMISSION_PATH}decision/", decision.show_rejection, name="decision"),
    path(f"{SUBMISSION_PATH}withdraw/", completion.withdraw_answers, name="withdraw"),
]
