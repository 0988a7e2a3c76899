"""A click goes through no more modules than it has to; see platform/docs/architecture.md."""

import pytest

from tests.walks import count_imports_between_packages, walked

# What each walk may be at the most: what it was when it was last looked at, and two.
MOST = {"an upload": 25, "a click on Grade": 38, "the page of the results": 36}


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_no_walk_grows_by_modules_that_pass_things_on(client, django_user_model, monkeypatch):
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    owner = django_user_model.objects.create_user("rana", is_staff=True)
    client.force_login(owner)
    walks = walked(client, owner)
    assert walks.keys() == MOST.keys()
    for name, modules in walks.items():
        assert len(modules) > 10, f"{name}: the walk was not recorded"
        assert len(modules) <= MOST[name], f"{name} enters {len(modules)}: {', '.join(modules)}"


def test_no_two_packages_import_each_other():
    found = count_imports_between_packages()
    assert found["evaluation.site", "evaluation.runs.reports"] > 5
    assert [pair for pair in found if pair[::-1] in found] == []
