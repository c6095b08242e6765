"""Names, calls, tools and settings of plans, looked up."""
