"""The peer of the request figures: falcon and waitress with one endpoint that answers a constant."""

import falcon
from waitress.server import TcpWSGIServer, create_server


class Hello:
    """Answers a constant."""

    def on_get(self, request: falcon.Request, response: falcon.Response) -> None:
        """Answer GET."""
        response.media = {"hello": "world"}


if __name__ == "__main__":
    app = falcon.App()
    app.add_route("/", Hello())
    server = create_server(app, host="127.0.0.1", port=0, threads=8)
    assert isinstance(server, TcpWSGIServer) and server.socket
    print(f"hello on http://127.0.0.1:{server.socket.getsockname()[1]}/", flush=True)
    server.run()
