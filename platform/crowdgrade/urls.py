"""The addresses of the site."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index"), name="home"),
    path("admin/", admin.site.urls),
    path("api/", include("crowdgrade.api")),
    path("", include("annotations.worker_pages.urls")),
]

handler400 = "crowdgrade.rest.handlers.bad_request"
handler403 = "crowdgrade.rest.handlers.permission_denied"
handler404 = "crowdgrade.rest.handlers.not_found"
handler500 = "crowdgrade.rest.handlers.server_error"
