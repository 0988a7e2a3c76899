"""Judge answers with a language model, and measure its agreement with experts and with AQER."""
