"""The slash commands. Each module exports COMMAND; help and completion follow by themselves."""
