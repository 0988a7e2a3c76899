from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotations", "0007_writing")]

    operations = [
        migrations.RemoveConstraint(model_name="upload", name="upload_state_is_known"),
        migrations.AlterField(
            model_name="upload",
            name="state",
            field=models.CharField(
                choices=[
                    ("mapping", "Mapping"),
                    ("bad", "Bad"),
                    ("checked", "Checked"),
                    ("done", "Done"),
                ],
                default="bad",
                max_length=7,
            ),
        ),
        migrations.AddConstraint(
            model_name="upload",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["mapping", "bad", "checked", "done"])),
                name="upload_state_is_known",
            ),
        ),
    ]
