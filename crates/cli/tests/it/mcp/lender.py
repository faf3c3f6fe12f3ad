"""An MCP server over pipes that lends one tool that reads, one that writes, and one that asks back.

    lender.py [FILE]

Every call is a line of FILE. Its environment's WORD is what the reading tool says.
"""

import json
import os
import sys

LOG = open(sys.argv[1], "a", buffering=1) if len(sys.argv) > 1 else None
ASKED = {}
TEXT = {"type": "string"}
TOOLS = [
    {"name": "look", "description": "Looks.", "annotations": {"readOnlyHint": True},
     "inputSchema": {"type": "object", "required": ["at"], "properties": {"at": TEXT}}},
    {"name": "wipe", "description": "Wipes.", "inputSchema": {"type": "object", "properties": {}}},
    {"name": "ask", "description": "Asks.", "annotations": {"readOnlyHint": True},
     "inputSchema": {"type": "object", "properties": {}}},
]


def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(words, failed=False):
    return {"content": [{"type": "text", "text": words}], "isError": failed}


def call(identity, params):
    name, arguments = params["name"], params.get("arguments", {})
    if LOG:
        LOG.write(f"{name} {json.dumps(arguments)}\n")
    if name == "ask":
        schema = {"type": "object", "required": ["name"],
                  "properties": {"name": {"type": "string", "default": "nobody"}}}
        ASKED["question"] = identity
        return say({"id": "question", "method": "elicitation/create",
                    "params": {"mode": "form", "message": "Who?", "requestedSchema": schema}})
    if name == "look" and arguments.get("at") == "nowhere":
        return say({"id": identity, "result": text("there is nothing", True)})
    say({"id": identity, "result": text(os.environ.get("WORD", "fine"))})


for line in sys.stdin:
    said = json.loads(line)
    method, identity = said.get("method"), said.get("id")
    if method == "initialize":
        say({"id": identity, "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                                        "serverInfo": {"name": "lender", "version": "2"}}})
    elif method == "tools/list":
        say({"id": identity, "result": {"tools": TOOLS}})
    elif method == "tools/call":
        call(identity, said["params"])
    elif method is None and identity in ASKED:
        say({"id": ASKED.pop(identity), "result": text(json.dumps(said.get("result")))})
    elif identity is not None:
        say({"id": identity, "error": {"code": -32601, "message": "no such method"}})
