"""A scripted model on loopback, for the agents' clients: it answers as the Anthropic Messages, OpenAI Responses, OpenAI Chat
Completions and Gemini APIs do, as far as the clients need it.

A script is a list of steps, each a list of calls {"tool": NAME, "args": {...}}; behind the last step the model says that it is done.
Which step is due is read from the conversation that the client sends: the number of turns in which the model has called tools. So
a client that repeats a request gets the same answer. A tool is found by the end of its name (run_shell is mcp__cloche__run_shell
for one client and cloche_run_shell for another). A call may wait: "after" says how many seconds. What only the client knows, such
as the name of a file that it made, is taken from the conversation by a pattern of the scenario's `facts` and put where @NAME@ stands.
"""

import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def text_of(content):
    """What a client has put into a tool's result, as text."""
    if isinstance(content, list):
        return "\n".join(part.get("text", "<%s>" % part.get("type")) for part in content)
    return content if isinstance(content, str) else json.dumps(content)


class Anthropic:
    def offered(self, request):
        return {tool["name"]: None for tool in request.get("tools") or []}

    def turns(self, request):
        blocks = [m["content"] for m in request["messages"] if m["role"] == "assistant" and isinstance(m["content"], list)]
        return sum(any(b["type"] == "tool_use" for b in content) for content in blocks)

    def results(self, request):
        for message in request["messages"]:
            for block in message["content"] if isinstance(message["content"], list) else []:
                if block["type"] == "tool_result":
                    yield block["tool_use_id"], text_of(block.get("content", ""))

    def answer(self, request, calls, tools, text):
        blocks = [{"type": "tool_use", "id": call["id"], "name": call["tool"], "input": call["args"]} for call in calls]
        blocks = blocks or [{"type": "text", "text": text}]
        stop = "tool_use" if calls else "end_turn"
        message = {"id": "msg_%d" % time.time_ns(), "type": "message", "role": "assistant", "model": request.get("model"),
                   "content": blocks, "stop_reason": stop, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
        if not request.get("stream"):
            return message, None
        events = [{"type": "message_start", "message": dict(message, content=[], stop_reason=None)}]
        for at, block in enumerate(blocks):
            if block["type"] == "text":
                start, delta = dict(block, text=""), {"type": "text_delta", "text": block["text"]}
            else:
                start, delta = dict(block, input={}), {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            events += [{"type": "content_block_start", "index": at, "content_block": start},
                       {"type": "content_block_delta", "index": at, "delta": delta}, {"type": "content_block_stop", "index": at}]
        events += [{"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 1}},
                   {"type": "message_stop"}]
        return None, events


class Responses:
    def items(self, request):
        return request["input"] if isinstance(request.get("input"), list) else []

    def offered(self, request):
        tools = {}
        for tool in list(request.get("tools") or []) + [t for i in self.items(request) for t in i.get("tools") or []]:
            if tool.get("type") == "namespace":
                joint = "" if tool["name"].endswith("_") else "__"
                tools.update({tool["name"] + joint + inner["name"]: (tool["name"], inner["name"]) for inner in tool["tools"]})
            else:
                tools[tool.get("name") or tool["type"]] = tool
        return tools

    def turns(self, request):
        made = [i["call_id"] for i in self.items(request) if str(i.get("type")).endswith("_call") and i.get("call_id")]
        return len({id.rsplit("_", 1)[0] for id in made if id.startswith("step")})

    def results(self, request):
        for item in self.items(request):
            if str(item.get("type")).endswith("_call_output"):
                yield item["call_id"], text_of(item["output"])

    def item(self, call, tools):
        tool = tools.get(call["tool"])
        item = {"type": "function_call", "id": "item_" + call["id"], "call_id": call["id"], "name": call["tool"],
                "arguments": json.dumps(call["args"]), "status": "completed"}
        if isinstance(tool, tuple):
            item["namespace"], item["name"] = tool
        elif tool and tool["type"] == "tool_search":
            item.update(type="tool_search_call", execution="client", arguments=call["args"])
            del item["name"]
        elif tool and tool.get("type") == "custom":  # takes text, not JSON
            item.update(type="custom_tool_call", input=call["args"]["input"])
            del item["arguments"]
        return item

    def answer(self, request, calls, tools, text):
        items = [self.item(call, tools) for call in calls]
        items = items or [{"type": "message", "id": "item_done", "role": "assistant", "status": "completed",
                           "content": [{"type": "output_text", "text": text, "annotations": []}]}]
        response = {"id": "resp_%d" % time.time_ns(), "object": "response", "model": request.get("model"), "status": "completed",
                    "output": items, "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}
        events = [{"type": "response.created", "response": dict(response, status="in_progress", output=[])}]
        for at, item in enumerate(items):
            events.append({"type": "response.output_item.done", "output_index": at, "item": item})
        return None, events + [{"type": "response.completed", "response": response}]


class Chat:
    def offered(self, request):
        return {tool["function"]["name"]: None for tool in request.get("tools") or []}

    def turns(self, request):
        return sum(bool(m.get("tool_calls")) for m in request["messages"])

    def results(self, request):
        for message in request["messages"]:
            if message["role"] == "tool":
                yield message["tool_call_id"], text_of(message["content"])

    def answer(self, request, calls, tools, text):
        made = [{"index": at, "id": c["id"], "type": "function", "function": {"name": c["tool"], "arguments": json.dumps(c["args"])}}
                for at, c in enumerate(calls)]
        delta = {"role": "assistant", "tool_calls": made} if made else {"role": "assistant", "content": text}
        end = "tool_calls" if made else "stop"
        chunk = {"id": "chat_%d" % time.time_ns(), "object": "chat.completion.chunk", "created": int(time.time()), "model": "scripted"}
        if not request.get("stream"):
            return dict(chunk, object="chat.completion", choices=[{"index": 0, "message": delta, "finish_reason": end}]), None
        return None, [dict(chunk, choices=[{"index": 0, "delta": delta, "finish_reason": None}]),
                      dict(chunk, choices=[{"index": 0, "delta": {}, "finish_reason": end}],
                           usage={"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}), "[DONE]"]


class Gemini:
    def offered(self, request):
        return {f["name"]: None for tool in request.get("tools") or [] for f in tool.get("functionDeclarations", [])}

    def turns(self, request):
        return sum(c.get("role") == "model" and any("functionCall" in p for p in c["parts"]) for c in request["contents"])

    def results(self, request):
        answers = [p["functionResponse"] for c in request["contents"] for p in c["parts"] if "functionResponse" in p]
        for at, answer in enumerate(answers):
            yield "%s %d" % (answer.get("name"), at), text_of(answer.get("response", {}))

    def answer(self, request, calls, tools, text):
        parts = [{"functionCall": {"name": c["tool"], "args": c["args"]}} for c in calls] or [{"text": text}]
        body = {"candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
                "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}
        return body, [body]


def api_for(path):
    for end, api in (("/messages", Anthropic()), ("/responses", Responses()), ("/chat/completions", Chat()),
                     (":generateContent", Gemini()), (":streamGenerateContent", Gemini())):
        if path.endswith(end):
            return api
    return None


class Model:
    """Serves one script; afterwards `offered` and `results` say what the client did."""

    def __init__(self, steps, patterns=None):
        self.steps = steps
        self.patterns = patterns or {}  # name: a pattern with one group
        self.offered = set()  # names of tools, of every request that had some
        self.results = {}  # id of a call: what the client gave back, in the order of arrival
        self.lock = threading.Lock()
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_HEAD(self):
                self.reply({})

            def do_GET(self):
                self.reply({"data": [{"id": "scripted", "object": "model"}], "models": []})

            def do_POST(self):
                path = self.path.split("?")[0]
                request = json.loads(self.body() or b"{}")
                api = api_for(path)
                if api is None:
                    return self.reply({"input_tokens": 1, "totalTokens": 1})
                body, events = model.respond(api, request)
                streamed = path.endswith(":streamGenerateContent") or not isinstance(api, Gemini)
                if events is None or not streamed:
                    return self.reply(body)
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("connection", "close")
                self.end_headers()
                self.close_connection = True
                for event in events:
                    name = "event: %s\n" % event["type"] if isinstance(event, dict) and "type" in event else ""
                    data = event if isinstance(event, str) else json.dumps(event)
                    self.wfile.write((name + "data: " + data + "\n\n").encode())
                    self.wfile.flush()

            def body(self):
                length = self.headers.get("content-length")
                if length is not None:
                    return self.rfile.read(int(length))
                text = b""
                while self.headers.get("transfer-encoding") == "chunked":
                    size = int(self.rfile.readline().strip() or b"0", 16)
                    text += self.rfile.read(size)
                    self.rfile.readline()
                    if size == 0:
                        break
                return text

            def reply(self, value):
                data = json.dumps(value).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        class Server(ThreadingHTTPServer):
            def handle_error(self, *_):  # a client that ends in the middle of a request
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def respond(self, api, request):
        tools = api.offered(request)
        if not tools:  # a title or a summary
            return api.answer(request, [], {}, "ok")
        turn = api.turns(request)
        with self.lock:
            self.offered.update(tools)
            for id, text in api.results(request):
                self.results.setdefault(id, text)
        calls = self.steps[turn] if turn < len(self.steps) else []
        hidden = [call["tool"] for call in calls if find(call["tool"], tools) not in tools]
        search = "search%d_%d" % (turn, len(hidden))
        if hidden and "tool_search" in tools and search not in json.dumps(request):  # the client keeps some tools back until asked
            query = {"id": search, "tool": "tool_search", "args": {"query": hidden[0].replace("_", " ") + " cloche", "limit": 20}}
            return api.answer(request, [query], tools, "")
        time.sleep(max([call.get("after", 0) for call in calls], default=0))
        named = [{"id": "step%d_%d" % (turn, at), "tool": find(call["tool"], tools), "args": self.known(call["args"], request)}
                 for at, call in enumerate(calls)]
        return api.answer(request, named, tools, "done")


    def known(self, args, request):
        text, said = json.dumps(args), json.dumps(request)
        for name, pattern in self.patterns.items():
            found = re.findall(pattern, said)
            if found:
                text = text.replace("@%s@" % name, found[-1])
        return json.loads(text)


def find(name, offered):
    ends = [tool for tool in offered if tool == name or tool.endswith("_" + name)]
    return min(ends, key=len) if ends else name
