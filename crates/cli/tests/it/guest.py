"""A program that has prompts run by caiman over the Model Context Protocol, with the official SDK.

The plan is JSON: how to reach the server (`command`, `env` and `cwd`, or `url` and `token`), the `lifecycle`, the `decision`
of its user on forms (none: it cannot fill in forms), and `calls` of tools, one after the other unless `at_once`; `$session` in
their arguments is the session of the call before. `take_back_at` takes the first call back at that step of its progress. A
session that is still at work for a call before is waited for.
"""

import asyncio
import json
import sys

import anyio
import httpx2
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult

plan = json.loads(sys.argv[1])
told = {"forms": [], "results": []}
session = None


async def fill_in(_, form):
    told["forms"].append(form.message)
    if plan["decision"] == "decline":
        return ElicitResult(action="decline")
    return ElicitResult(action="accept", content={"decision": plan["decision"]})


def server():
    if "url" in plan:
        headers = {"Authorization": f"Bearer {plan['token']}"} if "token" in plan else {}
        return streamable_http_client(plan["url"], http_client=httpx2.AsyncClient(headers=headers, timeout=120))
    command, *args = plan["command"]
    return StdioServerParameters(command=command, args=args, env=plan["env"], cwd=plan["cwd"])


async def call(client, tool, arguments):
    global session
    arguments = {name: session if value == "$session" else value for name, value in arguments.items()}
    steps = []
    take_back_at = plan.pop("take_back_at", None)
    with anyio.CancelScope() as scope:
        async def progress(done, _, message):
            steps.append([done, message])
            if len(steps) == take_back_at:
                scope.cancel()

        while True:
            result = await client.call_tool(tool, arguments, progress_callback=progress)
            if not (result.is_error and "at work already" in result.content[0].text):
                break
            await asyncio.sleep(0.2)
    if scope.cancelled_caught:
        told["results"].append({"taken_back": True})
        return
    structured = result.structured_content or {}
    listed = structured.get("sessions") or [{}]
    session = structured.get("session") or listed[0].get("session") or session
    told["results"].append({
        "text": [block.text for block in result.content],
        "structured": result.structured_content,
        "is_error": result.is_error,
        "steps": steps,
    })


async def main():
    asks = {"elicitation_callback": fill_in} if plan.get("decision") else {}
    async with Client(server(), mode=plan.get("lifecycle", "legacy"), read_timeout_seconds=120, **asks) as client:
        told["version"] = client.protocol_version
        told["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        calls = [call(client, *it) for it in plan["calls"]]
        if plan.get("at_once"):
            await asyncio.gather(*calls)
        else:
            for it in calls:
                await it


asyncio.run(main())
print(json.dumps(told))
