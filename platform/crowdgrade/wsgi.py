"""The entry for web servers: `crowdgrade.wsgi:application`."""

import os

from django.core.wsgi import get_wsgi_application

from crowdgrade import lifeline

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdgrade.settings")

application = get_wsgi_application()
lifeline.follow()
