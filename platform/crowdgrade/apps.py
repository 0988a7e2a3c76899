"""Django app configurations of the site and of its admin."""

from typing import Any

from allauth.socialaccount.apps import SocialAccountConfig
from django.apps import AppConfig
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core.checks import CheckMessage, Tags, register
from django.db.models.signals import pre_migrate


class CrowdgradeConfig(AppConfig):
    """Configuration of the app with the site's commands, checks and Celery app."""

    name = "crowdgrade"

    def ready(self) -> None:
        """Import the Celery app, so that tasks use its broker, and register the checks."""
        from crowdgrade import celery, checks
        from crowdgrade.sign_in import journal

        _ = celery.app, checks.check_demo_is_local
        journal.connect_receivers()
        # For all apps: the first one sends the signal before anything is changed.
        pre_migrate.connect(refuse_old_database, dispatch_uid="crowdgrade.upgrades")


class OpenIDAccountConfig(SocialAccountConfig):
    """Configuration of allauth's linked accounts, without loading its hundred providers.

    `crowdgrade.sign_in.adapters` has the only provider, so no module of another one is looked for.
    """

    def ready(self) -> None:
        """Register allauth's checks."""
        from allauth.socialaccount import checks

        _ = checks


def refuse_old_database(using: str, **sent: Any) -> None:
    """Raise `CommandError` before migrating a database too old to upgrade (signal receiver)."""
    from crowdgrade import upgrades

    upgrades.refuse_old_database(using)


class CrowdgradeAdminConfig(SimpleAdminConfig):
    """Configuration of Django's admin that uses `CrowdgradeAdminSite`.

    The `admin` modules are loaded only by the URLs and the checks (`load_admin`). They import the
    theme, all forms and template tags, which most commands do not need.
    """

    default_site = "crowdgrade.admin_site.CrowdgradeAdminSite"

    def ready(self) -> None:
        """Register Django's checks of the admin, without loading the `admin` modules yet."""
        register(check_dependencies, Tags.admin)
        register(check_loaded_admin, Tags.admin)


def load_admin() -> None:
    """Load each app's `admin` module, which registers its models; a second call does nothing.

    An exception of a module is raised unchanged.
    """
    from django.contrib import admin

    admin.autodiscover()


def check_loaded_admin(app_configs: Any, **options: Any) -> list[CheckMessage]:
    """Return the messages of Django's check of the registered admin classes."""
    load_admin()
    messages: list[CheckMessage] = check_admin_app(app_configs, **options)
    return messages
