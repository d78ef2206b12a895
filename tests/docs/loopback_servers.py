# A mirror of npm's registry with one package, and git's own server for the repositories of a directory. Prints the two
# ports, and serves until it is ended.
import base64
import hashlib
import http.server
import io
import json
import socketserver
import subprocess
import sys
import tarfile
import threading

PACKAGE = {"name": "left-pad", "version": "1.3.0", "main": "index.js"}
CODE = "module.exports = (text, width) => text.padStart(width)\n"


def packed():
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, text in (("package.json", json.dumps(PACKAGE)), ("index.js", CODE)):
            member = tarfile.TarInfo("package/" + name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return data.getvalue()


ARCHIVE = packed()


class Registry(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        digest = base64.b64encode(hashlib.sha512(ARCHIVE).digest()).decode()
        archive = "http://%s/left-pad.tgz" % self.headers["Host"]
        version = {**PACKAGE, "dist": {"tarball": archive, "integrity": "sha512-" + digest}}
        listed = {"name": "left-pad", "dist-tags": {"latest": "1.3.0"}, "versions": {"1.3.0": version}}
        body = ARCHIVE if self.path.endswith(".tgz") else json.dumps(listed).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class Git(socketserver.BaseRequestHandler):
    def handle(self):
        words = ["git", "daemon", "--inetd", "--export-all", "--enable=receive-pack", "--base-path=" + sys.argv[1]]
        subprocess.run(words, stdin=self.request, stdout=self.request, stderr=subprocess.DEVNULL)


registry = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
git = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Git)
print(registry.server_address[1], git.server_address[1], flush=True)
threading.Thread(target=registry.serve_forever, daemon=True).start()
git.serve_forever()
