"""A judge over a question set: `replies` asks and keeps, `loading` reads, `run` tells the flow."""
