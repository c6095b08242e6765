"""What a run must find of files: those that an approval showed, and those that one branch of a fork has for itself."""
