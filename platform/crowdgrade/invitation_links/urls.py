"""URLs of invitation links; the admin site puts them behind its login, except `join_by_link`."""

from django.urls import path

from crowdgrade.invitation_links import views

SET = "question-sets/<uuid:set_id>/sharing/links/"

urlpatterns = [
    path(SET, views.manage_set_links, name="invitation-links"),
    path(
        f"{SET}<uuid:link_id>/withdraw/", views.withdraw_set_link, name="invitation-link-withdraw"
    ),
    path("requester-links/", views.manage_requester_links, name="requester-links"),
    path(
        "requester-links/<uuid:requester_link_id>/withdraw/",
        views.withdraw_requester_link,
        name="requester-link-withdraw",
    ),
    path(f"{SET}<uuid:link_id>/mail/", views.mail_set_link_again, name="invitation-link-mail"),
    path(
        "requester-links/<uuid:requester_link_id>/mail/",
        views.mail_requester_link_again,
        name="requester-link-mail",
    ),
]
