"""URL patterns of health checks and metrics."""

from django.urls import path

from crowdgrade.monitoring import views

urlpatterns = [
    path("health/live", views.live, name="health-live"),
    path("health/ready", views.ready, name="health-ready"),
    path("metrics", views.metrics, name="metrics"),
]
