"""An HTTP server on the loopback interface that serves one content, well or badly."""

import contextlib
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Served:
    """What the server sends, and the number of requests that it got."""

    content: bytes
    cut_after: int | None = None
    status: int = 200
    length: bool = True
    elsewhere: str = ""
    pause: float = 0.0
    requests: int = 0
    address: str = ""


@contextlib.contextmanager
def serving(content: bytes, **how):
    """A `Served` with its address, while the block runs."""
    served = Served(content, **how)

    class Handler(BaseHTTPRequestHandler):
        timeout = 5

        def do_GET(self):
            respond(self, served)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.address = f"http://127.0.0.1:{server.server_port}/file"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def respond(handler, served):
    served.requests += 1
    if served.elsewhere:
        handler.send_response(302)
        handler.send_header("Location", served.elsewhere)
        handler.end_headers()
        return
    if served.status != 200:
        handler.send_error(served.status)
        return
    body = served.content
    handler.send_response(200)
    if served.length:
        handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    if served.pause:
        with contextlib.suppress(OSError):
            for byte in body:
                handler.wfile.write(bytes([byte]))
                time.sleep(served.pause)
    else:
        handler.wfile.write(body if served.cut_after is None else body[: served.cut_after])
    handler.close_connection = True
