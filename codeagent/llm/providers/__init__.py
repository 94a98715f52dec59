"""One file, one kind of endpoint; each exports PROVIDER, and `core.plugins` finds it."""
