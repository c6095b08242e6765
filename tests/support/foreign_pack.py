"""A pack of somebody else, laid down as pip leaves it."""

from __future__ import annotations

from pathlib import Path

HEAD = 'format = 1\nname = "tea"\nsummary = "makes tea"\n'


def put(folder: Path, text: str) -> Path:
    """A folder with a `pack.toml`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "__init__.py").touch()
    (folder / "pack.toml").write_text(text)
    return folder


def install(site: Path, name: str, text: str) -> Path:
    """A distribution with a pack; returns the pack's folder."""
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[fdc.packs]\n{name} = {name}_pack\n")
    return put(site / f"{name}_pack", text)
