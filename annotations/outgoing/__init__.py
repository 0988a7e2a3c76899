"""Outgoing HTTP requests, only to permitted network addresses; parsing of Retry-After.

Requests to language models (`evaluation.core.backends`) and panels (`annotations.panels`) use it.
It knows neither Django nor the database.
"""
