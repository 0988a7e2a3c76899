"""Messages of alarms become codes with values; those that are stored stay sentences."""

import json

from django.db import migrations, models


def quote(apps, schema_editor):
    """Write each sentence as JSON does."""
    alarms = apps.get_model("evaluation", "Alarm").objects
    for key, message in alarms.values_list("pk", "message").iterator():
        alarms.filter(pk=key).update(message=json.dumps(message))


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0008_kinds_are_declared")]

    operations = [
        migrations.RunPython(quote, migrations.RunPython.noop),
        migrations.AlterField("alarm", "message", models.JSONField()),
    ]
