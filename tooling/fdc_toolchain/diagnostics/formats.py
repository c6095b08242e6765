"""The names of the forms in which findings are shown. Imports nothing."""

FORMATS = ("text", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit")
