"""Health checks and metrics for operators, without a login."""
