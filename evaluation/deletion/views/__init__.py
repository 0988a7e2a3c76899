"""Pages that delete, erase and undo."""
