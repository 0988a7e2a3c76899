"""Reports on the sample of answers for experts and on the experts' grades, as plain records."""
