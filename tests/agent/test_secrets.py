"""Secrets in files and output stay on this machine, and edits and commands work with them all the same."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from codeagent.agent.session import Session
from codeagent.core.events import ToolFinished
from codeagent.core.messages import ToolMessage
from codeagent.core.paths import secrets_of
from codeagent.history.archive import share_archive
from codeagent.history.catalog import Catalog
from codeagent.llm.providers.scripted import Step, call, say
from tests.agent._world import World, check_valid, events, messages
from tests.agent.conftest import Make

PASSWORD = "hunter2-Tr0ub4dor"
SETTINGS = f"DB_PASSWORD={PASSWORD}\nPORT=80\n"


async def _result(world: World, session: Session, step: Step) -> str:
    """What the model is told of one call."""
    world.play(step, say("Done."))
    await events(session.run_turn("go on"))
    check_valid(session)
    return next(message.text for message in reversed(messages(session)) if isinstance(message, ToolMessage))


def _name(text: str) -> str:
    found = re.search(r"SECRET_[0-9a-f]{8}", text)
    assert found, text
    return found[0]


def _written(world: World) -> str:
    """All that the session files and archives hold, but for the file that may."""
    files = [path for path in world.home.history.rglob("*") if path.is_file() and path.suffix in (".jsonl", ".txt")]
    return "\n".join(path.read_text("utf-8") for path in files)


async def test_neither_the_model_nor_the_session_file_gets_a_secret(world: World) -> None:
    world.file("deploy.cfg", SETTINGS)
    session = world.begin()
    read = await _result(world, session, call("read_file", path="deploy.cfg"))
    shown = await _result(world, session, call("shell", command="cat deploy.cfg; sed 's/.*=//' deploy.cfg"))
    long = await _result(world, session, call("shell", command="for i in $(seq 2000); do cat deploy.cfg; done"))
    assert read.startswith(f"1\tDB_PASSWORD={_name(read)}\n2\tPORT=80\n[SECRET_")
    assert shown.startswith(f"DB_PASSWORD={_name(read)}\nPORT=80\n{_name(read)}\n80\n")
    assert long.count(_name(read)) > 100
    sent = b"".join(message for request in world.requests for message in request.messages)
    assert (PASSWORD.encode() in sent, PASSWORD in _written(world)) == (False, False)
    assert _written(world).count(_name(read)) > 2000
    kept = secrets_of(session.history.path)
    assert (json.loads(kept.read_bytes()), kept.stat().st_mode & 0o777) == (
        {"names": {_name(read): PASSWORD}},
        0o600,
    )


async def test_edits_and_commands_get_it_back(world: World) -> None:
    path = world.file("deploy.cfg", SETTINGS)
    session = world.begin()
    name = _name(await _result(world, session, call("read_file", path="deploy.cfg")))
    edit = call("edit_file", path="deploy.cfg", old_string=f"DB_PASSWORD={name}", new_string=f"export PW='{name}'")
    await _result(world, session, edit)
    assert path.read_text() == f"export PW='{PASSWORD}'\nPORT=80\n"
    ran = await _result(world, session, call("shell", command=f"echo {name} > out.txt; echo {name}"))
    assert ((world.top / "out.txt").read_text(), ran.splitlines()[0]) == (f"{PASSWORD}\n", name)
    found = await _result(world, session, call("grep", pattern=name))
    assert (found.count(name), PASSWORD in found) == (2, False)
    await _result(world, session, call("write_file", path="new.cfg", content=f"a={name}\nb=SECRET_00000000\n"))
    assert (world.top / "new.cfg").read_text() == f"a={PASSWORD}\nb=SECRET_00000000\n"
    assert PASSWORD not in _written(world)


async def test_other_tools_get_the_name(world: World) -> None:
    world.file("deploy.cfg", SETTINGS)
    session = world.begin()
    name = _name(await _result(world, session, call("read_file", path="deploy.cfg")))
    world.play(call("todo", items=[{"content": f"rotate {name}", "state": "pending"}]), say("Done."))
    await events(session.run_turn("plan"))
    assert [item.content for item in session.todos] == [f"rotate {name}"]


async def test_it_survives_a_resume_and_a_copy_and_goes_with_the_session(world: World) -> None:
    path = world.file("deploy.cfg", SETTINGS)
    session = world.begin()
    name = _name(await _result(world, session, call("read_file", path="deploy.cfg")))
    session = await world.resume(session)
    assert _name(await _result(world, session, call("read_file", path="deploy.cfg"))) == name
    await _result(world, session, call("edit_file", path="deploy.cfg", old_string=name, new_string=f"{name}!"))
    assert path.read_text() == f"DB_PASSWORD={PASSWORD}!\nPORT=80\n"
    file = session.history.path
    copy = file.with_name("copy.jsonl")
    share_archive(file, copy)
    assert secrets_of(copy).read_bytes() == secrets_of(file).read_bytes()
    await session.aclose()
    catalog = Catalog(world.home)
    catalog.remove(catalog.find(world.project.id, "s1"))
    assert secrets_of(file).exists() is False


async def test_a_private_key_is_hidden_line_by_line(world: World) -> None:
    body = ["MHcCAQEEIIrYSSNQFaA2Hwf1", "duRSxKtLYX5CB04fSeQ6tF1aY1"]
    lines = ["-----BEGIN EC PRIVATE KEY-----", *body, "-----END EC PRIVATE KEY-----"]
    path = world.file("notes.txt", "\n".join(lines) + "\n")
    session = world.begin()
    read = (await _result(world, session, call("read_file", path="notes.txt"))).splitlines()
    assert (read[0], read[3]) == (f"1\t{lines[0]}", f"4\t{lines[3]}")
    first, second = _name(read[1]), _name(read[2])
    edit = call("edit_file", path="notes.txt", old_string=f"{first}\n{second}", new_string=f"{second}\n{first}")
    await _result(world, session, edit)
    assert path.read_text().splitlines() == [lines[0], lines[2], lines[1], lines[3]]


async def test_what_the_person_ran_is_covered_for_the_model_alone(world: World) -> None:
    world.file("deploy.cfg", SETTINGS)
    session = world.begin([say("Seen.")])
    seen = await events(session.run_shell("cat deploy.cfg", tell=True))
    assert isinstance(seen[-1], ToolFinished)
    assert PASSWORD in seen[-1].result.text
    await events(session.run_turn("what is it?"))
    assert (PASSWORD in messages(session)[0].text, "DB_PASSWORD=SECRET_" in messages(session)[0].text) == (False, True)


async def test_it_can_be_switched_off(make: Make) -> None:
    world = make(secrets__mask=False)
    world.file("deploy.cfg", SETTINGS)
    read = await _result(world, world.begin(), call("read_file", path="deploy.cfg"))
    assert read == "1\tDB_PASSWORD=hunter2-Tr0ub4dor\n2\tPORT=80"


async def test_a_secret_never_makes_one_command_two(make: Make) -> None:
    """What is judged and shown is what will run."""
    world = make(permission_mode="default", permissions__deny=["shell(rm:*)"])
    world.file("deploy.cfg", "DB_PASSWORD='x1;rm -rf .;#'\n")
    session = world.begin()
    name = _name(await _result(world, session, call("read_file", path="deploy.cfg")))
    told = await _result(world, session, call("shell", command=f"echo {name}"))
    assert "Denied by the rule shell(rm:*)" in told


async def test_commands_do_not_get_our_keys(tmp_path: Path, words: Path) -> None:
    keys = {"OPENAI_API_KEY": "sk-one", "DEEPSEEK_API_KEY": "two", "CODEAGENT_API_KEY": "three", "MINE": "four"}
    world = World(tmp_path, cache=words, environ={**os.environ, **keys}, secrets__pass_env=["DEEPSEEK_API_KEY"])
    command = "echo [$OPENAI_API_KEY][$DEEPSEEK_API_KEY][$CODEAGENT_API_KEY][$MINE]"
    told = await _result(world, world.begin(), call("shell", command=command))
    await world.close()
    assert told.splitlines()[0] == "[][two][][four]"
