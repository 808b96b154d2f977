"""What must hold of the lines that a server says as it starts."""

import os
import socket

import pytest
from clients import Capitals, client_of

from nmt.cli import serve
from nmt.cli.main import parse_command_line
from nmt.serving import process
from nmt.serving.keys import Keys
from nmt.serving.limits import Limits


class UnstartedServer:
    """A Server that ends as soon as it has been started."""

    signal_number = None

    def __init__(self, config, service):
        self.service = service

    def run(self, sockets):
        self.service.announce(self.service.models)
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("host", "api_key", "warns"),
    [("127.0.0.1", None, False), ("0.0.0.0", None, True), ("0.0.0.0", "k", False)],
)
def test_other_machines_without_a_key_and_an_ensemble_are_named(
    monkeypatch, capsys, host, api_key, warns
):
    monkeypatch.setattr(process, "Server", UnstartedServer)
    monkeypatch.setattr(os, "_exit", lambda code: None)
    ensemble = Capitals()
    ensemble.model.members = 2
    client = client_of(ensemble, Capitals("en", "pt"), limits=Limits(Keys(api_key)))
    with socket.create_server((host, 0)) as listener:
        serve.serve(client.app.service, listener, parse_command_line(["serve"]))
    said = capsys.readouterr().err
    assert "Serving pt-en (an ensemble of 2 runs), en-pt at http://" in said
    assert ("no key is set; see NMT_API_KEY, --api-keys" in said) == warns
