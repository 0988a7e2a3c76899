"""Pure functions for the map of answers, the heat map's overview and results of checks."""
