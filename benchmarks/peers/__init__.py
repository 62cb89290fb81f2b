"""`make bench-peers`: this package beside hyperbox-brain."""
