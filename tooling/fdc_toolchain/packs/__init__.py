"""What packs need of Python: pure functions, called as tools. A pack itself is data (`plans/library/`, `grammar/`)."""
