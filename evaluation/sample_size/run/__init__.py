"""Sample size without database: `trial` evaluates smaller crowds, `plan` plans more answers."""
