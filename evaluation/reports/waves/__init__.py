"""A run against a run of an earlier wave: people, what they agree on, language models.

Questions are matched by their ids, people and models by being the same rows of the owner's.
"""

from evaluation.reports.waves.report import WavesReport, earlier_runs, offered, waves_report

__all__ = ["WavesReport", "earlier_runs", "offered", "waves_report"]
