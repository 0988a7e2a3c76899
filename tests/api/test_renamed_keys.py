"""Keys with a new name: both are sent and taken for one release, the old one is deprecated."""

import pytest
from rest_framework import serializers

from annotations.web.rest.renamed_keys import add_renamed_keys
from tests.api.conftest import problem
from tests.api.test_schema import schema as openapi  # noqa: F401

pytestmark = pytest.mark.django_db


@add_renamed_keys(said="message", at="decided_at", n="count", absent="other")
class Row(serializers.Serializer):
    said = serializers.SerializerMethodField(help_text="A sentence.")
    at = serializers.CharField(source="day")
    n = serializers.IntegerField(source="count")

    def get_said(self, row):
        return f"It is {row['day']}."


def test_a_renamed_key_stands_before_the_old_one_with_the_same_value():
    shown = Row({"day": "Monday", "count": 3}).data
    assert list(shown.items()) == [
        ("message", "It is Monday."), ("said", "It is Monday."),
        ("decided_at", "Monday"), ("at", "Monday"),
        ("count", 3), ("n", 3),
    ]  # fmt: skip


def pairs_in(schemas):
    """Return the deprecated properties, each with the property before it: its new name."""
    for name, described in schemas.items():
        keys = list(described.get("properties", {}))
        for before, key in zip([None, *keys], keys, strict=False):
            if described["properties"][key].get("deprecated"):
                yield name, before, key


@pytest.mark.medium
def test_the_schema_marks_each_old_key_and_describes_both_alike(openapi):  # noqa: F811
    schemas = openapi["components"]["schemas"]
    pairs = list(pairs_in(schemas))
    assert ("RunRow", "run_type", "kind") in pairs
    assert ("ResultWorkerHistory", "trend_messages", "told") in pairs
    for name, new, old in pairs:
        properties = schemas[name]["properties"]
        if "allOf" in properties[old]:  # a reference has no place for "deprecated" of its own
            described = properties[old]["allOf"][0]
        else:
            described = {
                key: properties[old][key] for key in properties[old].keys() - {"deprecated"}
            }
        if not name.startswith("New"):  # there the old one has a description of its own
            assert properties[new] == described, (name, new, old)


def test_a_run_has_its_label_type_and_whether_it_is_official_under_both_names(api, world):
    run = api(world.rana).get(f"runs/{world.run.public_id}/").json()
    assert (run["run_type"], run["is_official"]) == ("aqer", True)
    assert (run["label"], run["run_type"], run["is_official"]) == (
        run["called"], run["kind"], run["of_record"],
    )  # fmt: skip


@pytest.mark.parametrize(
    "named", [{"run_type": "views"}, {"kind": "views"}, {"run_type": "views", "kind": "views"}]
)
def test_a_run_is_started_by_the_new_name_of_its_type_and_by_the_old_one(api, world, named):
    started = api(world.rana).post("runs/", {"question_set": str(world.set.public_id), **named})
    assert (started.status_code, started.json()["run_type"]) == (202, "views")


def test_two_names_of_a_run_type_that_differ_are_refused(api, world):
    body = {"question_set": str(world.set.public_id), "run_type": "views", "kind": "aqer"}
    refused = api(world.rana).post("runs/", body)
    assert [one["pointer"] for one in problem(refused, 400, "invalid")["errors"]] == ["#/kind"]
    unknown = {"question_set": str(world.set.public_id), "run_type": "nonsense"}
    refused = api(world.rana).post("runs/", unknown)
    assert [one["pointer"] for one in problem(refused, 400, "invalid")["errors"]] == ["#/run_type"]


def test_runs_are_filtered_by_both_names_of_the_run_type(api, world):
    asking = api(world.rana)
    for name in ("run_type", "kind"):
        assert len(asking.get(f"runs/?{name}=aqer").json()["results"]) >= 1
        assert asking.get(f"runs/?{name}=views").json()["results"] == []
