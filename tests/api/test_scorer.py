"""The export of a run as a scorer over the API: previewed, sent, refused."""

import io
import zipfile

import numpy as np
import pytest

from evaluation.models import Run
from tests.api.conftest import problem

pytestmark = pytest.mark.django_db


@pytest.fixture
def address(world):
    vector = np.array([1, 0], dtype="<f4").tobytes()
    world.run.exemplary_answers.update(vector=vector, dimension=2)
    parameters = {**world.run.parameters, "embedder": "minilm"}
    Run.objects.filter(pk=world.run.pk).update(parameters=parameters)
    return f"runs/{world.run.public_id}/results/scorer/"


def test_the_export_is_previewed_and_sent(api, world, address):
    asking = api(world.rana)
    preview = asking.get(address).json()
    assert (preview["questions"], preview["answers"], preview["left_out"]) == (2, 0, [])
    assert preview["name"] == "rivers-xyzzy"
    named = asking.get(f"{address}?min_answers=1&name=mine&with_answers=true&consent_basis=yes")
    assert (named.json()["name"], named.json()["answers"]) == ("mine", 2)
    sent = asking.get(f"{address}file/?formats=lm-eval&name=mine")
    with zipfile.ZipFile(io.BytesIO(b"".join(sent.streaming_content))) as archive:
        assert {"mine.yaml", "metric.py"} <= set(archive.namelist())


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("min_answers=0", 400, "invalid"),
        ("colour=red", 400, "invalid"),
        ("with_answers=true", 400, "invalid"),
        ("formats=weka", 400, "invalid"),
        ("name=two%20words", 400, "invalid"),
        ("min_answers=9", 409, "conflict"),
    ],
)
def test_what_cannot_be_exported_is_refused(api, world, address, query, status, code):
    for path in (address, f"{address}file/"):
        problem(api(world.rana).get(f"{path}?{query}"), status, code)
