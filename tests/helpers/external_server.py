"""An HTTP server for programs that make external calls; each of its answers is different."""

import contextlib
import http.server
import itertools
import threading
import time


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if "slow" in self.path:
            self.server.released.wait()
        text = f"answer {next(self.server.numbers)} to {self.path} at {time.time_ns()}\n" * 3
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        with contextlib.suppress(OSError):  # the client has closed the connection
            self.wfile.write(text.encode())

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.do_GET()

    def log_message(self, *arguments):
        pass


@contextlib.contextmanager
def serving():
    """Run a server during the block; yield its address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.numbers = itertools.count(1)
    server.released = threading.Event()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
