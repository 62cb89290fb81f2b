"""`make bench-dask`: fits in partitions on workers, compared with one process."""
