"""Outgoing HTTP requests, only to permitted network addresses; parsing of Retry-After.

Language models (`evaluation.core.backends`) and panels (`annotations.panels`) are asked through it.
It knows neither Django nor the database.
"""
