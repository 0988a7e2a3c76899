import django.db.models.deletion
from django.db import migrations, models

import evaluation.models.runs


class Migration(migrations.Migration):

    dependencies = [
        ('evaluation', '0007_question_camps'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='run',
            name='run_kind_is_known',
        ),
        migrations.AlterField(
            model_name='run',
            name='kind',
            field=models.CharField(choices=evaluation.models.runs.known_kinds, default='aqer', max_length=20),
        ),
        migrations.RenameModel('RunPicture', 'RunData'),
        migrations.RemoveConstraint(model_name='rundata', name='run_picture_once'),
        migrations.AlterField(
            model_name='rundata',
            name='run',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='data', to='evaluation.run'),
        ),
        migrations.AddConstraint(
            model_name='rundata',
            constraint=models.UniqueConstraint(fields=('run', 'name'), name='run_data_once'),
        ),
    ]
