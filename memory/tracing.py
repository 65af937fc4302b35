"""Spans of OpenTelemetry, named after methods of engines: where its packages and an endpoint are there."""

import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Thread
from typing import Any

from memory.request_context import current_request

logger = logging.getLogger(__name__)
ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
NEEDED = "opentelemetry-sdk and opentelemetry-exporter-otlp-proto-http"


class Tracing:
    """The spans of this process, which are sent in batches by a thread of their own."""

    def __init__(self) -> None:
        self.tracer: Any = None

    def start(self) -> None:
        """Send spans from now on, where an endpoint is set and the packages are installed."""
        if not any(os.environ.get(name) for name in ENDPOINTS):
            return
        if sys.modules.get("requests", True) is None:
            del sys.modules["requests"]  # the exporter needs what the start of a server left out
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError:
            logger.warning("An endpoint for traces is set, but no trace is sent: install %s.", NEEDED)
            return
        named = {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": "day1"}
        self.provider = TracerProvider(resource=Resource.create(named))
        self.provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self.tracer = self.provider.get_tracer("day1")

    def stop(self, timeout: float) -> None:
        """Send what waits, for at most so many seconds: the library tries for longer."""
        if self.tracer is not None:
            ending = Thread(target=self.provider.shutdown, daemon=True)
            ending.start()
            ending.join(timeout)

    @contextmanager
    def span(self, name: str, **traits: str) -> Iterator[None]:
        """Time the block as a span of the request's trace."""
        if self.tracer is None:
            yield
            return
        request = current_request.get()
        traits |= {"day1.request_id": request.id} if request else {}
        with self.tracer.start_as_current_span(
            name, context=find_parent(request.trace if request else {}), attributes=traits
        ):
            yield


def find_parent(headers: Mapping[str, str]) -> Any:
    """Return the span that the caller is in, by its headers; None where there is none."""
    from opentelemetry import trace
    from opentelemetry.propagate import extract

    within = trace.get_current_span().get_span_context().is_valid
    return None if within else extract(headers)


tracing = Tracing()
