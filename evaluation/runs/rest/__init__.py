"""Shared parts of features' REST views: finished runs, messages in JSON, conflicts."""
