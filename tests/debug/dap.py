"""A client of the Debug Adapter Protocol, as small as tests need it."""
import json
import subprocess


class Client:
    def __init__(self, command, cwd):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd)
        self.sequence = 0
        self.events = []

    def receive(self):
        length = 0
        while (line := self.process.stdout.readline().strip()):
            name, value = line.split(b":")
            if name == b"Content-Length":
                length = int(value)
        return json.loads(self.process.stdout.read(length)) if length else None

    def request(self, command, **arguments):
        """The response; events meanwhile are kept."""
        self.sequence += 1
        text = json.dumps({"seq": self.sequence, "type": "request", "command": command, "arguments": arguments}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        self.process.stdin.flush()
        while (m := self.receive()):
            if m["type"] == "response" and m["request_seq"] == self.sequence:
                return m
            self.events.append(m)
        return None

    def body(self, command, **arguments):
        r = self.request(command, **arguments)
        assert r and r["success"], (command, r)
        return r.get("body", {})

    def event(self, name):
        """The next event of this name."""
        while True:
            for i, m in enumerate(self.events):
                if m["event"] == name:
                    del self.events[: i + 1]
                    return m.get("body", {})
            m = self.receive()
            if m is None:
                return None
            self.events.append(m)

    def end(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()
        said = self.process.stderr.read().decode()
        self.process.stderr.close()
        return self.process.returncode, said
