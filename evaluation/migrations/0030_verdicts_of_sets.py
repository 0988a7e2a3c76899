"""Keep decisions about workers with the question set when their run is deleted."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import OuterRef, Subquery


def name_the_set(apps, schema_editor):
    """Fill in the question set of each decision: that of its run."""
    run = apps.get_model("evaluation", "Run")
    set_of_run = run.objects.filter(pk=OuterRef("run")).values("version__question_set")
    apps.get_model("evaluation", "WorkerVerdict").objects.update(question_set=Subquery(set_of_run))
    if schema_editor.connection.vendor == "postgresql":
        # Else PostgreSQL refuses to alter the table while its foreign keys are to be checked.
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def of_set(**options):
    return models.ForeignKey(
        editable=False,
        on_delete=django.db.models.deletion.CASCADE,
        related_name="verdicts",
        to="annotations.questionset",
        **options,
    )


class Migration(migrations.Migration):
    dependencies = [
        ("annotations", "0032_appeals_that_came_elsewhere"),
        ("evaluation", "0029_cut_off_replies"),
    ]

    operations = [
        migrations.AddField("workerverdict", "question_set", of_set(null=True)),
        migrations.AlterField(
            "workerverdict",
            "run",
            models.ForeignKey(
                blank=True,
                null=True,
                db_index=False,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="verdicts",
                to="evaluation.run",
            ),
        ),
        migrations.RunPython(name_the_set, migrations.RunPython.noop, elidable=True),
        migrations.AlterField("workerverdict", "question_set", of_set()),
    ]
