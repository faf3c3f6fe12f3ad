#!/usr/bin/env python3
"""End-to-end figures of the release binary against a model server on loopback.

    cargo build --release && python3 scripts/bench.py [--runs 15] [--check] [--json]

Measures, as medians: `--version`; a `run` with a short answer (time to its first request, CPU, peak
memory), the same in a git repository of 100,000 files; a `run` whose answer is 20,000 deltas (CPU); runs of 60 tool calls (the time from sending
the last bytes of an answer to the next request, for a file read and for a sandboxed `true`); a command that prints
100 MB (peak memory beyond a run that prints nothing). Times of one machine are compared with targets and,
so that slow machines can be told from slow programs, with starting `/bin/true` in the same run.
`--check` exits 1 when a target is missed by more than half.
"""
import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DELTAS = 20_000
TOOL_TURNS = 60
FLOOD_BYTES = 100_000_000
REPOSITORY_FILES = 100_000
TARGETS = {
    "version_ms": 10, "first_request_ms": 30, "git_request_ms": 60, "run_cpu_ms": 30, "run_peak_mb": 25, "stream_cpu_ms": 100,
    "read_turn_ms": 1.5, "true_turn_ms": 5, "flood_more_mb": 20,
}
# What the scripted model calls, by the model's name: tool, arguments of its n-th call, how often. No call is
# like another: a model that goes in circles is stopped.
CALLS = {
    "reads": ("view", lambda n: {"file_path": f"small{n}.txt"}, TOOL_TURNS),
    "trues": ("bash", lambda n: {"command": f"true {'x' * n}"}, TOOL_TURNS),
    "quiet": ("bash", lambda n: {"command": "true"}, 1),
    "floods": ("bash", lambda n: {"command": f"yes | head -c {FLOOD_BYTES}"}, 1),
}


def sse(value):
    data = b"data: " + json.dumps(value).encode() + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(data), data)


def chunk(delta, finish=None):
    return sse({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1760000000,
                "model": "mock", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def answer(deltas):
    """A Chat Completions stream, each event in its own HTTP chunk, as providers send them."""
    body = [chunk({"role": "assistant", "content": ""})]
    body += [chunk({"content": f" word{i % 1000}"}) for i in range(deltas)]
    body.append(chunk({}, "stop"))
    return body + ending(deltas)


def call(tool, arguments, number):
    """An answer that calls a tool."""
    function = {"name": tool, "arguments": json.dumps(arguments)}
    calls = [{"index": 0, "id": f"call_{number}", "type": "function", "function": function}]
    return [chunk({"role": "assistant", "tool_calls": calls}), chunk({}, "tool_calls")] + ending(10)


def ending(deltas):
    usage = {"prompt_tokens": 10, "completion_tokens": deltas, "total_tokens": deltas + 10}
    done = b"data: [DONE]\n\n"
    return [sse({"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [], "usage": usage}),
            b"%x\r\n%s\r\n0\r\n\r\n" % (len(done), done)]


class Server:
    """Answers every POST with the stream the model's name asks for; notes when requests arrive."""

    def __init__(self):
        self.answers = {b'"short"': answer(5), b'"long"': answer(DELTAS)}
        self.arrived, self.overheads = [], []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d/v1" % self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.talk, args=(connection,), daemon=True).start()

    def talk(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sent = None
        with connection:
            while True:
                head, _, body = self.read_head(connection)
                if not head:
                    return
                self.arrived.append(time.monotonic())
                if sent:
                    self.overheads.append(self.arrived[-1] - sent)
                length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n")
                               if line.lower().startswith(b"content-length:")), 0)
                while len(body) < length:
                    body += connection.recv(65536)
                stream = next((a for name, a in self.answers.items() if name in body), self.answers[b'"short"'])
                # How far a run is stands in what it sends: its requests may come by several connections, and
                # the one for a title among them.
                request = json.loads(body)
                model = request.get("model") if "tools" in request else None
                done = sum(message["role"] == "tool" for message in request["messages"])
                if model in CALLS and done < CALLS[model][2]:
                    tool, arguments, _ = CALLS[model]
                    stream = call(tool, arguments(done + 1), done + 1)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                                   b"Transfer-Encoding: chunked\r\n\r\n")
                # Eight events a write: a provider's network packs small events like that.
                for at in range(0, len(stream), 8):
                    # Before the write: after it, we may not run again until the next request is there.
                    sent = time.monotonic() if model in CALLS else None
                    connection.sendall(b"".join(stream[at:at + 8]))

    @staticmethod
    def read_head(connection):
        data = b""
        while b"\r\n\r\n" not in data:
            try:
                more = connection.recv(65536)
            except ConnectionError:
                more = b""
            if not more:
                return b"", b"", b""
            data += more
        return data.partition(b"\r\n\r\n")


def run(argv, env, cwd):
    """Wall seconds, CPU seconds and peak memory in MB of one process."""
    started = time.monotonic()
    process = subprocess.Popen(argv, env=env, cwd=cwd, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    reader = threading.Thread(target=process.stdout.read, daemon=True)
    reader.start()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - started
    reader.join()
    if status != 0:
        sys.exit(f"{argv} ended with {status}: {process.stderr.read().decode()}")
    return started, wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def make_repository(folder, env):
    """A repository of so many small files, all committed."""
    def git(*args):
        subprocess.run(["git", "-C", folder, "-c", "user.name=bench", "-c", "user.email=bench@localhost", *args],
                       env=env, check=True, stdout=subprocess.DEVNULL)

    for number in range(REPOSITORY_FILES):
        if number % 100 == 0:
            below = os.path.join(folder, f"part{number // 10_000}", f"folder{number // 100}")
            os.makedirs(below)
        with open(os.path.join(below, f"file{number}.txt"), "w") as file:
            file.write(f"{number}\n")
    git("init", "--quiet", "--initial-branch=main")
    git("add", ".")
    git("commit", "--quiet", "-m", "all")


def measure(binary, runs):
    server = Server()
    with tempfile.TemporaryDirectory() as home:
        config = os.path.join(home, ".config", "caiman")
        os.makedirs(config)
        models = [{"id": name, "context_window": 400000, "default_max_tokens": 32000} for name in ("short", "long", *CALLS)]
        with open(os.path.join(config, "caiman.json"), "w") as file:
            json.dump({"providers": {"mock": {"type": "openai-compat", "base_url": server.url,
                                              "api_key": "bench", "models": models}}}, file)
        env = {"HOME": home, "PATH": os.environ["PATH"]}

        def median(values):
            return statistics.median(values)

        def each(argv, folder=home):
            run(argv, env, folder)  # warms caches and makes the database
            return [run(argv, env, folder) for _ in range(runs)]

        true = each(["/bin/true"])
        version = each([binary, "--version"])
        server.arrived.clear()
        short = each([binary, "run", "--model", "mock/short", "hello"])
        first = [at - taken[0] for at, taken in zip(server.arrived[1:], short)]
        repository = os.path.join(home, "repository")
        make_repository(repository, env)
        server.arrived.clear()
        in_git = each([binary, "run", "--model", "mock/short", "hello"], repository)
        git_first = [at - taken[0] for at, taken in zip(server.arrived[1:], in_git)]
        long = each([binary, "run", "--model", "mock/long", "much"])

        for number in range(1, TOOL_TURNS + 1):
            with open(os.path.join(home, f"small{number}.txt"), "w") as file:
                file.write(f"one line of {number}\n" * 40)

        def tool_turns(model):
            server.overheads.clear()
            for _ in range(3):
                run([binary, "run", "--model", f"mock/{model}", "go"], env, home)
            return median(server.overheads)

        read, true_turn = tool_turns("reads"), tool_turns("trues")
        allowed = ["--allow", "Bash"]
        quiet, flood = (run([binary, "run", *allowed, "--model", f"mock/{model}", "go"], env, home)[3]
                        for model in ("quiet", "floods"))
    return {
        "true_ms": median([t[1] for t in true]) * 1e3,
        "version_ms": median([t[1] for t in version]) * 1e3,
        "first_request_ms": median(first) * 1e3,
        "git_request_ms": median(git_first) * 1e3,
        "run_cpu_ms": median([t[2] for t in short]) * 1e3,
        "run_peak_mb": median([t[3] for t in short]),
        "stream_cpu_ms": median([t[2] for t in long]) * 1e3,
        "stream_peak_mb": median([t[3] for t in long]),
        "read_turn_ms": read * 1e3,
        "true_turn_ms": true_turn * 1e3,
        "flood_more_mb": flood - quiet,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--binary", default=os.path.join(ROOT, "target/release/caiman"))
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = measure(options.binary, options.runs)
    if options.json:
        print(json.dumps(figures, indent=2))
    else:
        for name, value in figures.items():
            target = TARGETS.get(name)
            unit = name.rsplit("_", 1)[1]
            against = f"  target {target} {unit}" if target else ""
            ratio = f"  ({value / figures['true_ms']:.1f}x /bin/true)" if unit == "ms" else ""
            print(f"{name:18} {value:8.1f} {unit}{against}{ratio}")
    missed = [name for name, target in TARGETS.items() if figures[name] > 1.5 * target]
    if options.check and missed:
        sys.exit(f"missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
