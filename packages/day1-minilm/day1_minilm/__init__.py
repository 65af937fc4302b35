"""The embedding model of Day1, as a file."""

from pathlib import Path

SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
SIZE_BYTES = 22_928_619


def model_path() -> Path:
    """Return the path of the installed model."""
    return Path(__file__).with_name("model.onnx")
