"""Reading one file: its bytes, its format, its entries, and storing them up to a checkpoint."""
