"""What a person lets a run do: approvals, and leave to change what is protected."""
