"""Rana's graded set of the admin's tests, asked for over the API."""

import json
import uuid

import pytest
from django.core.cache import cache
from django.test import Client

from crowdgrade.models.tokens import create_token
from tests.api.paying_desk import desk  # noqa: F401
from tests.desk.conftest import (  # noqa: F401
    ida,
    otto,
    own_home,
    rana,
    world,
)


class Api:
    """A client that asks with a token and reads JSON."""

    def __init__(self, user=None):
        self.client = Client(raise_request_exception=False)
        self.headers = {}
        if user is not None:
            _, token = create_token(user, f"test {uuid.uuid4()}", 1)
            self.headers["Authorization"] = f"Bearer {token}"

    def ask(self, method, path, body=None, kind="application/json", **headers):
        if not path.startswith(("http", "/")):
            path = f"/api/v1/{path}"
        data = body if isinstance(body, str | bytes) else json.dumps(body)
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.generic(
            method,
            path,
            "" if body is None else data,
            content_type=kind if body is not None else "",
            headers={**self.headers, **names},
        )

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    def post(self, path, body=None, **more):
        return self.ask("POST", path, body, **more)

    def patch(self, path, body=None, **more):
        return self.ask("PATCH", path, body, **more)


@pytest.fixture(autouse=True)
def nothing_counted():
    """No request was made yet."""
    cache.clear()


@pytest.fixture
def api():
    """Makes the client of a user; of nobody without one."""
    return Api


def problem(response, status, code):
    """The problem document of a response, which must be one of that kind."""
    assert response.status_code == status, response.content
    assert response.headers["Content-Type"] == "application/problem+json"
    body = response.json()
    assert (body["status"], body["code"]) == (status, code)
    assert body["type"].endswith(f"/api/v1/problems/{code}/")
    assert body["title"]
    return body
