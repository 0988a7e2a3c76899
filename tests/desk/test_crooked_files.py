"""The import wizard reads crooked files as the command does, and stores the right answers."""

import pytest

from annotations.models import QuestionSet, Response
from tests.annotations.exchange.presets.test_crooked_files import FILES, right_answers
from tests.annotations.exchange.presets.test_survey_tools import RIGHT
from tests.desk.test_import_wizard import Wizard


@pytest.mark.medium
@pytest.mark.parametrize("name", FILES)
def test_a_crooked_file_is_stored_as_it_is(client, rana, name):
    client.force_login(rana)
    wizard = Wizard(client, QuestionSet.objects.create(owner=rana, name="crooked"))
    wizard.send(*FILES[name])
    assert {text for _, _, text in wizard.shown} == set(RIGHT.values())
    wizard.say("check")
    wizard.confirm()
    texts = {}
    for row in Response.objects.select_related("question", "submission__worker"):
        wording = row.question.text or row.question.external_id
        texts[row.submission.worker.external_id, wording] = row.text
    assert texts == right_answers(name)
