"""Which known source a file is, whatever it is called today: appended to, rotated, copied, archived, shrunk."""
