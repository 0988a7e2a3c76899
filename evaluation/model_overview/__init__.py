"""Language models from all sides: near to people, sure, steady, aware of what has no answer."""
