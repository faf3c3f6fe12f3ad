"""An MCP server with one tool behind an authorization server, both on one port of this machine.

    office.py LOG [SECONDS]

Prints its port. Every request is a line of LOG. Tokens last SECONDS (3600 if left out). The tool `secret` wants a
token with the scope `more`. The same server is at `/sse` over the older wire: there a token is good for two messages,
and paths lead on to those with a slash at the end.
"""

import base64
import contextlib
import hashlib
import http.server
import json
import queue
import sys
import urllib.parse

LOG = open(sys.argv[1], "a", buffering=1)
LASTS = int(sys.argv[2]) if len(sys.argv) > 2 else 3600
CODES, TOKENS, REFRESH, USED = {}, {}, {}, {}
STREAMS = []
TOOLS = [
    {"name": name, "description": f"Says {name}.", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
    for name in ("hello", "secret")
]


class Office(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def note(self, *words):
        LOG.write(" ".join(words) + "\n")

    def send(self, status, body=None, **headers):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def here(self):
        return f"http://localhost:{self.server.server_port}"

    def body(self):
        return self.rfile.read(int(self.headers.get("content-length", 0)))

    def do_GET(self):
        at = urllib.parse.urlsplit(self.path)
        if at.path in ("/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource/sse"):
            resource = f"{self.here()}/{at.path.rsplit('/', 1)[1]}"
            return self.send(200, {"resource": resource, "authorization_servers": [self.here()]})
        if at.path == "/sse":
            return self.send(307, None, location="/sse/")
        if at.path == "/sse/":
            return self.events()
        if at.path == "/.well-known/oauth-authorization-server":
            ends = {f"{name}_endpoint": f"{self.here()}/{path}" for name, path in
                    (("authorization", "authorize"), ("token", "token"), ("registration", "register"))}
            return self.send(200, {
                "issuer": self.here(), **ends, "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                "authorization_response_iss_parameter_supported": True})
        if at.path == "/authorize":
            asked = dict(urllib.parse.parse_qsl(at.query))
            self.note("authorize", asked.get("scope", "-"), asked["resource"])
            code = f"code{len(CODES)}"
            CODES[code] = asked
            back = urllib.parse.urlencode({"code": code, "state": asked["state"], "iss": self.here()})
            return self.send(302, None, location=f"{asked['redirect_uri']}?{back}")
        return self.send(404 if at.path != "/mcp" else 405)

    def do_POST(self):
        if self.path in ("/sse", "/messages"):
            self.body()
            return self.send(307, None, location=f"{self.path}/")
        {"/mcp": self.mcp, "/sse/": self.mcp, "/messages/": self.mcp, "/token": self.token,
         "/register": self.register}[self.path]()

    def events(self):
        if self.headers.get("authorization", "").removeprefix("Bearer ") not in TOKENS:
            return self.challenge('Bearer scope="basic"')
        stream = queue.Queue()
        STREAMS.append(stream)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(b"event: endpoint\ndata: /messages\n\n")
        # Whoever has heard enough hangs up.
        with contextlib.suppress(OSError):
            while True:
                self.wfile.write(f"data: {json.dumps(stream.get())}\n\n".encode())

    def challenge(self, wanted, status=401):
        name = "mcp" if self.path == "/mcp" else "sse"
        where = f'resource_metadata="{self.here()}/.well-known/oauth-protected-resource/{name}"'
        self.send(status, {}, www_authenticate=f"{wanted}, {where}")

    def reply(self, asked, **answer):
        message = {"jsonrpc": "2.0", "id": asked["id"], **answer}
        if self.path == "/mcp":
            return self.send(200, message)
        STREAMS[-1].put(message)
        self.send(202)

    def register(self):
        self.note("register")
        wanted = json.loads(self.body())
        self.send(201, {"client_id": "the-client", "redirect_uris": wanted["redirect_uris"]})

    def token(self):
        asked = dict(urllib.parse.parse_qsl(self.body().decode()))
        self.note("token", asked["grant_type"], asked.get("client_id", "-"))
        if asked["grant_type"] == "authorization_code":
            given = CODES.pop(asked["code"])
            digest = hashlib.sha256(asked["code_verifier"].encode()).digest()
            assert base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == given["code_challenge"]
            scope = given.get("scope", "")
        elif asked["refresh_token"] in REFRESH:
            scope = REFRESH.pop(asked["refresh_token"])
        else:
            return self.send(400, {"error": "invalid_grant"})
        token, refresh = f"token-{len(TOKENS)}-secret", f"refresh-{len(TOKENS)}-secret"
        TOKENS[token], REFRESH[refresh] = scope, scope
        self.send(200, {"access_token": token, "refresh_token": refresh, "token_type": "Bearer",
                        "expires_in": LASTS, "scope": scope or "basic"})

    def mcp(self):
        asked = json.loads(self.body())
        token = self.headers.get("authorization", "").removeprefix("Bearer ")
        self.note("mcp", asked["method"], "with" if token else "without")
        USED[token] = USED.get(token, 0) + 1
        if token not in TOKENS or (self.path == "/messages/" and USED[token] > 2):
            return self.challenge('Bearer scope="basic"')
        answers = {
            "initialize": lambda _: {
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "office", "version": "1"}},
            "tools/list": lambda _: {"tools": TOOLS},
            "tools/call": lambda params: {"content": [{"type": "text", "text": f"it is {params['name']}"}]},
        }
        wants_more = asked["method"] == "tools/call" and asked["params"]["name"] == "secret"
        if wants_more and "more" not in TOKENS[token].split():
            return self.challenge('Bearer error="insufficient_scope", scope="more"', 403)
        if "id" not in asked:
            return self.send(202)
        if asked["method"] not in answers:
            return self.reply(asked, error={"code": -32601, "message": "no"})
        self.reply(asked, result=answers[asked["method"]](asked.get("params", {})))


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Office)
print(server.server_port, flush=True)
server.serve_forever()
