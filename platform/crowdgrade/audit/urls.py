"""URLs of the audit log; the admin site puts them behind its login."""

from django.urls import path

from crowdgrade.audit import views

urlpatterns = [
    path("audit/", views.show_exports, name="audit-exports"),
    path("audit/decisions/", views.show_decisions, name="audit-decisions"),
    path("audit/sign-ins/", views.show_sign_ins, name="audit-sign-ins"),
]
