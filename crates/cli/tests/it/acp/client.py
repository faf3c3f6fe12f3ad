"""The protocol's Python SDK as an editor: a turn with permission and a file, a cancel, modes, a session opened again."""

import asyncio
import pathlib
import sys

import acp
from acp import schema

BINARY, HOME = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()


class Editor:
    """Allows what is asked, reads and writes real files, remembers updates."""

    def __init__(self):
        self.asked, self.written, self.updates = [], [], []
        self.news = asyncio.Event()

    def on_connect(self, conn):
        pass

    async def request_permission(self, session_id, tool_call, options, **_):
        self.asked.append(tool_call.title)
        chosen = next(option for option in options if option.kind == "allow_once")
        outcome = schema.AllowedOutcome(outcome="selected", option_id=chosen.option_id)
        return schema.RequestPermissionResponse(outcome=outcome)

    async def session_update(self, session_id, update, **_):
        self.updates.append(update)
        self.news.set()

    async def write_text_file(self, session_id, path, content, **_):
        pathlib.Path(path).write_text(content)
        self.written.append(path)
        return schema.WriteTextFileResponse()

    async def read_text_file(self, session_id, path, line=None, limit=None, **_):
        return schema.ReadTextFileResponse(content=pathlib.Path(path).read_text())

    def said(self):
        chunks = [it for it in self.updates if it.session_update == "agent_message_chunk"]
        return "".join(chunk.content.text for chunk in chunks)

    async def hear(self, text):
        while text not in self.said():
            self.news.clear()
            await self.news.wait()


async def connect(conn):
    files = schema.FileSystemCapabilities(read_text_file=True, write_text_file=True)
    abilities = schema.ClientCapabilities(fs=files)
    return await conn.initialize(protocol_version=acp.PROTOCOL_VERSION, client_capabilities=abilities)


async def say(conn, session, text):
    return await conn.prompt(session_id=session, prompt=[acp.text_block(text)])


async def first():
    editor = Editor()
    place = {"env": {"HOME": str(HOME), "CAIMAN_ALLOW_HOME": "1"}, "cwd": HOME, "transport_kwargs": {"limit": 1 << 24}}
    async with acp.spawn_agent_process(editor, BINARY, "acp", **place) as (conn, _):
        told = await connect(conn)
        assert told.protocol_version == 1 and told.agent_capabilities.load_session, told
        begun = await conn.new_session(cwd=str(HOME), mcp_servers=[])
        assert begun.modes.current_mode_id == "default", begun
        session = begun.session_id
        answer = await say(conn, session, "write it")
        assert answer.stop_reason == "end_turn", answer
        assert editor.asked == ["new.txt"], editor.asked
        assert editor.written == [str(HOME / "new.txt")], editor.written
        assert (HOME / "new.txt").read_text() == "hello\n"
        kinds = {update.session_update for update in editor.updates}
        assert {"tool_call", "tool_call_update", "available_commands_update", "usage_update"} <= kinds, kinds
        running = asyncio.create_task(say(conn, session, "and wait"))
        await editor.hear("Half an")
        await conn.cancel(session_id=session)
        assert (await running).stop_reason == "cancelled"
        await conn.set_session_mode(session_id=session, mode_id="plan")
        set_to = await conn.set_config_option(config_id="model", session_id=session, value="lab/m")
        assert set_to.config_options, set_to
        return session


async def second(session):
    editor = Editor()
    place = {"env": {"HOME": str(HOME), "CAIMAN_ALLOW_HOME": "1"}, "cwd": HOME, "transport_kwargs": {"limit": 1 << 24}}
    async with acp.spawn_agent_process(editor, BINARY, "acp", **place) as (conn, _):
        await connect(conn)
        listed = await conn.list_sessions(cwd=str(HOME))
        assert [it.session_id for it in listed.sessions] == [session], listed
        await conn.load_session(cwd=str(HOME), session_id=session, mcp_servers=[])
        users = [it.content.text for it in editor.updates if it.session_update == "user_message_chunk"]
        assert users == ["write it", "and wait"], users
        assert "Written." in editor.said(), editor.said()


async def main():
    session = await first()
    await second(session)
    print("all is well")


asyncio.run(asyncio.wait_for(main(), 120))
