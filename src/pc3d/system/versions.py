"""What a result's bits depend on besides its settings: Python, the packages that compute, our own code."""

import hashlib
import platform
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("pc3d", "jax", "jaxlib", "equinox", "optax", "numpy")


def versions() -> dict[str, str]:
    """The versions that are written beside every run."""
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


def code_digest() -> str:
    """A short digest of this package's own source: two checkouts may differ and call themselves the same."""
    root, digest = Path(__file__).parents[1], hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(f"{path.relative_to(root).as_posix()}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:12]
