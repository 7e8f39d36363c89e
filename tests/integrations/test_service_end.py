"""The service as a process: how it ends."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("uvicorn", reason="needs the extra 'serve'")
pytest.importorskip("starlette", reason="needs the extra 'serve'")

# A parser that never comes back, as in a kernel that cannot be interrupted.
SERVICE = """
import signal, socket, threading
from arborescence.integrations import service
from arborescence.treebank import Sentence

class Stuck:
    text = tagger = None
    warm = False

    def split(self, given):
        if given == [["stuck"]]:  # in the thread that answers
            self.stick()
        return map(Sentence.from_words, given)

    def parse(self, sentences, **_):
        if self.warm:
            self.stick()
        self.warm = True
        return sentences

    def stick(self):
        print("begun", flush=True)
        threading.Event().wait()

signal.signal(signal.SIGTERM, signal.default_int_handler)  # as the command line has it
listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
service.run({"stuck": Stuck()}, listening)
print("ended", flush=True)
"""


def ask(port, words):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    try:
        connection.request("POST", "/parse", json.dumps({"words": [words]}))
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


@pytest.mark.races
@pytest.mark.parametrize("words", [["a"], ["a"] * 900, ["stuck"]], ids=["short", "long", "loop"])
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM")
def test_it_ends_whatever_it_does(words):
    command = [sys.executable, "-c", SERVICE]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run,
        ThreadPoolExecutor(1) as pool,
    ):
        asked = pool.submit(ask, int(run.stdout.readline()), words)
        assert run.stdout.readline() == "begun\n"
        begun = time.monotonic()
        run.send_signal(signal.SIGTERM)
        if words == ["stuck"]:  # nobody can answer
            with pytest.raises(ConnectionError):
                asked.result()
            assert run.wait() == 1
        else:
            expected = {"status": "failure", "error": "the service ends: try again later"}
            assert asked.result() == (503, expected)
            assert run.wait() == 0
            assert "503 127.0.0.1 /parse: the service ends" in run.stderr.read()
        assert time.monotonic() - begun > 4.5
