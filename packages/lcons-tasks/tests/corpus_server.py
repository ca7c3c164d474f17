"""An HTTP server on the loopback interface that serves one content, well or badly."""

import contextlib
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Served:
    """What the server sends, and the Range header of each request it got."""

    content: bytes
    etag: str | None = '"1"'
    ranges: bool = True
    cut_after: int | None = None
    status: int = 200
    length: bool = True
    wrong_range: bool = False
    elsewhere: str = ""
    requests: list[str | None] = field(default_factory=list)
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
    wanted = handler.headers.get("Range")
    served.requests.append(wanted)
    if served.elsewhere:
        handler.send_response(302)
        handler.send_header("Location", served.elsewhere)
        handler.end_headers()
        return
    if served.status != 200:
        handler.send_error(served.status)
        return
    body, start = served.content, None
    if wanted and served.ranges and handler.headers.get("If-Range") == served.etag:
        start = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1])
        if start >= len(body):
            handler.send_error(416)
            return
        start = 0 if served.wrong_range else start
    handler.send_response(200 if start is None else 206)
    if start is not None:
        handler.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        body = body[start:]
    if served.etag:
        handler.send_header("ETag", served.etag)
    if served.length:
        handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body if served.cut_after is None else body[: served.cut_after])
    handler.close_connection = True
