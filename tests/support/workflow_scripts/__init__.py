"""Workflow scripts by chance, and a stub of the runtime that runs them in Node."""
