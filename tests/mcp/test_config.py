"""`bailiff mcp --print-config`: what it prints is what each client reads, and
the command in it starts a server with the few variables that clients pass on.

Run as: python3 test_config.py BUILD_DIR SOURCE_DIR [part of a name].
"""
import json
import os
import pwd
import shlex
import tomllib

from client import Client, languages, lib, shared_place
from lib import BAILIFF, PRESET, call, case, check, equal, main, need_programs

need_programs("bailiff-mcp", "bailiff-supervisor", "bailiff-signer", "bailiff-launch")
PLACE = shared_place()
ME = pwd.getpwuid(os.geteuid())
# What the official SDKs pass on to a server (getDefaultEnvironment).
ENV = {"HOME": ME.pw_dir, "LOGNAME": ME.pw_name, "PATH": "/usr/bin:/bin", "SHELL": ME.pw_shell, "TERM": "dumb",
       "USER": ME.pw_name}


def of_command(text):
    """A line for a shell: the words behind "--"."""
    words = shlex.split(text)
    equal(words[:4], ["claude", "mcp", "add", "bailiff"])
    equal(words[4], "--")
    equal(text.count("\n"), 1, "lines of %r" % text)
    return words[5:]


def of_json(key, more=()):
    def parse(text):
        whole = json.loads(text)
        equal(list(whole), [key])
        equal(list(whole[key]), ["bailiff"])
        one = whole[key]["bailiff"]
        equal(set(one), {"command", "args", *more})
        return [one["command"], *one["args"]]
    return parse


def of_toml(text):
    whole = tomllib.loads(text)
    equal(list(whole), ["mcp_servers"])
    equal(list(whole["mcp_servers"]), ["bailiff"])
    one = whole["mcp_servers"]["bailiff"]
    equal(set(one), {"command", "args"})
    return [one["command"], *one["args"]]


CLIENTS = {"claude-code": of_command, "claude-desktop": of_json("mcpServers"), "codex": of_toml,
           "cursor": of_json("mcpServers"), "gemini": of_json("mcpServers"), "vscode": of_json("servers", ["type"])}


def printed(client, *more, **popen):
    done = call([BAILIFF, "mcp", *more, "--print-config", client], **popen)
    equal(done.code, 0, done)
    check(client.encode() in done.err, "where it belongs: %r" % done.err)
    return CLIENTS[client](done.out.decode())


@case("each client's text is well-formed, absolute, and starts a server that serves")
def _():
    for client in CLIENTS:
        words = printed(client, "--policy", PLACE.policy, "--state", PLACE.state)
        equal(words, [os.path.realpath(BAILIFF), "mcp", "--policy", os.path.realpath(PLACE.policy), "--state",
                      os.path.realpath(PLACE.state)], client)
        with Client(None, *words, env=ENV, cwd="/") as c:
            equal(c.initialized["result"]["serverInfo"]["name"], "bailiff", client)
            equal(c.call("get_supported_languages").json, languages(), client)
            equal(c.end()[0], 0, client)


@case("with nothing said the command is the program alone; VS Code is told that it is stdio")
def _():
    for client in CLIENTS:
        equal(printed(client), [os.path.realpath(BAILIFF), "mcp"], client)
    done = call([BAILIFF, "mcp", "--print-config", "vscode"])
    equal(json.loads(done.out)["servers"]["bailiff"]["type"], "stdio")


@case("relative paths become absolute, and odd ones come back to the byte")
def _():
    for name in ("plain", "with space", "it's \"quoted\" $HOME `x` \\", "\u00e9\u4e2d ; & | < > * ? # ~", "-dash"):
        folder = PLACE.path("config", name)
        os.makedirs(folder, exist_ok=True)
        with open(PRESET) as src, open(os.path.join(folder, "p.json"), "w") as to:
            to.write(src.read())
        for client in CLIENTS:
            words = printed(client, "--policy", "p.json", "--state", "new state", cwd=folder)
            real = os.path.realpath(folder)
            equal(words[2:], ["--policy", real + "/p.json", "--state", real + "/new state"], client)


@case("a server is started from such a path")
def _():
    folder = PLACE.path("config", "it's \"quoted\" $HOME `x` \\")
    place = lib.Place()
    policy = os.path.join(folder, "q.json")
    with open(place.policy) as src, open(policy, "w") as to:
        to.write(src.read())
    for client in ("claude-code", "codex", "vscode"):
        words = printed(client, "--policy", policy, "--state", place.state)
        with Client(None, *words, env=ENV, cwd="/") as c:
            equal(c.call("get_supported_languages").json, languages(), client)
    call([BAILIFF, "stop", "--policy", policy, "--state", place.state])


@case("an unknown client is refused, with those that are known")
def _():
    done = call([BAILIFF, "mcp", "--print-config", "emacs"])
    equal((done.code, done.out), (2, b""))
    for client in CLIENTS:
        check(client.encode() in done.err, done.err)


main()
