"""A program that talks to caiman over its pipes, as wrappers of Claude Code do: three turns, one approval."""

import json
import subprocess
import sys

caiman, home = sys.argv[1:3]
child = subprocess.Popen(
    [caiman, "--output-format", "stream-json", "--verbose", "--input-format", "stream-json",
     "--permission-prompt-tool", "stdio", "--replay-user-messages"],
    cwd=home, env={"HOME": home, "CAIMAN_ALLOW_HOME": "1", "PATH": "/usr/bin:/bin"},
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
)
heard = []


def send(line):
    child.stdin.write(json.dumps(line) + "\n")
    child.stdin.flush()


def wait_for(kind):
    while True:
        text = child.stdout.readline()
        assert text, f"no {kind} after {heard}"
        line = json.loads(text)
        heard.append([line["type"], line.get("subtype")])
        if line["type"] == kind:
            return line


def control(number, request):
    send({"type": "control_request", "request_id": f"host-{number}", "request": request})
    response = wait_for("control_response")["response"]
    assert response["request_id"] == f"host-{number}", response
    return response


def say(text):
    send({"type": "user", "message": {"role": "user", "content": text}, "parent_tool_use_id": None})


told = {}
hook = {"PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["hook_0"]}]}
refused = control(0, {"subtype": "initialize", "hooks": hook, "systemPrompt": "Be brief.", "agents": {}})
told["refused"] = refused["subtype"]
told["names"] = [name in refused["error"] for name in ("`hooks`", "`systemPrompt`", "`agents`")]
told["initialize"] = control(1, {"subtype": "initialize", "hooks": None})["subtype"]
say("first")
told["first"] = wait_for("result")["result"]

say("second")
question = wait_for("control_request")
asked = question["request"]
told["asked"] = {"tool": asked["tool_name"], "input": asked["input"], "subtype": asked["subtype"]}
answer = {"behavior": "allow", "updatedInput": asked["input"]}
send({"type": "control_response",
      "response": {"subtype": "success", "request_id": question["request_id"], "response": answer}})
told["second"] = wait_for("result")["result"]

told["mode"] = control(2, {"subtype": "set_permission_mode", "mode": "plan"})["subtype"]
told["dance"] = control(3, {"subtype": "dance"})["subtype"]
say([{"type": "text", "text": "third"}])
told["third"] = wait_for("result")["result"]
child.stdin.close()
told["rest"] = child.stdout.read()
told["code"] = child.wait(timeout=20)
told["heard"] = heard
print(json.dumps(told))
