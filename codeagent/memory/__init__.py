"""memory (L1): remember. `manager.MemoryManager` is the facade the agent knows; the rest does the work.

Facts: `entry` (what one is), `document` (their JSON form), `backends/` (where they are kept), `long_term` (the rules),
`retriever` (which of them matter now), `intent` and `secrets` (what may be kept), `injected` (what the model has).
Rules of the team: `project`, `scaffold`. The context: `compactor` with its `strategies/` and `rungs/`, `working`,
`meter`.
"""
