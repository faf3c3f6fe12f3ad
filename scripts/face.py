#!/usr/bin/env python3
"""Figures of the terminal interface: the release binary in a real pseudo-terminal, a model on loopback.

    cargo build --release && python3 scripts/face.py [--runs 5] [--check] [--json]

Measures the time from exec to a prompt that echoes a key; memory at the empty prompt and with a session of
1,000 messages; CPU time and bytes written over idle seconds, also with an MCP server attached; the echo of keys in an empty session, and in one
of 10,000 messages while the model streams 500 tokens a second (median and 99th percentile); bytes written for
each streamed token. `--check` exits 1 when a target is missed.
"""
import argparse
import fcntl
import json
import os
import pty
import select
import sqlite3
import statistics
import struct
import sys
import tempfile
import termios
import time
import uuid

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bench

TARGETS = {
    "ready_ms": 50, "empty_mb": 30, "thousand_mb": 40, "idle_cpu_ms": 0, "idle_bytes": 0,
    "idle_mcp_cpu_ms": 0, "idle_mcp_bytes": 0, "echo_ms": 2, "busy_echo_p99_ms": 8, "token_bytes": 200,
}
TOKENS_A_SECOND = 500
MCP_SERVER = os.path.join(bench.ROOT, "crates/agent/tests/it/mcp/server.py")
# Letters that neither model nor interface writes.
LETTERS = "ZQXJVWKZP"


class Terminal:
    """A program in a pseudo-terminal; keeps what it wrote."""

    def __init__(self, argv, env, cwd, cols=120, rows=40):
        self.written = 0
        self.data = b""
        self.began = time.monotonic()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
            os.chdir(cwd)
            os.execve(argv[0], argv, env)

    def read(self, seconds):
        """Reads once; the time of the read, or none."""
        if not select.select([self.fd], [], [], max(0, seconds))[0]:
            return None
        try:
            data = os.read(self.fd, 1 << 16)
        except OSError:
            raise SystemExit(f"the interface ended: {self.data[-2000:]!r}") from None
        self.written += len(data)
        self.data = (self.data + data)[-200_000:]
        return time.monotonic()

    def until(self, text, seconds=20):
        """The time at which a text was written."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            at = self.read(end - time.monotonic())
            if at and text in self.data:
                return at
        raise SystemExit(f"{text!r} did not come: {self.data[-2000:]!r}")

    def drain(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read(end - time.monotonic())

    def type(self, text):
        self.data = b""
        os.write(self.fd, text.encode())

    def cpu(self):
        with open(f"/proc/{self.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mb(self):
        """Memory of its own and its share of what it shares."""
        with open(f"/proc/{self.pid}/smaps_rollup") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("Pss:")) / 1024

    def resident_mb(self):
        with open(f"/proc/{self.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024

    def end(self):
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


class SlowServer(bench.Server):
    """Streams without end, a token every 2 ms, until the reader is gone."""

    def talk(self, connection):
        head, _, body = self.read_head(connection)
        length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n")
                       if line.lower().startswith(b"content-length:")), 0)
        while len(body) < length:
            body += connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                           b"Transfer-Encoding: chunked\r\n\r\n")
        if b'"tools"' not in body:
            connection.sendall(b"".join(bench.answer(3)))
            connection.close()
            return
        began, sent = time.monotonic(), 0
        try:
            while True:
                due = int((time.monotonic() - began) * TOKENS_A_SECOND)
                while sent < due:
                    sent += 1
                    word = "\n\n" if sent % 60 == 0 else f" word{sent % 1000}"
                    connection.sendall(bench.chunk({"content": word}))
                time.sleep(0.002)
        except OSError:
            connection.close()


def fill(database, folder, messages):
    """A session of many messages, copied from the one a run has left."""
    db = sqlite3.connect(database)
    columns = [row[1] for row in db.execute("PRAGMA table_info(sessions)")]
    first = dict(zip(columns, db.execute("SELECT * FROM sessions ORDER BY updated DESC LIMIT 1").fetchone()))
    entries = db.execute("SELECT id, at, kind, body FROM entries WHERE session = ? AND kind IN ('user', 'assistant')"
                         " ORDER BY seq", (first["id"],)).fetchall()
    prefix = db.execute("SELECT id, at, kind, body FROM entries WHERE session = ? AND kind = 'prefix'",
                        (first["id"],)).fetchall()
    new = uuid.uuid4().bytes
    base = int(time.time() * 1000) << 80
    db.execute("PRAGMA foreign_keys = OFF")
    row = dict(first, id=new, title="long", head_seq=None, entries=messages)
    db.execute(f"INSERT INTO sessions ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", list(row.values()))
    seq, parent, parent_id = db.execute("SELECT max(seq) FROM entries").fetchone()[0], None, None
    for number in range(messages):
        source = (prefix + entries)[number] if number < len(prefix) else entries[number % len(entries)]
        own = uuid.UUID(int=base + (7 << 76) + (2 << 62) + number)
        body = json.loads(source[3])
        for key, value in (("id", str(own)), ("parent", parent_id)):
            if key in body:
                body[key] = value
        seq += 1
        db.execute("INSERT INTO entries (seq, parent_seq, session, id, at, kind, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
                   (seq, parent, new, own.bytes, source[1] + number, source[2], json.dumps(body)))
        parent, parent_id = seq, str(own)
    db.execute("UPDATE sessions SET head_seq = ? WHERE id = ?", (seq, new))
    db.commit()
    db.close()
    return str(uuid.UUID(bytes=new))


def echoes(terminal, count, pause):
    """Seconds between a key and its echo, key by key; each is taken back before the next."""
    times = []
    for number in range(count):
        letter = LETTERS[number % len(LETTERS)]
        began = time.monotonic()
        terminal.type(letter)
        times.append(terminal.until(letter.encode()) - began)
        terminal.drain(pause)
        terminal.type("\x7f")
        terminal.drain(pause)
    return times


def idle_with_server(binary, env, home, work, idle):
    """CPU time and bytes of an interface that has said something, with a server that lends a tool and is idle."""
    spec, settings = os.path.join(home, "spec.json"), os.path.join(home, "servers.json")
    with open(spec, "w") as file:
        json.dump({"tools": [{"name": "add", "description": "Adds."}]}, file)
    with open(settings, "w") as file:
        json.dump({"mcpServers": {"idle": {"command": sys.executable, "args": [MCP_SERVER, spec]}}}, file)
    terminal = Terminal([binary, "--mcp-config", settings], env, work)
    terminal.until("›".encode())
    for letter in "hello":
        terminal.type(letter)
        terminal.drain(0.05)
    terminal.type("\r")
    until = time.monotonic() + 30
    while not os.path.exists(spec + ".heard"):
        terminal.drain(0.1)
        if time.monotonic() > until:
            sys.exit("the MCP server was not started")
    terminal.drain(3)
    cpu, written = terminal.cpu(), terminal.written
    terminal.drain(idle)
    figures = terminal.cpu() - cpu, terminal.written - written
    terminal.end()
    return figures


def measure(binary, runs, idle):
    quick, slow = bench.Server(), SlowServer()
    with tempfile.TemporaryDirectory() as home:
        config = os.path.join(home, ".config", "caiman")
        work = os.path.join(home, "work")
        os.makedirs(config)
        os.makedirs(work)
        model = [{"id": "short", "context_window": 100_000_000, "default_max_tokens": 32000}]
        providers = {name: {"type": "openai-compat", "base_url": server.url, "api_key": "bench", "models": model}
                     for name, server in (("mock", quick), ("slow", slow))}
        with open(os.path.join(config, "caiman.json"), "w") as file:
            json.dump({"providers": providers, "models": {"large": {"provider": "mock", "model": "short"}}}, file)
        env = {"HOME": home, "PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        bench.run([binary, "run", "hello there"], env, work)
        database = os.path.join(home, ".local", "share", "caiman", "caiman.db")
        thousand, many = fill(database, work, 1000), fill(database, work, 10_000)

        ready, empty, echo = [], [], []
        for _ in range(runs):
            terminal = Terminal([binary], env, work)
            # Not before the prompt is drawn: until then the terminal itself echoes.
            terminal.until("›".encode())
            terminal.type("Z")
            ready.append(terminal.until(b"Z") - terminal.began)
            terminal.type("\x7f")
            terminal.drain(1)
            empty.append(terminal.memory_mb())
            echo += echoes(terminal, 20, 0.03)
            terminal.end()
        terminal = Terminal([binary], env, work)
        terminal.drain(2)
        cpu, written = terminal.cpu(), terminal.written
        terminal.drain(idle)
        idle_cpu, idle_bytes = terminal.cpu() - cpu, terminal.written - written
        resident = terminal.resident_mb()
        terminal.end()

        idle_mcp_cpu, idle_mcp_bytes = idle_with_server(binary, env, home, work, idle)

        terminal = Terminal([binary, "--session", thousand], env, work)
        terminal.drain(2)
        thousand_mb = terminal.memory_mb()
        terminal.end()

        terminal = Terminal([binary, "--session", many, "--model", "slow/short"], env, work)
        terminal.drain(2)
        for letter in "go":
            terminal.type(letter)
            terminal.drain(0.05)
        terminal.type("\r")
        terminal.until(b"word", 60)
        terminal.drain(1)
        busy = echoes(terminal, 200, 0.01)
        written, began = terminal.written, time.monotonic()
        terminal.drain(5)
        token_bytes = (terminal.written - written) / ((time.monotonic() - began) * TOKENS_A_SECOND)
        terminal.end()
    return {
        "ready_ms": statistics.median(ready) * 1e3,
        "empty_mb": statistics.median(empty),
        "empty_rss_mb": resident,
        "thousand_mb": thousand_mb,
        "idle_cpu_ms": idle_cpu * 1e3,
        "idle_bytes": idle_bytes,
        "idle_mcp_cpu_ms": idle_mcp_cpu * 1e3,
        "idle_mcp_bytes": idle_mcp_bytes,
        "echo_ms": statistics.median(echo) * 1e3,
        "busy_echo_ms": statistics.median(busy) * 1e3,
        "busy_echo_p99_ms": sorted(busy)[int(len(busy) * 0.99) - 1] * 1e3,
        "token_bytes": token_bytes,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--binary", default=os.path.join(bench.ROOT, "target/release/caiman"))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--idle", type=float, default=10)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = measure(options.binary, options.runs, options.idle)
    if options.json:
        print(json.dumps(figures, indent=2))
    else:
        for name, value in figures.items():
            against = f"  target {TARGETS[name]}" if name in TARGETS else ""
            print(f"{name:18} {value:8.1f}{against}")
    missed = [name for name, target in TARGETS.items() if figures[name] > target]
    if options.check and missed:
        sys.exit(f"missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
