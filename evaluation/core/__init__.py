"""Shared parts that know no feature: statistics, text, options, messages, back-ends, charts."""
