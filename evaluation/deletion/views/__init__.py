"""Pages to delete, erase and undo."""
