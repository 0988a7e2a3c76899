"""Models that are asked, prompts and what was asked for; runs can be paused."""

import annotations.models.base
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


def asked_when_stored(apps, schema_editor):
    """Answers from before were asked for when they came, not now."""
    answers = apps.get_model("evaluation", "LLMResponse").objects
    answers.update(asked_at=models.F("created_at"))


class Migration(migrations.Migration):

    dependencies = [
        ('annotations', '0006_uploads'),
        ('evaluation', '0009_alarms_as_codes'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Prompt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.UUIDField(default=annotations.models.base.new_public_id, editable=False, unique=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('name', models.CharField(max_length=200)),
            ],
        ),
        migrations.CreateModel(
            name='PromptVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.UUIDField(default=annotations.models.base.new_public_id, editable=False, unique=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('number', models.PositiveIntegerField(help_text='From 1.')),
                ('strategy', models.CharField(choices=[('closed', 'closed'), ('passage', 'passage')], max_length=10)),
                ('system', models.TextField(blank=True)),
                ('template', models.TextField()),
                ('hash', models.CharField(max_length=64)),
            ],
            options={
                'ordering': ['prompt', 'number'],
            },
        ),
        migrations.CreateModel(
            name='RawReply',
            fields=[
                ('response', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='raw', serialize=False, to='evaluation.llmresponse')),
                ('request', models.JSONField(null=True)),
                ('reply', models.JSONField(null=True)),
            ],
            options={
                'verbose_name_plural': 'raw replies',
            },
        ),
        migrations.RemoveConstraint(
            model_name='run',
            name='run_state_is_known',
        ),
        migrations.RemoveConstraint(
            model_name='run',
            name='run_that_ended_has_a_time',
        ),
        migrations.AddField(
            model_name='languagemodel',
            name='key_variable',
            field=models.CharField(blank=True, help_text='Name of the environment variable that holds the key; empty for none.', max_length=100),
        ),
        migrations.AddField(
            model_name='languagemodel',
            name='price_in',
            field=models.FloatField(blank=True, help_text='Money for a million tokens that it reads.', null=True),
        ),
        migrations.AddField(
            model_name='languagemodel',
            name='price_out',
            field=models.FloatField(blank=True, help_text='Money for a million tokens that it writes.', null=True),
        ),
        migrations.AddField(
            model_name='languagemodel',
            name='spec',
            field=models.CharField(blank=True, help_text='How it is reached, such as openai:MODEL@https://HOST/v1; empty for a model whose answers are only imported.', max_length=1000),
        ),
        migrations.AddField(
            model_name='llmresponse',
            name='asked_at',
            field=models.DateTimeField(default=django.utils.timezone.now),
        ),
        migrations.RunPython(asked_when_stored, migrations.RunPython.noop),
        migrations.AddField(
            model_name='llmresponse',
            name='asking',
            field=models.CharField(blank=True, editable=False, max_length=64),
        ),
        migrations.AddField(
            model_name='llmresponse',
            name='key',
            field=models.CharField(blank=True, editable=False, max_length=64),
        ),
        migrations.AddField(
            model_name='llmresponse',
            name='run',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='replies', to='evaluation.run'),
        ),
        migrations.AlterField(
            model_name='languagemodel',
            name='parameters',
            field=models.JSONField(blank=True, default=dict, help_text='Sent with every request, such as top_p.'),
        ),
        migrations.AlterField(
            model_name='run',
            name='state',
            field=models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('paused', 'Paused'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=10),
        ),
        migrations.AddIndex(
            model_name='llmresponse',
            index=models.Index(condition=models.Q(('key', ''), _negated=True), fields=['key'], name='llm_response_reply'),
        ),
        migrations.AddConstraint(
            model_name='languagemodel',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('price_in__isnull', True), ('price_out__isnull', True)), models.Q(('price_in__gte', 0), ('price_out__gte', 0)), _connector='OR'), name='language_model_has_both_prices_or_none'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'running', 'paused', 'done', 'failed', 'cancelled'])), name='run_state_is_known'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'paused'), _negated=True), models.Q(('lease_owner', ''), ('lease_until__isnull', True)), _connector='OR'), name='run_that_is_paused_is_nobodys'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state__in', ['done', 'failed', 'cancelled']), ('finished_at__isnull', False)), models.Q(('state__in', ['queued', 'running', 'paused']), ('finished_at__isnull', True)), _connector='OR'), name='run_that_ended_has_a_time'),
        ),
        migrations.AddField(
            model_name='prompt',
            name='owner',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='prompts', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='promptversion',
            name='author',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='prompt_versions', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='promptversion',
            name='prompt',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='evaluation.prompt'),
        ),
        migrations.AddIndex(
            model_name='prompt',
            index=models.Index(fields=['owner', '-id'], name='prompt_list'),
        ),
        migrations.AddConstraint(
            model_name='prompt',
            constraint=models.UniqueConstraint(fields=('owner', 'name'), name='prompt_name_once_per_owner', violation_error_message='You have a prompt of this name.'),
        ),
        migrations.AddConstraint(
            model_name='prompt',
            constraint=models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='prompt_has_a_name'),
        ),
        migrations.AddConstraint(
            model_name='promptversion',
            constraint=models.UniqueConstraint(fields=('prompt', 'number'), name='prompt_version_once'),
        ),
        migrations.AddConstraint(
            model_name='promptversion',
            constraint=models.CheckConstraint(condition=models.Q(('strategy__in', ('closed', 'passage'))), name='prompt_strategy_is_known'),
        ),
        migrations.AddConstraint(
            model_name='promptversion',
            constraint=models.CheckConstraint(condition=models.Q(('number__gte', 1), models.Q(('hash', ''), _negated=True), models.Q(('template', ''), _negated=True)), name='prompt_version_is_whole'),
        ),
    ]
