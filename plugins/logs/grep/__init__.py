"""Search in the raw lines of the files that are still there: `snaglist grep` and `?api=source-search`."""
