"""Models as files and ONNX graphs."""
