"""`make bench-scale`: much data, streams, single samples."""
