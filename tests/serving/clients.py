"""Servers without a network, and clients of them in the same process."""

from types import SimpleNamespace

from starlette.testclient import TestClient

from nmt.options import Options
from nmt.serving.app import application
from nmt.serving.limits import Limits
from nmt.serving.models import Direction, Models, Result
from nmt.serving.service import Service
from nmt.text.differences import difference
from nmt.text.protected import DEFAULT

ASKED = {"q": "um", "source": "pt", "target": "en"}


class Capitals:
    """A run that translates to capital letters.

    Args:
      source, target: codes of its languages.
    """

    def __init__(self, source="pt", target="en"):
        self.name, self.directions = f"{source}-{target}", [Direction(source, target)]
        self.parameters = 10**9  # no explorer
        self.model = SimpleNamespace(
            options=Options(), members=1, searches_by_tensorflow=False, weights="final"
        )
        self.beam, self.examples, self.stays_without_tensorflow = 1, [], False
        self.protector, self.batches = DEFAULT, []

    def translation(self, text):
        return text.upper()

    def translate(self, query, items):
        self.batches.append(len(items))
        results = []
        for item in items:
            text = self.translation(item.text)
            missing, added = difference(item.text.upper(), text)
            links = [(number, number) for number in range(len(text.split()))]
            results.append([Result(text, -1.0, links=links, missing=missing, added=added)])
        return results


class WithoutDigits(Capitals):
    """A run that writes 1 for each digit, and nothing for "nada"."""

    def translation(self, text):
        if text == "nada":
            return ""
        return "".join("1" if character.isdigit() else character.upper() for character in text)


def client_of(*runs, limits=None, host_names=None, origins=(), headers=None, **options):
    """Returns a client of a server of runs, whose Service is `client.app.service`.

    Args:
      runs: none if the server loads them.
      limits: the Limits.
      host_names, origins: of `application`.
      headers: of each request.
      options: of Service.
    """
    service = Service(Models(runs) if runs else None, limits or Limits(), **options)
    app = application(service, host_names, origins)
    return TestClient(app, "http://localhost", raise_server_exceptions=False, headers=headers)
