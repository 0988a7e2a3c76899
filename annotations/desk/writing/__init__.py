"""Pages of writing projects: for requesters, writers and validators."""
