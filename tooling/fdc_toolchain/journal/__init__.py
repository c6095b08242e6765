"""The record of runs, in SQLite or PostgreSQL."""
