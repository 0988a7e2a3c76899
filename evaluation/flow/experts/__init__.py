"""What experts' grades of some answers say: of each other, of questions, of workers and models."""
