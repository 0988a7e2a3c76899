"""Steps of runs between database and computation: read rows as arrays, store results as rows."""
