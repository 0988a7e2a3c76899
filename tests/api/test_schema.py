"""The schema is valid, complete and the one in the documents."""

from pathlib import Path

import pytest
import yaml
from django.core.management import call_command
from django.urls import get_resolver
from yaml import SafeLoader

DOCUMENT = Path(__file__).resolve().parents[2] / "platform" / "docs" / "openapi.yaml"
# About the API itself; everything else is described.
UNDESCRIBED = {"root", "schema", "docs", "problem", "nowhere"}


@pytest.fixture(scope="module")
def schema():
    return yaml.load(DOCUMENT.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", SafeLoader))


def operations(schema):
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


@pytest.mark.slow
def test_the_schema_is_valid_and_the_one_in_the_documents(tmp_path, monkeypatch):
    made = tmp_path / "openapi.yaml"
    call_command("spectacular", "--fail-on-warn", "--validate", "--file", str(made))
    assert made.read_text(encoding="utf-8") == DOCUMENT.read_text(encoding="utf-8"), (
        "make it anew: manage.py spectacular --file platform/docs/openapi.yaml"
    )


@pytest.mark.medium
def test_every_address_is_described(schema):
    namespace = get_resolver().namespace_dict["api"][1]
    names = {name for name in namespace.reverse_dict if isinstance(name, str)} - UNDESCRIBED
    described = {path for path, _, _ in operations(schema)}
    assert len(described) == len(names)


def test_every_operation_says_what_it_does_and_how_it_fails(schema):
    for path, method, operation in operations(schema):
        at = f"{method} {path}"
        assert operation["summary"], at
        assert operation["tags"][0] in {tag["name"] for tag in schema["tags"]}, at
        assert {"401", "406", "429", "500"} <= operation["responses"].keys(), at
        assert any(status.startswith("2") for status in operation["responses"]), at
        if "{" in path:
            assert "404" in operation["responses"], at
        if "requestBody" in operation:
            assert {"400", "413", "415"} <= operation["responses"].keys(), at
        assert {"token": []} in operation["security"], at


def test_starting_a_run_requires_a_body_as_each_run_type_requires_a_key(schema):
    start = schema["paths"]["/api/v1/runs/"]["post"]
    assert start["requestBody"]["required"] is True
    types = schema["components"]["schemas"]["NewRunRequest"]["oneOf"]
    names = [one["$ref"].rpartition("/")[2] for one in types]
    assert all(
        "question_set" in schema["components"]["schemas"][name]["required"] for name in names
    )


def test_every_example_fits_its_schema(schema):
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    seen = 0
    for name, component in schema["components"]["schemas"].items():
        # The references are to the components of the whole document.
        whole = {"components": schema["components"], "$ref": f"#/components/schemas/{name}"}
        for example in component.get("examples", ()):
            jsonschema.validate(example, whole)
            seen += 1
    assert seen == sum(
        "properties" in c or "oneOf" in c for c in schema["components"]["schemas"].values()
    )


def test_every_body_has_an_example(schema):
    for path, method, operation in operations(schema):
        successes = [r for status, r in operation["responses"].items() if status.startswith("2")]
        for part in [operation.get("requestBody", {}), *successes]:
            body = part.get("content", {}).get("application/json")
            if body is None:
                continue
            whole = body["schema"]  # or a list of what has an example
            reference = whole.get("$ref") or whole.get("items", {}).get("$ref", "")
            component = schema["components"]["schemas"].get(reference.rpartition("/")[2], {})
            has = body.get("examples") or body["schema"].get("example") or component.get("examples")
            assert has, f"{method} {path}"
    for response in schema["components"]["responses"].values():
        assert response["content"]["application/problem+json"]["examples"]
