"""WSGI entry point: `crowdgrade.wsgi:application`."""

import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from crowdgrade import lifeline

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdgrade.settings")

application = get_wsgi_application()
# Imports all views now; otherwise the first requests would, in several threads at once.
_ = get_resolver().url_patterns
lifeline.end_with_supervisor()
