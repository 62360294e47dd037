"""Twenty everyday programs, whose profiles are compared with samples of the plain run."""
