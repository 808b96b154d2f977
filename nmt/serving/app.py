"""The server as an ASGI application: all routes, and what every answer has in common."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Collection, Mapping
from pathlib import Path
from typing import Any

import h11
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nmt import UserError
from nmt.results.explorer import page_files as explorer_files
from nmt.serving import access_log, hosts, openapi
from nmt.serving.errors import RefusedError
from nmt.serving.limits import Reservation
from nmt.serving.prometheus_metrics import OTHER
from nmt.serving.service import Service

PAGE = Path(__file__).parent / "page"
PAGE_FILES = {  # by path: file, type
    "/": (PAGE / "index.html", "text/html"),
    "/page.js": (PAGE / "page.js", "text/javascript"),
    "/drawing.js": (explorer_files.FOLDER / "drawing.js", "text/javascript"),
    "/style.css": (PAGE / "style.css", "text/css"),
    "/texts.json": (PAGE / "texts.json", "application/json"),
}
# Of every answer, unless it has its own. No page loads or runs anything of others.
SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
PRIVATE_PATHS = ("/explorer/", "/runs", "/metrics", "/reload")  # for no page of another origin
PREFLIGHT_SECONDS = 86_400  # for which a browser remembers what it may send


class CommonAnswers:
    """What all requests have in common, whatever they ask for.

    Refuses other hosts, lets the pages of some origins read answers, adds security headers and the
    request's id, counts and logs, releases what a request has reserved, and answers 503 when the
    time of a server that ends is up.
    """

    def __init__(
        self,
        app: ASGIApp,
        service: Service,
        routes: list[Route],
        host_names: Collection[str] | None,
        origins: Collection[str],
    ):
        self.app, self.service, self.routes = app, service, routes
        self._host_names, self._origins = host_names, origins
        self._shared_app = app
        if origins:
            self._shared_app = CORSMiddleware(
                app,
                allow_origins=origins,
                allow_methods=["GET", "POST"],
                allow_headers=["Authorization", "Content-Type", access_log.HEADER],
                expose_headers=[access_log.HEADER],
                max_age=PREFLIGHT_SECONDS,
            )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope = hosts.origin_form(scope)
        start, status = time.monotonic(), 0
        access = scope["access"] = access_log.new_access(scope["method"], Headers(scope=scope))

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                headers[access_log.HEADER] = access.request
            await send(message)

        body = scope["reservation"] = Reservation(self.service.bodies)
        request_task = asyncio.current_task()
        assert request_task is not None  # uvicorn runs a task per request
        self.service.requests.add(request_task)
        try:
            await self._app_of(scope)(scope, receive, send_with_headers)
        except h11.LocalProtocolError:  # uvicorn itself has refused the body, and closed
            await asyncio.sleep(0)  # until it knows that it has
        except asyncio.CancelledError:
            if not self.service.is_over or status:  # nothing can follow the beginning of an answer
                raise
            request_task.uncancel()
            error = RefusedError(503, "the server ends; try again later", retry_after=5)
            refusal = await on_refused(Request(scope), error)
            await refusal(scope, receive, send_with_headers)
        finally:
            self.service.requests.discard(request_task)
            body.release()
            access.route, access.status = self._path(scope), status or 500
            seconds = time.monotonic() - start
            self.service.metrics.count(access.route, access.status, seconds)
            access.log(seconds)

    def _app_of(self, scope: Scope) -> ASGIApp:
        """Returns what answers a request: a refusal, or the application."""
        headers = Headers(scope=scope)
        request, host = Request(scope), headers.get("host", "")
        if "content-length" in headers and "transfer-encoding" in headers:
            message = "Content-Length and Transfer-Encoding contradict each other; send one of them"
            return refuse(request, 400, message, {"Connection": "close"})
        if self._host_names is not None and not hosts.is_allowed(host, self._host_names):
            message = f"{host[:100]} is not a name of this server; start it with --allow-host NAME"
            return refuse(request, 403, message)
        if scope["path"] == "/suggest" and not self._may_store(headers):
            return refuse(request, 403, "pages of other origins may not suggest translations")
        return self.app if scope["path"].startswith(PRIVATE_PATHS) else self._shared_app

    def _may_store(self, headers: Headers) -> bool:
        """Returns whether a request comes from no page, from the server's own or an allowed one.

        A browser lets any page post a form: without that, any could change what a run learns.
        """
        origin = headers.get("origin", "")
        is_own = origin.partition("://")[2] == headers.get("host")
        return not origin or is_own or origin in self._origins or "*" in self._origins

    def _path(self, scope: Scope) -> str:
        """Returns the path of a request's route; "other" for those that clients invent."""
        for route in self.routes:
            match, _ = route.matches(scope)
            if match is not Match.NONE:
                return route.path
        return OTHER


def refuse(
    request: Request, status: int, message: str, headers: Mapping[str, str] | None = None
) -> Response:
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
    message = messages.get(error.status_code, error.detail)
    return refuse(request, error.status_code, message, error.headers)  # Allow, with 405


async def on_failure(request: Request, error: Exception) -> Response:
    return refuse(request, 500, "the server failed; its log says why")


def page_routes() -> list[Route]:
    """Returns the routes of the page, whose files are read once: a Response answers any request."""
    return [
        Route(path, Response(file.read_bytes(), media_type=media_type), methods=["GET"])
        for path, (file, media_type) in PAGE_FILES.items()
    ]


def application(
    service: Service, host_names: Collection[str] | None = None, origins: Collection[str] = ()
) -> ASGIApp:
    """Returns the application of a Service.

    Requests call it by localhost or one of `host_names`, None for any name. Pages of `origins`
    ("https://mt.org"; "*" for any) may read its answers, other than those of PRIVATE_PATHS.
    """

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with service.running():
            yield

    routes = [
        *(operation.route for operation in openapi.OPERATIONS),
        *openapi.ROUTES,
        *page_routes(),
    ]
    handlers: dict[Any, Any] = {
        RefusedError: on_refused,
        UserError: on_user_error,
        HTTPException: on_http_error,
        Exception: on_failure,
    }
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    app.router.redirect_slashes = False  # a redirection would name whatever Host the client sent
    app.state.service = service
    return CommonAnswers(app, service, routes, host_names, origins)
