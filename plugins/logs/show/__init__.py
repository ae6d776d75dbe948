"""What people see of sources: raw lines, single events, `explain` and `demo`."""
