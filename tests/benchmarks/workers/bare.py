"""The peer: a bare Django endpoint with the same session, the same CSRF check and one commit.

``python -m tests.benchmarks.workers.bare DATABASE PORT`` serves it by waitress with
as many threads as the site has. GET makes a session and gives a form with its token; POST stores
the text in a transaction of its own and leads back to the form. DATABASE is an address as
DATABASE_URL takes it.
"""

from __future__ import annotations

import sys
import uuid

import dj_database_url
import django
import waitress  # type: ignore[import-untyped]
from django.conf import settings
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.middleware.csrf import get_token
from django.urls import path

# As many as the site's web server has (crowdgrade.processes, which this room may not import).
THREADS = 8
TABLE = "bare_answer"
PAGE = """<!doctype html><html lang="en"><title>Bare</title><main><form method="post">
<input type="hidden" name="csrfmiddlewaretoken" value="{token}">
<textarea name="text">{text}</textarea><button>Send</button></form></main></html>"""


def configure(database: str) -> None:
    """Set Django up with sessions in the database, and with the site's options of SQLite."""
    found = dict(dj_database_url.parse(database, conn_max_age=60))
    if str(found["ENGINE"]).endswith("sqlite3"):
        found["OPTIONS"] = {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
        }
    settings.configure(
        DATABASES={"default": found},
        INSTALLED_APPS=["django.contrib.sessions"],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
        ],
        ROOT_URLCONF=__name__,
        SECRET_KEY=uuid.uuid4().hex,
        ALLOWED_HOSTS=["127.0.0.1"],
        USE_TZ=True,
    )
    django.setup()
    call_command("migrate", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {TABLE}")
        cursor.execute(f"CREATE TABLE {TABLE} (worker text, text text)")
    connection.close()


def answer(request: HttpRequest) -> HttpResponse:
    """Give the form, or store what came with it."""
    if "worker" not in request.session:
        request.session["worker"] = uuid.uuid4().hex
    worker = request.session["worker"]
    if request.method == "POST":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(
                f"INSERT INTO {TABLE} (worker, text) VALUES (%s, %s)",
                [worker, request.POST["text"]],
            )
        return HttpResponseRedirect("/")
    return HttpResponse(PAGE.format(token=get_token(request), text=""))


urlpatterns = [path("", answer)]


if __name__ == "__main__":
    configure(sys.argv[1])
    waitress.serve(
        get_wsgi_application(), host="127.0.0.1", port=int(sys.argv[2]), threads=THREADS, ident=""
    )
