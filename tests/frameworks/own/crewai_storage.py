"""Day1's storage in the place of CrewAI's own on LanceDB and Qdrant: each path is a namespace."""

import importlib.util
import os
import sys
from hashlib import sha256
from types import ModuleType

os.environ.update(CREWAI_DISABLE_TELEMETRY="true", OTEL_SDK_DISABLED="true", OPENAI_API_KEY="none")

import crewai.memory.storage.lancedb_storage as lance
import pytest
from crewai.memory.storage import factory

from day1_client import Day1
from day1_client.crewai import Day1Storage

QDRANT = "crewai.memory.storage.qdrant_edge_storage"
memory = Day1()


def make_storage(path=None, **_options):
    return Day1Storage(memory, namespace=f"own-{sha256(str(path).encode()).hexdigest()[:24]}")


lance.LanceDBStorage = make_storage
qdrant = sys.modules[QDRANT] = ModuleType(QDRANT)
vars(qdrant).update(QdrantEdgeStorage=make_storage)
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: find("json" if name == "qdrant_edge" else name, *more)


@pytest.fixture(autouse=True)
def on_day1():
    factory.set_memory_storage_factory(make_storage)
    yield
    factory.set_memory_storage_factory(None)
