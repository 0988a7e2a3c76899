"""Take the status cut_off of models' replies."""

from __future__ import annotations

from django.db import migrations, models

STATUSES = [
    *("text", "empty", "refused", "refused_prompt", "refused_generation", "error", "cut_off"),
]


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0001_squashed_0028_settled_by_a_third")]

    operations = [
        migrations.AlterField(
            model_name="llmresponse",
            name="status",
            field=models.CharField(max_length=20, choices=[(one, one) for one in STATUSES]),
        ),
        migrations.RemoveConstraint(
            model_name="llmresponse", name="llm_response_status_is_known"
        ),
        migrations.AddConstraint(
            model_name="llmresponse",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", STATUSES)), name="llm_response_status_is_known"
            ),
        ),
    ]
