"""Update of the database's statistics on its tables, by which it plans queries."""

from __future__ import annotations

from django.apps import apps
from django.db import connection

# Rows of an index that SQLite looks at: enough to tell a long list from a short one, in some ms.
LOOKED_AT = 1000
APPS = ("annotations", "evaluation")


def refresh_table_statistics() -> None:
    """Update the statistics on the tables by which the database plans queries (ANALYZE).

    Call it after many rows were written, outside a transaction. PostgreSQL does so by itself, but
    minutes later; SQLite never does, and without it reads all answers of a run to find those of one
    question.
    """
    quote = connection.ops.quote_name
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(f"PRAGMA analysis_limit = {LOOKED_AT}")
            cursor.execute("ANALYZE")
        elif connection.vendor == "postgresql":
            tables = [
                quote(model._meta.db_table)
                for app in APPS
                for model in apps.get_app_config(app).get_models()
            ]
            cursor.execute(f"ANALYZE {', '.join(tables)}")
