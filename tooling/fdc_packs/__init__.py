"""Packs that come with fdc."""
