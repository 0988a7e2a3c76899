"""The settings of an installation that knows the kind of run of the tests as well."""

from crowdgrade.settings import *  # noqa: F403
from crowdgrade.settings import RUN_KINDS

LINE = "tests.evaluation.runs.run_types.words.WORDS"
RUN_KINDS = [*RUN_KINDS, LINE]
