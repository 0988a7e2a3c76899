"""Statistics and text rules of UMWP: detection rates, agreement, sentences and expressions."""
