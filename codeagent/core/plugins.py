"""The four sockets: find what the modules of a folder export, without any list to edit."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType
from typing import Any


def discover(package: ModuleType, attribute: str) -> dict[str, Any]:
    """Map module name to the value of `attribute`, for every module of `package`, in alphabetical order.

    Modules whose name begins with an underscore are shared helpers and are left out.

    Raises:
        AttributeError: a module of the folder does not export `attribute`: a plug-in that nobody would find.
    """
    found = {}
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        if not hasattr(module, attribute):
            raise AttributeError(f"{module.__name__} does not export {attribute}")
        found[info.name] = getattr(module, attribute)
    return found
