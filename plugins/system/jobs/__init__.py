"""Background work: the queue of each application, workers that take from it, schedules that fill it."""
