"""All views of models together: `report` what was found, `answers` one by one, `tables`."""
