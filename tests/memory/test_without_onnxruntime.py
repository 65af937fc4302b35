"""A machine for which there is no onnxruntime: facts are written, and found by their words."""

import sys
from pathlib import Path

import pytest

from memory.exceptions import ProviderUnavailable
from memory.providers.onnx_minilm import OnnxMiniLM


def test_the_model_is_unavailable_without_onnxruntime(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ProviderUnavailable, match="the model cannot be loaded: import of onnxruntime halted"):
        OnnxMiniLM(Path("none.onnx")).embed(["The shop closes at six."])
