"""URLs of the help pages; the admin site puts them behind its login."""

from django.urls import path

from crowdgrade.help import views

urlpatterns = [
    path("help/", views.show_contents, name="help"),
    path("help/pictures/<str:name>", views.send_picture, name="help-picture"),
    path("help/<str:slug>/", views.show_document, name="help-document"),
]
