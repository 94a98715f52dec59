"""How the history is made smaller: one file, one strategy; each exports STRATEGY (a `memory.rungs.base.Strategy`)."""
