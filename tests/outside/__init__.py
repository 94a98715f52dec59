"""Against servers that others wrote; left out of `make test`, run by `make test-outside` and `make test-real`."""
