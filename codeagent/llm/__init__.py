"""llm (L1): talk to a model.

`providers/` is the socket: one file, one kind of endpoint, each exporting PROVIDER. What a stream brings goes through
`sse` (bytes to values), `calls` and `assemble` (values to deltas and one `Reply`); `retry` wraps a provider; `errors`
says what a refusal means. `profiles`, `catalog` and `presets` are data; `probe` asks an endpoint about itself.
Meets the rest of the house by `core.ports`: Provider, Request, Reply, Endpoint, Summarize.
"""
