"""A server that hosts control planes for tests, with the standard library alone.

The server ends with this process, however that ends: its standard input closes.
"""

import base64
import json
import os
import ssl
import subprocess
import tempfile
import urllib.request


class Error(Exception):
    """A command failed; reason is that of the API server, or Usage."""

    def __init__(self, response):
        super().__init__(response["error"])
        self.reason = response["reason"]


class Fairlead:
    """Use it in a with statement, or call stop."""

    def __init__(self):
        program = os.environ.get("FAIRLEAD_BINARY", "fairlead")
        self.process = subprocess.Popen(
            [program, "up", "--in-memory", "--listen=127.0.0.1:0", "--stdin"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.ready = self._response()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def _response(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"fairlead has ended with code {self.process.wait()}")
        response = json.loads(line)
        if "error" in response:
            raise Error(response)
        return response

    def command(self, line):
        """Runs a command, such as "fork one --from=base", and returns its response."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self._response()

    def stop(self):
        """Ends the server and all its control planes."""
        self.process.stdin.close()
        code = self.process.wait()
        self.process.stdout.close()
        return code


class Client:
    """Sends requests to the control plane of a kubeconfig, which is in JSON."""

    def __init__(self, kubeconfig):
        with open(kubeconfig) as file:
            config = json.load(file)
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self.server = cluster["server"]
        self.context = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        with tempfile.NamedTemporaryFile() as pair:  # ssl reads client certificates from files only
            pair.write(base64.b64decode(user["client-certificate-data"]))
            pair.write(base64.b64decode(user["client-key-data"]))
            pair.flush()
            self.context.load_cert_chain(pair.name)

    def request(self, method, path, body=None):
        """Returns the object of the response; a status of 400 or more is a urllib.error.HTTPError."""
        request = urllib.request.Request(
            self.server + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, context=self.context) as response:
            return json.load(response)

    def watch(self, path):
        """Yields the events of a watch."""
        with urllib.request.urlopen(self.server + path + "?watch=true", context=self.context) as response:
            for line in response:
                yield json.loads(line)
