"""A small site that holds snaglist."""
