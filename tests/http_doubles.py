"""HTTP servers that stand for a provider or for Day1, and stop as soon as they are told to."""

from socketserver import BaseServer
from threading import Thread

from pytest_httpserver import HTTPServer

POLL_SECONDS = 0.01  # the library looks twice a second whether it shall stop


class DoubleServer(HTTPServer):
    def thread_target(self) -> None:
        """Serve until ``stop`` is called."""
        assert self.server is not None
        self.server.serve_forever(poll_interval=POLL_SECONDS)


def start_serving(server: BaseServer) -> Thread:
    """Serve in a thread until ``server.shutdown`` is called; return the thread."""
    thread = Thread(target=server.serve_forever, args=(POLL_SECONDS,), daemon=True)
    thread.start()
    return thread
