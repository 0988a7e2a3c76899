import pytest

from annotations.panels.prolific import Prolific, RetryLimits
from tests.annotations.panels import prolific_fake


@pytest.fixture
def fake(settings, monkeypatch):
    """Prolific as its documentation has it; the installation is set to ask it."""
    with prolific_fake.serving() as found:
        settings.PROLIFIC_API = found.address
        settings.MODEL_NETWORKS = ["127.0.0.0/8"]
        monkeypatch.setenv("PROLIFIC_API_TOKEN", prolific_fake.TOKEN)
        monkeypatch.setattr(RetryLimits.__init__, "__defaults__", (2.0, 4, 0.01, 2.0))
        yield found


@pytest.fixture
def client(fake):
    return Prolific(
        patience=RetryLimits(timeout=2.0, attempts=4, first_wait=0.01, longest_wait=2.0)
    )
