"""Neural networks under label trees. The classifiers need the extra ``torch``; saved ones can do with ``onnx``."""
