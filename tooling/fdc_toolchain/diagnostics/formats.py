"""The names of the forms in which findings are shown. Imports nothing."""

FORMATS = ("text", "concise", "llm", "json", "jsonl", "sarif", "github", "gitlab", "junit")

COUNTING = ("llm", "text", "concise")
"""Those that count assumptions, and list them only where `--assumptions` asks for it."""
