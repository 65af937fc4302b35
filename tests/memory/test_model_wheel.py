"""The wheel of the embedding model: built from a file that is the model, refused for any other."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from memory.providers import onnx_minilm

PACKAGE = Path("packages/day1-minilm").absolute()
TINY = b"\x08 a tiny model"
EMBED = """
from memory.providers.onnx_minilm import OnnxMiniLM
print(OnnxMiniLM().embed(["Bees sleep at night."]).tolist())
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a copy of the package that expects the tiny model."""
    folder = tmp_path / "package"
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("dist", "__pycache__", "model.onnx"))
    module = folder / "day1_minilm/__init__.py"
    text = module.read_text().replace("22_928_619", str(len(TINY)))
    module.write_text(text.replace(onnx_minilm.DEFAULT_SHA256, hashlib.sha256(TINY).hexdigest()))
    return folder


def build(folder: Path, model: Path) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, str(folder / "build_wheel.py"), "--model", str(model)]
    return subprocess.run(program, capture_output=True, text=True, check=False)


def put(folder: Path, content: bytes) -> Path:
    path = folder.parent / "given.onnx"
    path.write_bytes(content)
    return path


def test_the_wheel_has_the_model_its_licence_and_its_card(folder: Path) -> None:
    done = build(folder, put(folder, TINY))
    assert done.returncode == 0, done.stderr
    (wheel,) = (folder / "dist").glob("*.whl")
    assert wheel.name == "day1_minilm-1.0.0-py3-none-any.whl"
    with ZipFile(wheel) as found:
        assert found.read("day1_minilm/model.onnx") == TINY
        about = "day1_minilm-1.0.0.dist-info"
        assert b"Apache License" in found.read(f"{about}/licenses/LICENSE")
        assert onnx_minilm.DEFAULT_SHA256.encode() in found.read(f"{about}/licenses/NOTICE")
        assert b"Model card" in found.read(f"{about}/METADATA")
    assert not (folder / "day1_minilm/model.onnx").exists()
    before = wheel.read_bytes()
    build(folder, put(folder, TINY))
    assert wheel.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (TINY[:-1], f"is cut: it has {len(TINY) - 1} of {len(TINY)} bytes."),
        (TINY[:-1] + b"!", "is another model: its sha256 is "),
        (None, "cannot be read: No such file or directory."),
    ],
)
def test_a_file_that_is_cut_or_anothers_makes_no_wheel(
    folder: Path, content: bytes | None, reason: str
) -> None:
    path = folder / "none.onnx" if content is None else put(folder, content)
    done = build(folder, path)
    assert (done.returncode, reason in done.stderr) == (1, True)
    assert "Traceback" not in done.stderr
    assert not (folder / "dist").exists()


def embed_with(package: Path) -> subprocess.CompletedProcess[str]:
    """Embed a text in a process that finds the package first."""
    settings = {"PYTHONPATH": str(package), "DJANGO_SETTINGS_MODULE": "day1site.settings.test"}
    program = [sys.executable, "-c", EMBED]
    return subprocess.run(
        program, capture_output=True, text=True, check=False, env={**os.environ, **settings}
    )


def test_the_server_uses_the_package_and_refuses_another_model_in_it(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE / "day1_minilm", tmp_path / "day1_minilm")
    placed, plain = tmp_path / "day1_minilm/model.onnx", embed_with(tmp_path / "nowhere")
    placed.symlink_to(onnx_minilm.find_default_model())
    assert embed_with(tmp_path).stdout == plain.stdout != ""
    placed.unlink()
    placed.write_bytes(TINY)
    refused = embed_with(tmp_path)
    assert refused.returncode == 1
    assert f"{placed} is not the tested MiniLM, or was cut: its sha256 differs" in refused.stderr
