# A language server that does odd things, as its arguments say: `deaf` reads nothing once it has begun, `watches` wants
# to hear of files, `acts` offers actions that are commands, `steals` changes a file while it is asked to rename. It never
# answers a hover.
# Lines with `bad` are wrong. It logs what it hears to `odd.log`.
import json
import sys
import time

modes = sys.argv[1:]
log = open("odd.log", "a", buffering=1)
texts = {}


def send(**message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()


def read():
    length = 0
    while line := sys.stdin.buffer.readline():
        if not line.strip():
            break
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return json.loads(sys.stdin.buffer.read(length)) if length else sys.exit(0)


def span(line, start, end):
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}


def check(uri, version):
    lines = enumerate(texts[uri].splitlines())
    found = [{"range": span(n, 0, 3), "severity": 1, "message": "bad"} for n, line in lines if "bad" in line]
    send(method="textDocument/publishDiagnostics", params={"uri": uri, "version": version, "diagnostics": found})


def wish(uri, new, count=1):
    for number in range(count):
        edit = {"changes": {uri: [{"range": span(0, 0, 3), "newText": new}]}}
        send(id=f"wish-{number}", method="workspace/applyEdit", params={"edit": edit})


CAN = {
    "textDocumentSync": {"openClose": True, "change": 1, "save": True},
    "renameProvider": True,
    "hoverProvider": True,
    "codeActionProvider": "acts" in modes,
    "executeCommandProvider": {"commands": ["clangd.applyTweak", "clangd.applyFix", "run.anything"]},
}
while True:
    message = read()
    method, params, id = message.get("method"), message.get("params") or {}, message.get("id")
    uri = params.get("textDocument", {}).get("uri") if isinstance(params, dict) else None
    log.write(json.dumps(message) + "\n")
    if method == "initialize":
        send(id=id, result={"capabilities": CAN})
    elif method == "initialized":
        if "watches" in modes:
            watch = {"id": "w", "method": "workspace/didChangeWatchedFiles", "registerOptions": {"watchers": []}}
            send(id="r", method="client/registerCapability", params={"registrations": [watch]})
        while "deaf" in modes:
            time.sleep(60)
    elif method == "textDocument/didOpen":
        texts[uri] = params["textDocument"]["text"]
        check(uri, params["textDocument"]["version"])
    elif method == "textDocument/didChange":
        texts[uri] = params["contentChanges"][0]["text"]
        check(uri, params["textDocument"]["version"])
    elif method == "textDocument/rename":
        if "steals" in modes:
            open("a.py", "w").write("# new\n" + texts[uri])
        edit = {"range": span(0, 0, 3), "newText": params["newName"]}
        send(id=id, result={"documentChanges": [{"textDocument": {"uri": uri, "version": 1}, "edits": [edit]}]})
    elif method == "textDocument/codeAction":
        act = lambda title, command, kind="refactor": {
            "title": title, "kind": kind, "command": {"title": title, "command": command, "arguments": [uri]}}
        send(id=id, result=[
            act("Good", "clangd.applyTweak"),
            act("Twice", "clangd.applyFix"),
            act("Moving", "clangd.applyTweak", "refactor.move.newFile"),
            act("Unknown", "run.anything"),
            {"title": "Bare", "command": "clangd.applyTweak", "arguments": [uri]},
            {"title": "Bare and unknown", "command": "run.anything", "arguments": [uri]},
        ])
    elif method == "workspace/executeCommand":
        wish(params["arguments"][0], "two", 2 if params["command"] == "clangd.applyFix" else 1)
        send(id=id, error={"code": -32803, "message": "nothing was applied"})
    elif method == "textDocument/hover":
        continue
    elif method == "shutdown":
        send(id=id, result=None)
    elif method == "exit":
        sys.exit(0)
    elif id is not None and method is not None:
        send(id=id, error={"code": -32601, "message": "no such method"})
