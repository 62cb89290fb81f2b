"""Streams that drift: accuracy, speed and memory beside river's learners."""
