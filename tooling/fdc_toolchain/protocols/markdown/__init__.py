"""Markdown of protocols: its outline, and what of it would act in a viewer."""
