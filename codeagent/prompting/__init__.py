"""prompting (L1): the system prompt as ordered sections; what changes from session to session stands last."""
