"""An S3-compatible server for the tests: moto, on a free port of this machine, which it prints."""

from __future__ import annotations

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

if __name__ == "__main__":
    server = make_server("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app), threaded=True)
    print(server.server_port, flush=True)  # noqa: T201 - the fixture reads it
    server.serve_forever()
