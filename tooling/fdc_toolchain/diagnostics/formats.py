"""The names of the output formats of findings. Imports nothing."""

FORMATS = ("text", "concise", "llm", "json", "jsonl", "sarif", "github", "gitlab", "junit")

COUNTING = ("llm", "text", "concise")
"""The formats that count assumptions, and list them only with `--assumptions`."""
