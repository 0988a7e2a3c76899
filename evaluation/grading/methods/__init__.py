"""The map of answers, the heat map's overview and the results of checks, as pure functions."""
