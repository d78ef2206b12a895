# Runs the loops of the README (loops.py) with clients that have the shape of the two APIs' own and a model that
# follows a script: a good call, a refused one, one whose tool is called like a flag, and an end.
import json
from types import SimpleNamespace as Value

import loops

SCRIPT = [
    ("run_python", {"code": "print(6 * 7)"}, "exit_code: 0\nstdout: 42\n"),
    ("run_shell", {"cmd": "ls | sh"}, "refused by no-shell: "),
    ("--run=elsewhere", {}, "refused by loadout: "),
]


def check_result(turn, text):
    expected = SCRIPT[turn][2]
    assert text.startswith(expected), f"turn {turn}: {text!r}"


class OpenAi:
    """client.chat.completions.create"""

    def __init__(self):
        self.chat = Value(completions=self)

    def create(self, model, messages, tools):
        assert "run_python" in [tool["function"]["name"] for tool in tools if tool["type"] == "function"]
        results = [message for message in messages if isinstance(message, dict) and message["role"] == "tool"]
        for turn, result in enumerate(results):
            assert result["tool_call_id"] == f"call-{turn}"
            check_result(turn, result["content"])
        return Value(choices=[Value(message=self.message(len(results)))])

    def message(self, turn):
        if turn == len(SCRIPT):
            return Value(role="assistant", content="done", tool_calls=None)
        name, arguments, _ = SCRIPT[turn]
        function = Value(name=name, arguments=json.dumps(arguments))
        return Value(role="assistant", content=None, tool_calls=[Value(id=f"call-{turn}", function=function)])


class Anthropic:
    """client.messages.create"""

    def __init__(self):
        self.messages = self

    def create(self, model, max_tokens, messages, tools):
        assert "run_python" in [tool["name"] for tool in tools if tool["input_schema"]["type"] == "object"]
        answers = [message["content"] for message in messages[1:] if message["role"] == "user"]
        for turn, (result,) in enumerate(answers):
            assert (result["type"], result["tool_use_id"]) == ("tool_result", f"use-{turn}")
            assert result["is_error"] == (turn > 0)
            check_result(turn, result["content"])
        return self.answer(len(answers))

    def answer(self, turn):
        if turn == len(SCRIPT):
            return Value(stop_reason="end_turn", content=[Value(type="text", text="done")])
        name, arguments, _ = SCRIPT[turn]
        use = Value(type="tool_use", id=f"use-{turn}", name=name, input=arguments)
        return Value(stop_reason="tool_use", content=[Value(type="text", text="next"), use])


def first_message():
    return [{"role": "user", "content": "compute 6 * 7"}]


print("openai:", loops.openai_loop(OpenAi(), "scripted", first_message()))
print("anthropic:", loops.anthropic_loop(Anthropic(), "scripted", first_message())[0].text)
