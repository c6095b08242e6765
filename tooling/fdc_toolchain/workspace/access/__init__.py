"""What a step may touch of the files of a workspace, and how a file is reached."""
