"""Commands of the annotations room."""
