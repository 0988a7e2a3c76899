"""Pages of the trust report, the decision summary and the printable summary."""
