"""The server as an ASGI application: all routes, and what every answer has in common."""

import contextlib
import time
from collections.abc import AsyncIterator, Collection
from pathlib import Path

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nmt import UserError
from nmt.results.explorer import page as explorer
from nmt.serving import deepl, files, hosts, libretranslate, openapi, own
from nmt.serving.errors import RefusedError
from nmt.serving.service import Service

PAGE = Path(__file__).parent / "page"
PAGE_FILES = {  # by path: file, type
    "/": (PAGE / "index.html", "text/html"),
    "/page.js": (PAGE / "page.js", "text/javascript"),
    "/drawing.js": (explorer.FOLDER / "drawing.js", "text/javascript"),
    "/style.css": (PAGE / "style.css", "text/css"),
    "/texts.json": (PAGE / "texts.json", "application/json"),
}
# The page loads nothing of others, and runs no script that is not its own.
PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
CORS_HEADERS = [  # so that a page of another server may ask this one
    (b"access-control-allow-origin", b"*"),
    (b"access-control-allow-methods", b"GET, POST, OPTIONS"),
    (b"access-control-allow-headers", b"Authorization, Content-Type"),
    (b"access-control-max-age", b"86400"),
]


class CommonAnswers:
    """Adds the CORS headers to every answer, refuses other hosts, answers OPTIONS, and counts.

    Args:
      app: the application within.
      service: its Service.
      routes: whose paths the figures are by; others would be as many as clients invent.
      host_names: see `application`.
    """

    def __init__(
        self,
        app: ASGIApp,
        service: Service,
        routes: list[Route],
        host_names: Collection[str] | None,
    ):
        self.app, self._metrics, self.routes = app, service.metrics, routes
        self._host_names = host_names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status = time.monotonic(), 500

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *CORS_HEADERS]
            await send(message)

        if refusal := self._refusal(scope):
            await refusal(scope, receive, send_with_headers)
            return
        if scope["method"] == "OPTIONS":
            await Response(status_code=204)(scope, receive, send_with_headers)
            return
        try:
            await self.app(scope, receive, send_with_headers)
        finally:
            route = self._path(scope)
            self._metrics.requests.labels(route, status).inc()
            self._metrics.seconds.labels(route).observe(time.monotonic() - start)

    def _refusal(self, scope: Scope) -> Response | None:
        """Returns the answer to a request that is for another host; else None."""
        host = Headers(scope=scope).get("host", "")
        if self._host_names is None or hosts.is_allowed(host, self._host_names):
            return None
        message = f"{host[:100]} is not a name of this server; start it with --allow-host NAME"
        return JSONResponse({"error": message}, 403)

    def _path(self, scope: Scope) -> str:
        """Returns the path of the route that a request matches; "other" if none does."""
        for route in self.routes:
            match, _ = route.matches(scope)
            if match is not Match.NONE:
                return route.path
        return "other"


def refuse(request: Request, status: int, message: str, headers: dict | None = None) -> Response:
    """Returns the answer to a request that failed, in the form that its API has."""
    name = "message" if request.url.path.startswith("/v2/") else "error"
    return JSONResponse({name: message}, status, headers)


async def on_refused(request: Request, error: RefusedError) -> Response:
    headers = {"Retry-After": str(error.retry_after)} if error.retry_after else None
    return refuse(request, error.status, error.message, headers)


async def on_user_error(request: Request, error: UserError) -> Response:
    return refuse(request, 400, str(error))


async def on_http_error(request: Request, error: HTTPException) -> Response:
    messages = {404: "there is no such path; see /docs", 405: "not by this method; see /docs"}
    return refuse(request, error.status_code, messages.get(error.status_code, error.detail))


async def on_failure(request: Request, error: Exception) -> Response:
    return refuse(request, 500, "the server failed; its log says why")


def page_routes() -> list[Route]:
    """Returns the routes of the page, whose files are read once."""

    def route(path: str, file: Path, media_type: str) -> Route:
        content = file.read_bytes()

        async def answer(request: Request) -> Response:
            return Response(content, media_type=media_type, headers=PAGE_HEADERS)

        return Route(path, answer, methods=["GET"])

    return [route(path, file, media_type) for path, (file, media_type) in PAGE_FILES.items()]


def application(service: Service, host_names: Collection[str] | None = None) -> ASGIApp:
    """Returns the application of a Service.

    Args:
      service: the Service.
      host_names: by which requests may call the server, besides localhost; None for any name.
    """

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with service.running():
            yield

    routes = [
        *libretranslate.ROUTES,
        *deepl.ROUTES,
        *files.ROUTES,
        *own.ROUTES,
        *openapi.ROUTES,
        *page_routes(),
    ]
    handlers = {
        RefusedError: on_refused,
        UserError: on_user_error,
        HTTPException: on_http_error,
        Exception: on_failure,
    }
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    app.router.redirect_slashes = False  # a redirection would name whatever Host the client sent
    app.state.service = service
    return CommonAnswers(app, service, routes, host_names)
