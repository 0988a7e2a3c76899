"""Django's entry for the site itself: its commands, its checks, its Celery."""

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class CrowdgradeConfig(AppConfig):
    """The site."""

    name = "crowdgrade"

    def ready(self) -> None:
        """Make the Celery app the current one, so that tasks know their broker; add the checks."""
        from crowdgrade import celery, checks

        _ = celery.app, checks.demo_stays_here


class CrowdgradeAdminConfig(AdminConfig):
    """Django's admin, with our pages in it."""

    default_site = "crowdgrade.admin_site.CrowdgradeAdminSite"
