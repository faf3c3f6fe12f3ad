"""An MCP server over standard input and output that does what a file tells it.

The file is JSON: instructions, tools, prompts, resources. A tool has `does`, a list of steps. What the server
hears is appended to the file's name with `.heard`, a line each.
"""

import json
import os
import sys
import threading
import time

path = sys.argv[1]
lock = threading.Lock()
answers = {}
arrived = threading.Condition()
cancelled = set()
counter = [0, 0]


def spec():
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def send(message):
    with lock:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def ask(method, params):
    with arrived:
        counter[0] += 1
        key = f"ask-{counter[0]}"
    send({"id": key, "method": method, "params": params})
    with arrived:
        while key not in answers:
            arrived.wait()
        return answers.pop(key)


def listed(kind, fields):
    return [{key: item[key] for key in fields if key in item} for item in spec().get(kind, [])]


def call(number, params):
    tool = next((tool for tool in spec().get("tools", []) if tool["name"] == params["name"]), None)
    if tool is None:
        return send({"id": number, "error": {"code": -32602, "message": "there is no such tool"}})
    result = {"content": []}
    token = params.get("_meta", {}).get("progressToken")
    for step in tool.get("does", [{"text": json.dumps(params.get("arguments", {}))}]):
        (does, value), = step.items()
        if does == "text":
            result["content"].append({"type": "text", "text": value})
        elif does == "long":
            result["content"].append({"type": "text", "text": ("y" * 79 + "\n") * value})
        elif does == "picture":
            picture = {"type": "image", "data": value, "mimeType": "image/png"}
            result["content"].append(picture)
        elif does == "sound":
            result["content"].append({"type": "audio", "data": value, "mimeType": "audio/wav"})
        elif does == "blob":
            blob = {"uri": "file:///a.zip", "mimeType": "application/zip", "blob": value}
            result["content"].append({"type": "resource", "resource": blob})
        elif does == "meets":
            result["content"].append({"type": "text", "text": meets(value)})
        elif does == "refuses":
            return send({"id": number, "error": {"code": value, "message": "it does not fit"}})
        elif does == "structured":
            result["structuredContent"] = value
        elif does == "fails":
            result["isError"] = value
        elif does == "progress":
            if token is not None:
                send({"method": "notifications/progress", "params": {"progressToken": token, **value}})
        elif does == "ask":
            came = ask(value["method"], value["params"])
            result["content"].append({"type": "text", "text": json.dumps(came, sort_keys=True)})
        elif does == "becomes":
            with open(path, "w", encoding="utf-8") as file:
                json.dump(spec_with(value), file)
            send({"method": "notifications/tools/list_changed"})
        elif does == "hangs":
            while number not in cancelled:
                time.sleep(0.01)
            return None
        elif does == "dies":
            os._exit(3)
    return send({"id": number, "result": result})


def asked(item):
    """What the client says to what is asked before an item is given."""
    if "asks" not in item:
        return ""
    return json.dumps(ask(item["asks"]["method"], item["asks"]["params"]), sort_keys=True)


def meets(count):
    """Waits until so many calls are here at once."""
    with arrived:
        counter[1] += 1
        arrived.notify_all()
        met = arrived.wait_for(lambda: counter[1] >= count, timeout=10)
    return "met" if met else "alone"


def spec_with(tools):
    now = spec_before
    now["tools"] = now.get("tools", []) + tools
    return now


def heard(message):
    with open(path + ".heard", "a", encoding="utf-8") as file:
        file.write(json.dumps(message) + "\n")


def answer(message):
    method, number, params = message["method"], message.get("id"), message.get("params") or {}
    if method == "notifications/cancelled":
        cancelled.add(params.get("requestId"))
    if number is None:
        return None
    if method == "initialize":
        gate = spec().get("waits_for")
        while gate and not os.path.exists(gate):
            time.sleep(0.01)
        result = {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {"listChanged": True}, "prompts": {}, "logging": {}},
            "serverInfo": {"name": "scripted", "version": "1"},
        }
        if "resources" in spec():
            result["capabilities"]["resources"] = {}
        if spec().get("instructions"):
            result["instructions"] = spec()["instructions"]
        return send({"id": number, "result": result})
    if method == "tools/list":
        fields = ["name", "description", "inputSchema", "annotations"]
        tools = [{"inputSchema": {"type": "object"}, **tool} for tool in listed("tools", fields)]
        return send({"id": number, "result": {"tools": tools}})
    if method == "prompts/list":
        prompts = listed("prompts", ["name", "description", "arguments"])
        return send({"id": number, "result": {"prompts": prompts}})
    if method == "prompts/get":
        prompt = next(it for it in spec()["prompts"] if it["name"] == params["name"])
        text = prompt["text"] + " " + json.dumps(params.get("arguments", {}), sort_keys=True) + asked(prompt)
        said = {"role": "user", "content": {"type": "text", "text": text}}
        return send({"id": number, "result": {"messages": [said]}})
    if method == "resources/list":
        resources = listed("resources", ["uri", "name", "description", "mimeType"])
        return send({"id": number, "result": {"resources": resources}})
    if method == "resources/templates/list":
        return send({"id": number, "result": {"resourceTemplates": []}})
    if method == "resources/read":
        found = [it for it in spec().get("resources", []) if it["uri"] == params["uri"]]
        if not found:
            return send({"id": number, "error": {"code": -32002, "message": "nothing is there"}})
        contents = [{"uri": it["uri"], "text": it["text"] + asked(it)} for it in found]
        return send({"id": number, "result": {"contents": contents}})
    if method == "tools/call":
        return call(number, params)
    if method in ("ping", "logging/setLevel"):
        return send({"id": number, "result": {}})
    return send({"id": number, "error": {"code": -32601, "message": "what is " + method + "?"}})


spec_before = spec()
if spec_before.get("crashes"):
    sys.exit(3)
for line in sys.stdin:
    if spec_before.get("silent"):
        continue
    message = json.loads(line)
    heard(message)
    if "method" in message:
        threading.Thread(target=answer, args=(message,), daemon=True).start()
    else:
        with arrived:
            answers[message["id"]] = message.get("result", message.get("error"))
            arrived.notify_all()
