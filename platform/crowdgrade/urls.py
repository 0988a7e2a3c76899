"""Root URL patterns of the site."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from crowdgrade.apps import load_admin
from crowdgrade.monitoring import views as monitoring

load_admin()

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index"), name="home"),
    path("admin/", include("crowdgrade.sign_in.urls")),
    path("admin/", admin.site.urls),
    path("health/live", monitoring.report_live, name="health-live"),
    path("health/ready", monitoring.report_ready, name="health-ready"),
    path("metrics", monitoring.send_metrics, name="metrics"),
    path("api/", include("crowdgrade.api")),
    path("", include("annotations.worker_pages.urls")),
]

handler400 = "crowdgrade.rest.handlers.handle_bad_request"
handler403 = "crowdgrade.rest.handlers.handle_permission_denied"
handler404 = "crowdgrade.rest.handlers.handle_not_found"
handler500 = "crowdgrade.rest.handlers.handle_server_error"
