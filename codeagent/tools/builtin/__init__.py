"""One file, one tool: each exports `TOOL`. Files that begin with an underscore are shared helpers."""
