"""The C interface from another language: c_interface.py LIBRARY. Prints what is wrong, or "ok"."""
import ctypes
import json
import sys
import threading
import time

library = ctypes.CDLL(sys.argv[1])
APPROVER = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)
library.cloche_open.restype = ctypes.c_void_p
library.cloche_open.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)]
library.cloche_call.restype = ctypes.c_void_p
library.cloche_call.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
library.cloche_call_with_approver.restype = ctypes.c_void_p
library.cloche_call_with_approver.argtypes = [ctypes.c_void_p, ctypes.c_char_p, APPROVER, ctypes.c_void_p]
library.cloche_tools.restype = ctypes.c_void_p
library.cloche_tools.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
library.cloche_close.argtypes = [ctypes.c_void_p]
library.cloche_free.argtypes = [ctypes.c_void_p]
library.cloche_version.restype = ctypes.c_char_p

wrong = []


def expect(holds, what, seen=None):
    if not holds:
        wrong.append(f"wrong: {what}: {seen}")


def taken(text):
    """What was returned, as JSON; it is freed."""
    if not text:
        return None
    value = json.loads(ctypes.string_at(text))
    library.cloche_free(text)
    return value


def opened(options):
    error = ctypes.c_void_p(1)
    gateway = library.cloche_open(options, ctypes.byref(error))
    return gateway, taken(error.value)


def call(gateway, tool, arguments):
    return taken(library.cloche_call(gateway, json.dumps({"tool": tool, "arguments": arguments}).encode()))


for options in (b"", b"[]", b"nonsense", b'{"worksapce": "x"}', b'{"workspace": 1}', b'{"workspace": "/proc"}',
                b'{"autonomy": "wild"}', b'{"home": "\xff"}', b'{"limits": {"timeout": 0}}', b"[" * 100000,
                b'{"environment": {"A=B\\u0000": ""}}', b'{"run": "a\\u0000b"}', b'{"skill": "/no/such/file"}'):
    gateway, error = opened(options)
    expect(gateway is None, "it is not opened", options[:40])
    expect(set(error or {}) == {"error"} and set(error["error"]) == {"kind", "message", "fix"} and error["error"]["message"],
           "it says why", (options[:40], error))
    expect(library.cloche_open(options, None) is None, "nobody has to take the error", options[:40])

library.cloche_close(None)
library.cloche_free(None)
for made in (library.cloche_call(None, b'{"tool": "run_shell"}'), library.cloche_call(None, None), library.cloche_tools(None, None)):
    expect("NULL" in taken(made)["error"]["message"], "no gateway is an error")

gateway, error = opened(b'{"run": "run", "limits": {"timeout": "20s"}}')
expect(gateway and error is None, "a gateway", error)
for wanted in (None, b"", b"{}", b"[]", b'"run_shell"', b'{"tool": 3}', b'{"tool": ""}', b'{"tool": "run_shell", "argumnets": {}}',
               b'{"tool": "\xff"}', b'{"tool": "run_shell", "cancel": -2}', b"{" * 100000):
    answer = taken(library.cloche_call(gateway, wanted))
    expect(set(answer) == {"error"} and answer["error"]["kind"] in ("usage", "configuration"), "it is no call", (wanted, answer))
for arguments in ({}, [], None, "nonsense", {"cmd": 3}, {"cmd": "ls\x00"}, {"cmd": "ls", "more": 1}, {"cmd": "cat ../../etc/passwd"}):
    answer = call(gateway, "run_shell", arguments)
    expect(answer["outcome"] == "refused" and answer["exit_code"] == 126 and "error" not in answer, "it is refused", (arguments, answer))
expect(call(gateway, "\x00", {})["outcome"] == "refused", "there is no such tool")
expect(taken(library.cloche_call(gateway, b'{"tool": "list_artifacts", "task": "../x"}'))["exit_code"] != 0, "no such task")
expect(taken(library.cloche_call(gateway, b'{"tool": "run_shell", "arguments": {"cmd": "ls"}, "cancel": 99999}'))["exit_code"] != 0,
       "a descriptor that is none")
answer = call(gateway, "run_python", {"code": "print(6 * 7)"})
expect(answer["outcome"] == "exited" and answer["stdout"] == "42\n" and "42" in answer["result"], "it runs", answer)
answer = call(gateway, "write_artifact", {"path": "big", "content": "\u00e4" * 300000})
expect(answer["exit_code"] == 0, "a large file", str(answer)[:300])

for api, kind in ((None, dict), (b"mcp", dict), (b"openai", list), (b"anthropic", list)):
    tools = taken(library.cloche_tools(gateway, api))
    expect(isinstance(tools, kind) and "run_shell" in json.dumps(tools), "the tools", api)
expect("error" in taken(library.cloche_tools(gateway, b"soap")), "no such format")

questions = []
wanted = json.dumps({"tool": "list_artifacts"}).encode()  # which the configuration asks about
for number, outcome in ((0, "refused"), (7, "refused"), (-1, "refused"), (1, "exited"), (2, "exited")):
    def ask(context, question):
        questions.append((context, json.loads(question)))
        return number
    answer = taken(library.cloche_call_with_approver(gateway, wanted, APPROVER(ask), 5))
    expect(answer["outcome"] == outcome, "the approver's answer", (number, answer["result"]))
expect(len(questions) == 5 and all(context == 5 and set(question) == {"digest", "text", "afterwards"} for context, question in questions),
       "the questions", questions[:1])

answers = []
threads = [threading.Thread(target=lambda n=n: answers.append((n, call(gateway, "run_python", {"code": f"print({n} * 1000)"}))))
           for n in range(1, 7)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
expect(len(answers) == 6 and all(answer["stdout"] == f"{n * 1000}\n" for n, answer in answers), "threads", answers)
library.cloche_close(gateway)

# A program that stays says so, and its calls find a sandbox, or a Python, that waited.
gateway, error = opened(b'{"flags": ["--pool=1", "--warm=python3"]}')
expect(gateway, "a gateway with what waits", error)
for tool, arguments, start in (("run_shell", {"cmd": "ls"}, "pooled"), ("run_python", {"code": "print(1)"}, "warm")):
    seen = []
    while len(seen) < 40 and start not in seen:
        time.sleep(0.1 if seen else 0)
        answer = call(gateway, tool, arguments)
        expect(answer.get("exit_code") == 0, tool, answer)
        seen.append(answer.get("start"))
    expect(start in seen, "how it was started", (tool, seen))
library.cloche_close(gateway)
expect(opened(b'{"flags": ["--pool=17"]}')[0] is None and opened(b'{"flags": ["--warm=perl"]}')[0] is None, "not these")
expect(library.cloche_version().count(b".") == 2, "the version")
print("\n".join(wrong) or "ok")
sys.exit(1 if wrong else 0)
