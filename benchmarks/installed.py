"""How much an installation weighs: a fresh environment with codeagent and all it needs, without .pyc files.

python -m benchmarks.installed
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks._measure import row

ROOT = Path(__file__).resolve().parents[1]


def megabytes(folder: Path) -> float:
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink() and path.suffix != ".pyc"]
    return sum(path.stat().st_size for path in files) / 1e6


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        bare = megabytes(Path(folder))
        pip = [str(Path(folder) / "bin" / "pip"), "install", "-q", "-c", str(ROOT / "constraints.txt"), str(ROOT)]
        subprocess.run(pip, check=True, stdout=subprocess.DEVNULL)
        whole = megabytes(Path(folder))
        row("", "MB")
        row("empty environment (with pip)", f"{bare:.0f}")
        row("codeagent with its dependencies", f"{whole - bare:.0f}")


if __name__ == "__main__":
    main()
