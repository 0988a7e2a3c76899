"""The form of a kind's options: what comes first."""

import pytest
from django.contrib.auth.models import User

from evaluation.multiqa.options import MultiqaRunOptions
from evaluation.runs.forms import get_option_form

pytestmark = pytest.mark.django_db


def test_whom_to_ask_comes_before_how():
    rana = User.objects.create(username="rana", is_staff=True)
    names = [field.name for field in get_option_form(MultiqaRunOptions)(rana).list_basic_fields()]
    assert names[:2] == ["models", "rewriter"]
    # The others keep the order in which they are declared.
    declared = [name for name in MultiqaRunOptions.get_options() if name in names]
    assert [name for name in declared if name not in names[:2]] == [
        name for name in names[2:] if not name.startswith("other_")
    ]
