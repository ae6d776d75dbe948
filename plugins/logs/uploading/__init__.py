"""Files that people hand over in the browser: they come in pieces into the folder `logs`, and are read from there."""
