"""Code that all features share: statistics, text, options, messages, model back-ends, charts."""
