# A language server that finds `bad` wrong: the first time only after a second. It logs what it hears and says.
import json
import sys
import threading
import time

log = open("log", "w", buffering=1)
lock = threading.Lock()
was_late = False


def send(**message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    with lock:
        sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        sys.stdout.buffer.flush()


def read():
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return json.loads(sys.stdin.buffer.read(length))


def say(uri, version, text, after):
    time.sleep(after)
    found = [
        {
            "range": {"start": {"line": n, "character": 0}, "end": {"line": n, "character": 3}},
            "severity": 1,
            "message": "bad",
        }
        for n, line in enumerate(text.splitlines())
        if "bad" in line
    ]
    params = {"uri": uri, "version": version, "diagnostics": found}
    send(method="textDocument/publishDiagnostics", params=params)
    log.write(f"said {len(found)}\n")


while True:
    message = read()
    method, params = message.get("method"), message.get("params") or {}
    if method == "initialize":
        send(id=message["id"], result={"capabilities": {"textDocumentSync": 1}})
    elif method == "shutdown":
        log.write("shutdown\n")
        send(id=message["id"], result=None)
    elif method == "exit":
        log.write("exit\n")
        sys.exit(0)
    elif method in ("textDocument/didOpen", "textDocument/didChange"):
        document = params["textDocument"]
        text = document.get("text") or params["contentChanges"][0]["text"]
        is_late = "bad" in text and not was_late
        was_late = was_late or is_late
        args = (document["uri"], document["version"], text, 1.0 if is_late else 0.0)
        threading.Thread(target=say, args=args).start()
