#!/usr/bin/env python3
"""Real clients against Cloche, with a scripted model: `./dev clients [WORD...]` runs the scenarios whose names contain a word, or all.

A scenario is a file in scenarios/:

    client    claude, codex, opencode or gemini, or a list of them: the scenario runs with each
    through   "mcp" (default): with exactly the lines that README.md gives for that client; "hook": with `cloche hook --install`
    files     path to text, made before the client starts; a path begins with home/ or project/
    variables for the client's environment
    flags     of the client, behind its others
    facts     name to a pattern with one group: what the model takes from the conversation for @NAME@ in its arguments (model.py)
    starts_nothing  true: the client executes nothing that it does not execute without these calls, but Cloche (by strace)
    sandbox   of Codex through the hook: its own sandbox (default: danger-full-access, which the hook needs)
    steps     what the model calls: a list of steps, each a list of {"tool": NAME, "args": {...}} (model.py)
    expect    a list of {"step": N, "call": N (default 0), "has": TEXT or list, "lacks": TEXT or list} about what the client gave back
    there     path to true or false: what is there afterwards
    point     of which issue or promise it is about; for the reader

@HOME@ and @PROJECT@ stand for the directories. Through mcp each scenario also checks which tools the client offers to the model:
Cloche's and those that README.md names as left over, and no other.

The clients come from npm, once, into a cache directory. They run in a network namespace with loopback alone (an ordinary user needs
sudo for it), in a home and a project that are made for each scenario. CLOCHE_BIN is the directory of cloche (default build/bin),
KEEP=1 keeps the homes.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
from model import Model  # noqa: E402

CLIENTS = {"@anthropic-ai/claude-code": "2.1.197", "@openai/codex": "0.166.0", "opencode-ai": "1.18.33", "@google/gemini-cli": "0.61.0"}
AFTER_INSTALL = ["node_modules/@anthropic-ai/claude-code/install.cjs", "node_modules/opencode-ai/postinstall.mjs"]
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cloche" / "clients"
BIN = Path(os.environ.get("CLOCHE_BIN") or ROOT / "build/bin").resolve()
SECONDS = 180


def install():
    wanted = json.dumps(CLIENTS, sort_keys=True)
    ready = CACHE / "ready"
    if ready.exists() and ready.read_text() == wanted:
        return
    print("clients: installing %s into %s" % (", ".join(CLIENTS), CACHE))
    CACHE.mkdir(parents=True, exist_ok=True)
    (CACHE / "package.json").write_text("{}")
    packages = ["%s@%s" % one for one in CLIENTS.items()]
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent", *packages], cwd=CACHE, check=True)
    for script in AFTER_INSTALL:
        subprocess.run(["node", script], cwd=CACHE, stdout=subprocess.DEVNULL, check=True)
    ready.write_text(wanted)


def readme_lines(client):
    """The block that README.md has for this client, and the tools that it says are left over."""
    text = (ROOT / "README.md").read_text()
    block = re.search(r"```\w+ %s\n(.*?)```\n(.*?)(?=\n```|\n## )" % client, text, re.S)
    if not block:
        sys.exit("clients: README.md has no block for %s" % client)
    left = re.search(r"Left over: (.*?)\.\n", block.group(2), re.S)
    return block.group(1), set(re.findall(r"`([^`]+)`", left.group(1))) if left else set()


class Stage:
    """A home and a project that nothing has used before."""

    def __init__(self, scenario, client):
        self.home = Path(tempfile.mkdtemp(prefix="cloche-client-", dir="/var/tmp"))
        self.project = self.home / "project"
        self.project.mkdir()
        self.client = client
        self.git("init", "-q")
        (self.project / "add.py").write_text("def add(a, b):\n    return a + b\n")
        (self.project / "test_add.py").write_text("import unittest\nfrom add import add\n\n\nclass Add(unittest.TestCase):\n"
                                                  "    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n")
        self.git("add", ".")
        self.git("commit", "-qm", "A small project")
        for path, content in scenario.get("files", {}).items():
            self.write(self.place(path), self.fill(content))

    def git(self, *words):
        who = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
        subprocess.run(["git", *who, *words], cwd=self.project, check=True)

    def place(self, path):
        root, rest = path.split("/", 1)
        return {"home": self.home, "project": self.project}[root] / rest

    def write(self, path, content):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))

    def fill(self, value):
        text = json.dumps(value)
        return json.loads(text.replace("@HOME@", str(self.home)).replace("@PROJECT@", str(self.project)))


def environment(stage, port, variables):
    own = {
        "HOME": str(stage.home),
        "PATH": ":".join([str(BIN), str(CACHE / "node_modules/.bin"), os.environ["PATH"]]),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "ANTHROPIC_API_KEY": "sk-ant-scripted-0000000000000000000000000000",
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:%d" % port,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "SCRIPTED_KEY": "scripted",
        "GEMINI_API_KEY": "scripted",
        "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:%d" % port,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }
    return {**own, **variables}


def traced(scenario):
    if not scenario.get("starts_nothing"):
        return ""
    return 'strace -ff -qq -s 300 -e trace=execve -e signal=none -o "$HOME/execs/of" '


def executed(stage):
    """Everything that the client executed but Cloche's own, without what differs from session to session."""
    programs = set()
    for file in (stage.home / "execs").iterdir():
        for line in file.read_text(errors="replace").splitlines():
            if line.endswith(" = 0") and "cloche" not in line.replace("cloche-client-", "").replace("/cloche/clients/", "/"):
                line = line.split(", 0x")[0].replace(str(stage.home), "HOME")
                line = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID", line)
                programs.add(re.sub(r"[0-9]{6,}", "N", line))
    return programs


def claude(stage, lines, port, through, scenario):
    trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True, "allowedTools": []}
    stage.write(stage.home / ".claude.json",
                {"hasCompletedOnboarding": True, "customApiKeyResponses": {"approved": ["00000000000000000000"], "rejected": []},
                 "projects": {str(stage.project): trusted}})
    headless = ' -p "do it" --output-format stream-json --verbose ' + scenario.get("flags", "")
    if through == "hook":
        return "cloche hook --install claude --yes && " + traced(scenario) + "claude" + headless
    return lines.strip() + headless


def codex(stage, lines, port, through, scenario):
    provider = '[model_providers.scripted]\nname = "scripted"\nbase_url = "http://127.0.0.1:%d/v1"\nenv_key = "SCRIPTED_KEY"\n' % port
    provider += 'wire_api = "responses"\n\n[projects."%s"]\ntrust_level = "trusted"\n' % stage.project
    own = lines.replace("/path/of/the/project", str(stage.project))
    if through == "hook":
        own = 'sandbox_mode = "%s"\n' % scenario.get("sandbox", "danger-full-access")
    stage.write(stage.home / ".codex/config.toml",
                'model = "gpt-5.5"\nmodel_provider = "scripted"\ncheck_for_update_on_startup = false\n' + own + "\n" + provider)
    start = 'codex exec --json --skip-git-repo-check %s"do it"'
    if through == "hook":
        return "cloche hook --install codex --yes && " + traced(scenario) + start % "--dangerously-bypass-hook-trust "
    return start % ""


def opencode(stage, lines, port, through, scenario):
    models = {"npm": "@ai-sdk/openai-compatible", "models": {"scripted": {}},
              "options": {"baseURL": "http://127.0.0.1:%d/v1" % port, "apiKey": "scripted"}}
    stage.write(stage.home / ".config/opencode/opencode.json", {"model": "scripted/scripted", "provider": {"scripted": models}})
    stage.write(stage.project / "opencode.json", lines)
    return 'opencode run "do it"'


def gemini(stage, lines, port, through, scenario):
    stage.write(stage.home / ".gemini/settings.json", lines)
    stage.write(stage.project / ".gemini/settings.json", {"security": {"auth": {"selectedType": "gemini-api-key"}}})
    return 'gemini --model gemini-2.5-flash -p "do it"'


START = {"claude": claude, "codex": codex, "opencode": opencode, "gemini": gemini}


def cloches_tools():
    listed = subprocess.run([str(BIN / "cloche"), "tools", "--format", "mcp"], capture_output=True, text=True, check=True).stdout
    value = json.loads(listed)
    return {tool["name"] for tool in (value["tools"] if isinstance(value, dict) else value)}


def wrong_tools(offered, left):
    """Which of the offered tools are neither Cloche's nor named, and which are missing. What is left over depends on the model."""
    own = cloches_tools()
    name_of = {tool: next((name for name in own if re.fullmatch(r"(mcp_+)?cloche_+" + name, tool)), None) for tool in offered}
    missing = set() if "tool_search" in offered else own - set(name_of.values())  # Codex shows those that the model looks for
    strange = {tool for tool, name in name_of.items() if name is None} - left
    return ["%s is offered and not named in the README" % tool for tool in sorted(strange)] + \
           ["%s is not offered" % tool for tool in sorted(missing)]


def listed(value):
    return value if isinstance(value, list) else [value]


def judge(scenario, stage, model, left):
    faults = []
    if scenario.get("through", "mcp") == "mcp":
        faults += wrong_tools(model.offered, left) if model.offered else ["the client offered no tools"]
    results = list(model.results.values())
    firsts = [sum(map(len, scenario["steps"][:step])) for step in range(len(scenario["steps"]))]
    for expected in stage.fill(scenario.get("expect", [])):
        at = firsts[expected["step"]] + expected.get("call", 0)
        where = "step %d: " % expected["step"]
        if at >= len(results):
            faults.append(where + "there is no result")
            continue
        shown = " in %r" % results[at][:600]
        faults += [where + "no %r" % text + shown for text in listed(expected.get("has", [])) if text not in results[at]]
        faults += [where + "%r" % text + shown for text in listed(expected.get("lacks", [])) if text in results[at]]
    for path, there in scenario.get("there", {}).items():
        if stage.place(path).exists() != there:
            faults.append("%s is %sthere" % (path, "not " if there else ""))
    return faults


def play(scenario, client):
    through = scenario.get("through", "mcp")
    lines, left = readme_lines(client) if through == "mcp" else ("", set())
    usual = None
    if scenario.get("starts_nothing") and scenario["steps"]:
        usual = run_client({**scenario, "steps": []}, client, through, lines)[0]
    stage, model, said = run_client(scenario, client, through, lines)
    faults = judge(scenario, stage, model, left)
    if usual:
        faults += ["it started " + program for program in sorted(executed(stage) - executed(usual))]
        remove(usual)
    if faults:
        faults.append("the client said: " + said[-1500:])
    remove(stage)
    return faults


def remove(stage):
    if os.environ.get("KEEP"):
        print("kept: %s" % stage.home)
    else:
        shutil.rmtree(stage.home, ignore_errors=True)


def run_client(scenario, client, through, lines):
    stage = Stage(scenario, client)
    (stage.home / "execs").mkdir()
    model = Model(stage.fill(scenario["steps"]), scenario.get("facts"))
    line = START[client](stage, lines, model.port, through, scenario)
    variables = environment(stage, model.port, stage.fill(scenario.get("variables", {})))
    with open(stage.home / "said", "w+") as said:
        try:
            subprocess.run(["bash", "-c", line], cwd=stage.project, env=variables, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                           timeout=SECONDS)
        except subprocess.TimeoutExpired:
            pass
        said.seek(0)
        return stage, model, said.read()


def alone(user, group, variables, words):
    """This program in a network namespace. Not in a user namespace as well: there / and /var/tmp belong to another user, and Cloche
    refuses a state directory that another user could move."""
    again = ["env", "-i", *["%s=%s" % one for one in variables.items()], sys.executable, str(Path(__file__).resolve()), *words]
    if user != 0:
        again = ["setpriv", "--reuid", str(user), "--regid", str(group), "--init-groups", *again]
    namespace = ["unshare", "-n", "sh", "-c", "ip link set lo up && exec " + shlex.join(again)]
    return namespace if user == 0 else ["sudo", *namespace]


def main(words):
    if not os.environ.get("CLOCHE_CLIENTS_INSIDE"):
        install()
        needed = {name: os.environ[name] for name in ("HOME", "PATH", "XDG_CACHE_HOME", "CLOCHE_BIN", "KEEP") if name in os.environ}
        line = alone(os.geteuid(), os.getegid(), {**needed, "CLOCHE_CLIENTS_INSIDE": "1"}, words)
        os.execvp(line[0], line)
    passed = failed = 0
    for file in sorted((HERE / "scenarios").glob("*.json")):
        scenario = json.loads(file.read_text())
        for client in listed(scenario["client"]):
            name = "%s (%s, %s)" % (file.stem, client, scenario.get("through", "mcp"))
            if words and not any(word in name for word in words):
                continue
            faults = play(scenario, client)
            print(("FAILED  " if faults else "passed  ") + name, flush=True)
            for fault in faults:
                print("    " + fault.replace("\n", "\n    "))
            passed, failed = passed + (not faults), failed + bool(faults)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
