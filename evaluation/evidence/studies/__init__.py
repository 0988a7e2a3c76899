"""The studies of the evidence, one a module; each says which experiment it repeats."""
