"""An MCP server over pipes that behaves as its first argument says. Needs Python and nothing else."""
import json
import os
import subprocess
import sys
import threading
import time

MODE = sys.argv[1]
STATE = {"calls": 0, "lists": 0, "level": None, "tools": ["echo"], "answers": [], "cancelled": [], "begun": 0, "polls": 0, "taken_back": [], "dies": False}
TASKS = {}
WAITING = {}
LOCK = threading.Lock()


def write(text):
    with LOCK:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def send(**message):
    write(json.dumps({"jsonrpc": "2.0", **message}))


def ask(method, params):
    """Asks the client, and waits for what it says."""
    key = f"ask-{len(WAITING)}"
    WAITING[key] = slot = {"said": threading.Event()}
    send(id=key, method=method, params=params)
    slot["said"].wait(60)
    return slot.get("result", slot.get("error"))


def tool(name, **more):
    return {"name": name, "description": f"does {name}", "inputSchema": {"type": "object"}, **more}


def words(text, **more):
    return {"content": [{"type": "text", "text": text}], **more}


def log(level):
    """Says aloud what it does, as far as it was asked to."""
    if level == "info":
        send(method="notifications/message", params={"level": "info", "data": "on my way"})
    return words(str(level))


def tools(params):
    if MODE == "endless":
        page = int((params or {}).get("cursor") or 0)
        listed = [tool(f"tool-{page * 100 + number}", description="d" * 5000) for number in range(100)]
        return {"tools": listed, "nextCursor": str(page + 1)}
    if MODE == "many":
        return {"tools": [tool(f"tool-{number}") for number in range(10_000)]}
    if MODE == "odd":
        good = [tool("echo"), tool("echo", description="again"), tool("mit Leerzeichen/und:mehr"), tool("ünïcödé")]
        bad = [{"name": "schemaless"}, {"description": "nameless"}, 7, tool("", description="empty"), tool("a\x1b[31mb")]
        deep = {"type": "object"}
        for _ in range(60):
            deep = {"type": "object", "properties": {"deeper": deep}}
        fat = {"type": "object", "description": "x" * 100_000}
        return {"tools": good + bad + [tool("deep", inputSchema=deep), tool("fat", inputSchema=fat)], "extra": True}
    if MODE == "tasks":
        return {"tools": [tool("work", execution={"taskSupport": "required"}), tool("echo", execution={"taskSupport": "optional"})]}
    return {"tools": [tool(name) for name in STATE["tools"]]}


def task(identifier, status, message=None, **more):
    """A task as the revision of 2025-11-25 tells of it."""
    at = "2026-11-16T12:00:00Z"
    told = {"taskId": identifier, "status": status, "statusMessage": message, "ttl": None, "pollInterval": 50}
    TASKS[identifier] = {**told, "createdAt": at, "lastUpdatedAt": at, **more}
    return TASKS[identifier]


def seen(identifier):
    """Waits until the client has asked how the task goes, after it has changed."""
    now = STATE["polls"]
    while STATE["polls"] < now + 2:
        time.sleep(0.01)


def work(identifier, does):
    related = {"io.modelcontextprotocol/related-task": {"taskId": identifier}}
    if does == "works":
        for words_ in ["reading", "reading", "writing"]:
            task(identifier, "working", words_)
            seen(identifier)
        task(identifier, "completed", result=words("worked", _meta=related))
    if does == "asks":
        task(identifier, "input_required", "who?")
        while "wanted" not in TASKS[identifier]:
            time.sleep(0.01)
        form = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        said = ask("elicitation/create", {"message": "who?", "requestedSchema": form, "_meta": related})
        task(identifier, "completed", result=words(json.dumps(said), _meta=related))
    if does == "fails":
        task(identifier, "failed", "no paper")
    if does == "gives-up":
        task(identifier, "cancelled", "no time")
    if does == "tells":
        status = {key: value for key, value in task(identifier, "completed", result=words("told")).items() if key != "result"}
        send(method="notifications/tasks/status", params=status)


def tasks(method, identifier):
    """What a task is asked, as the revision of 2025-11-25 has it."""
    related = {"io.modelcontextprotocol/related-task": {"taskId": identifier}}
    if method == "tasks/cancel":
        STATE["taken_back"].append(identifier)
        return task(identifier, "cancelled")
    if method == "tasks/result":
        while TASKS[identifier]["status"] in ("working", "input_required"):
            TASKS[identifier]["wanted"] = True
            time.sleep(0.01)
        return TASKS[identifier].get("result")
    STATE["polls"] += 1
    told = {key: value for key, value in TASKS[identifier].items() if key not in ("result", "wanted")}
    return {**told, "_meta": related}


def begin(request):
    identifier = f"task-{len(TASKS)}"
    does = request["params"]["arguments"]["does"]
    begun = dict(task(identifier, "working", pollInterval=60_000 if does == "tells" else 50))
    STATE["begun"] += 1
    if does == "late":
        time.sleep(1)
    send(id=request["id"], result={"task": begun, "_meta": {"io.modelcontextprotocol/model-immediate-response": "on it"}})
    work(identifier, does)


def call(request):
    STATE["calls"] += 1
    name = request["params"]["name"]
    arguments = request["params"].get("arguments") or {}
    token = request["params"].get("_meta", {}).get("progressToken")
    if MODE == "dies-in-call" and STATE["calls"] == 1:
        print("out of cheese", file=sys.stderr, flush=True)
        os._exit(9)
    if name == "huge":
        return words("x" * (arguments["megabytes"] << 20))
    if name == "broken":
        return write('{"jsonrpc":"2.0","id":%s,"result":{"content":[' % json.dumps(request["id"]))
    if name == "shapeless":
        return write('{"jsonrpc":"1.0","id":%s,"result":5}' % json.dumps(request["id"]))
    if name == "never":
        return None
    if name == "slow":
        for step in range(arguments["steps"]):
            time.sleep(arguments["pause"])
            send(method="notifications/progress", params={"progressToken": token, "progress": step, "message": "on it"})
        return words("slept")
    if name == "change":
        STATE["tools"].append(arguments["name"])
        send(method="notifications/tools/list_changed")
        return words("changed")
    if name == "ask":
        return words(json.dumps(ask(arguments["method"], arguments["params"])))
    if name == "crowd":
        answers = [None] * arguments["count"]

        def one(number):
            answers[number] = ask("elicitation/create", {"message": "m", "requestedSchema": {}})

        asking = [threading.Thread(target=one, args=(number,)) for number in range(len(answers))]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()
        return words(json.dumps([answer["action"] for answer in answers]))
    if name == "ask-later":
        def later():
            time.sleep(0.3)
            STATE["answers"].append(ask("elicitation/create", {"message": "late", "requestedSchema": {}}))
        threading.Thread(target=later, daemon=True).start()
        return words("soon")
    if name == "recall":
        return words(json.dumps(STATE[arguments["what"]]))
    if name == "spawn":
        child = subprocess.Popen(["sh", "-c", "sleep 600 & echo $!; wait"], stdout=subprocess.PIPE, text=True)
        group = subprocess.Popen(["sleep", "600"], preexec_fn=os.setpgrp)
        session = subprocess.Popen(["sleep", "600"], start_new_session=True)
        return words(json.dumps([child.pid, int(child.stdout.readline()), group.pid, session.pid]))
    if name == "log":
        for _ in range(1000):
            if STATE["level"]:
                break
            time.sleep(0.01)
        return log(STATE["level"])
    if name == "where":
        return words(json.dumps({"folder": os.getcwd(), "env": os.environ.get("GIVEN"), "args": sys.argv[2:]}))
    if name == "fail":
        return words("it went wrong", isError=True)
    if name == "refuse":
        return send(id=request["id"], error={"code": -32602, "message": "no such thing"})
    return words(json.dumps(arguments))


def handle(request):
    if STATE["dies"]:
        return
    method, params = request["method"], request.get("params")
    if method == "tools/list":
        STATE["lists"] += 1
        if MODE == "lists-late" and STATE["lists"] <= 2:
            return send(id=request["id"], error={"code": -32000, "message": "still warming up"})
        result = tools(params)
        if MODE == "dies-between-lists":
            STATE["dies"] = True
            print("bye", file=sys.stderr, flush=True)
            send(id=request["id"], result=result)
            os._exit(7)
    elif method == "logging/setLevel":
        STATE["level"] = params["level"]
        result = {}
    elif method == "tools/call" and request["params"]["name"] == "work":
        if "task" not in params:
            return send(id=request["id"], error={"code": -32601, "message": "it runs only as a task"})
        return begin(request)
    elif method.startswith("tasks/"):
        result = tasks(method, params["taskId"])
        if result is None:
            return send(id=request["id"], error={"code": -32603, "message": "no paper"})
    elif method == "tools/call":
        result = call(request)
        if result is None:
            return
    elif method == "initialize":
        version = params["protocolVersion"]
        can = {"tools": {"listChanged": True}, "logging": {}}
        if MODE == "dies-between-lists":
            can.update(prompts={}, resources={})
        if MODE == "deaf":
            del can["logging"]
        result = {"protocolVersion": version, "capabilities": can, "serverInfo": {"name": MODE, "version": "1"}}
    elif method == "ping":
        result = {}
    else:
        return send(id=request["id"], error={"code": -32601, "message": f"no {method}"})
    send(id=request["id"], result=result)


def later(identifier, status, **more):
    """A task as the extension of 2026-07-28 tells of it."""
    at = "2026-11-16T12:00:00Z"
    told = {"taskId": identifier, "status": status, "ttlMs": None, "pollIntervalMs": 50, "statusMessage": "at work"}
    TASKS[identifier] = {**told, "createdAt": at, "lastUpdatedAt": at, **more}
    return TASKS[identifier]


def modern(request):
    """The lifecycle without initialize."""
    method, params = request["method"], request.get("params") or {}
    complete = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    if method == "server/discover":
        meta = {"io.modelcontextprotocol/serverInfo": {"name": "modern", "version": "1"}}
        result = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}, "logging": {}}, "_meta": meta, **complete}
    elif method == "tools/list":
        result = {"tools": [tool("echo"), tool("form")], **complete}
    elif method == "tools/call" and params["name"] == "form" and "inputResponses" not in params:
        form = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        wanted = {"who": {"method": "elicitation/create", "params": {"message": "who?", "requestedSchema": form}}}
        result = {"resultType": "input_required", "inputRequests": wanted, "requestState": "sealed"}
    elif method == "tools/call" and params["name"] == "work":
        does = params["arguments"]["does"]
        can = params["_meta"]["io.modelcontextprotocol/clientCapabilities"]["extensions"]
        assert "io.modelcontextprotocol/tasks" in can, can
        result = {**later(f"task-{len(TASKS)}", "working", does=does), "resultType": "task"}
    elif method == "tasks/get":
        STATE["polls"] += 1
        kept = TASKS[params["taskId"]]
        if kept["does"] == "asks" and kept["status"] == "working":
            wanted = {"who": {"method": "elicitation/create", "params": {"message": "who?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}}}}
            kept = later(kept["taskId"], "input_required", does="asks", inputRequests=wanted)
        elif kept["does"] == "fails":
            kept = later(kept["taskId"], "failed", does="fails", error={"code": -32603, "message": "no paper"})
        elif kept["does"] == "works" and STATE["polls"] > 2:
            kept = later(kept["taskId"], "completed", does="works", result=words("worked"))
        result = {**kept, "resultType": "complete"}
    elif method == "tasks/update":
        said = words(json.dumps(params["inputResponses"]))
        later(params["taskId"], "completed", does="asks", result=said)
        result = {"resultType": "complete"}
    elif method == "tasks/cancel":
        STATE["taken_back"].append(params["taskId"])
        result = {"resultType": "complete"}
    elif method == "tools/call" and params["name"] == "recall":
        result = {**words(json.dumps(STATE[params["arguments"]["what"]])), "resultType": "complete"}
    elif method == "tools/call" and params["name"] == "log":
        result = {**log(params["_meta"].get("io.modelcontextprotocol/logLevel")), "resultType": "complete"}
    elif method == "tools/call":
        said = [params.get("arguments"), params.get("inputResponses"), params.get("requestState")]
        result = {**words(json.dumps(said)), "resultType": "complete"}
    else:
        return send(id=request["id"], error={"code": -32601, "message": f"no {method}"})
    send(id=request["id"], result=result)


def first(request):
    """Answers whatever comes first."""
    if request["method"] == "server/discover":
        return send(id=request["id"], error={"code": -32601, "message": "what is that?"})
    return handle(request)


if MODE == "dies":
    print("no licence", file=sys.stderr, flush=True)
    sys.exit(3)
if MODE == "floods":
    while True:
        print("x" * 10_000)
if MODE == "floods-one-line":
    while True:
        sys.stdout.write("x" * 100_000)
if MODE == "chatty":
    print("Welcome to the chatty server!\n\n[INFO] listening\n{not json}")

for line in sys.stdin:
    if MODE == "hangs":
        continue
    # Nobody reads from here on, and the client learns so when it writes next.
    if MODE in ("stops-listening", "ends-while-told") or MODE == "deaf" and "tools/list" in line:
        print("gone fishing", file=sys.stderr, flush=True)
        os.close(0)
        first(json.loads(line))
        time.sleep(0 if MODE == "ends-while-told" else 600)
        os._exit(4)
    message = json.loads(line)
    if MODE == "ends-at-strangers" and message.get("method") == "server/discover":
        sys.exit("expected initialize")
    if MODE == "ignores-strangers" and message.get("method") == "server/discover":
        continue
    if message.get("method") == "notifications/cancelled":
        STATE["cancelled"].append(message["params"]["requestId"])
    elif "method" in message and "id" in message:
        target = modern if MODE == "modern" else handle
        threading.Thread(target=target, args=(message,), daemon=True).start()
    elif "id" in message:
        slot = WAITING[message["id"]]
        slot.update(message)
        slot["said"].set()
