"""Settings (L5): flags over environment over files over defaults, and where each value came from.

Seen by app and cli alone. `load_settings` reads; `write.write_setting` changes one value in a file and keeps the file's
comments; `trust` decides whether a project's files may do more than harmless things.
"""

from codeagent.settings.load import Loaded, Origin, load_settings
from codeagent.settings.schema import ProviderSettings, Settings, known_keys
from codeagent.settings.trust import Trust

__all__ = ["Loaded", "Origin", "ProviderSettings", "Settings", "Trust", "known_keys", "load_settings"]
