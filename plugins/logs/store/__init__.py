"""What is remembered of sources: rows, checkpoints, under which settings they were read, and deletions."""
