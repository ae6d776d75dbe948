"""A load generator: keep-alive connections that send one GET again and again, each in a thread."""

import socket
import statistics
import sys
import threading
import time


def measure(port: int, path: str, *, connections: int = 4, seconds: float = 4.0) -> dict[str, float]:
    """Return requests per second and the 50th and 95th percentile in milliseconds."""
    times: list[list[float]] = [[] for _ in range(connections)]
    stop = time.perf_counter() + seconds
    threads = [threading.Thread(target=_client, args=(port, path, stop, times[i])) for i in range(connections)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spent = time.perf_counter() - started
    flat = sorted(t for part in times for t in part)
    cuts = statistics.quantiles(flat, n=20)
    return {"requests_per_s": len(flat) / spent, "p50_ms": cuts[9] * 1000, "p95_ms": cuts[18] * 1000}


def _client(port: int, path: str, stop: float, times: list[float]) -> None:
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        reader = connection.makefile("rb")
        while time.perf_counter() < stop:
            begun = time.perf_counter()
            connection.sendall(request)
            status = reader.readline()
            length = 0
            while (line := reader.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            reader.read(length)
            if b" 200 " not in status:
                sys.exit(f"{path} answered {status!r}")
            times.append(time.perf_counter() - begun)
