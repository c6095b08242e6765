"""Runs through the API: begun, driven, answered, looked at."""
