"""Where facts are kept: one file, one backend; each exports BACKEND (a `memory.entry.BackendKind`)."""
