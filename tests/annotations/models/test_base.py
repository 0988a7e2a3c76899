import uuid

import pytest

from annotations.models import new_public_id


def test_public_ids_are_random_and_begin_with_the_time():
    ids = [new_public_id() for _ in range(1000)]
    assert len(set(ids)) == 1000
    assert {(i.version, i.variant) for i in ids} == {(7, uuid.RFC_4122)}
    assert sorted(i.int >> 80 for i in ids) == [i.int >> 80 for i in ids]
    assert len({i.int & (1 << 62) - 1 for i in ids}) == 1000


@pytest.mark.medium
@pytest.mark.django_db
def test_migrations_and_models_agree():
    from django.core.management import call_command

    call_command("makemigrations", check=True, dry_run=True, verbosity=0)
