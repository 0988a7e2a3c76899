"""Steps of runs between the database and the computation: rows in, arrays, rows out."""
