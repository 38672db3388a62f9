"""The application: the doors behind the gatekeeper, and how the server is."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from beliefledger.access.principal import Principal
from beliefledger.awaitable.calls import Calls
from beliefledger.ledger.errors import LedgerError
from beliefledger.memory import MemoryLedger
from beliefledger.tools.server.a2a.http import A2AOverHTTP
from beliefledger.tools.server.api import document
from beliefledger.tools.server.api.health import Health
from beliefledger.tools.server.api.http import APIOverHTTP, StraightToAPI
from beliefledger.tools.server.api.metrics import MEDIA, Metrics
from beliefledger.tools.server.background import Background
from beliefledger.tools.server.configuration import Configuration
from beliefledger.tools.server.gatekeeper import (
    NO_ANSWER,
    PRINCIPAL,
    Gatekeeper,
    Rates,
    nowhere,
    problem,
)
from beliefledger.tools.server.issuer import Issuer
from beliefledger.tools.server.mcp.door import Door
from beliefledger.tools.server.mcp.http import MCPOverHTTP, whose
from beliefledger.tools.server.mcp.metadata import metadata_routes, metadata_url
from beliefledger.tools.server.refusals import Refusals

logger = logging.getLogger("beliefledger.server")
FLUSH_SECONDS = 5
BESIDE_THREADS = 2
"""Threads for tokens and records: slow tools keep nobody from being let in, refused or recorded."""


def application(memory: MemoryLedger, settings: Configuration) -> Starlette:
    """The ASGI application over an open ledger. Raises `PoisonedTool`."""
    calls, beside = Calls(settings.threads), Calls(BESIDE_THREADS)
    refusals = Refusals(memory.tokens.record_refusals)
    background = Background(
        memory,
        worker=settings.worker,
        schedule=settings.schedule,
        lease_seconds=settings.lease_seconds,
    )
    mcp = MCPOverHTTP(
        Door(memory, calls, beside, whose, seconds=settings.call_seconds, exports=settings.exports),
        settings,
    )

    known, metadata = memory.tokens.principal, None
    if settings.oauth is not None:
        if settings.oauth.consent is not None:
            memory.policy.current.check_basis(settings.oauth.consent)
        known = Issuer(settings.oauth, memory.tokens).principal
        metadata = metadata_url(settings.oauth)

    a2a = A2AOverHTTP(memory, calls, beside, settings)
    api = APIOverHTTP(memory, calls, beside, settings)
    document.complete(api.app)

    async def healthz(_request: Request) -> JSONResponse:
        return JSONResponse({"status": "ok"})

    health, metrics = Health(memory, background, beside), Metrics(memory)

    async def readyz(_request: Request) -> JSONResponse:
        said = await health.ready()
        return JSONResponse(said, status_code=503 if said["stopped"] else 200)

    async def measured(request: Request) -> Response:
        principal: Principal = request.scope[PRINCIPAL]
        if not principal.may("status") or principal.subjects is not None:
            return problem(403, "This tells of everybody: it takes a token for that, for `status`.")
        try:
            return Response(await calls.run(metrics.text), media_type=MEDIA)
        except LedgerError:
            return problem(503, NO_ANSWER, {"Retry-After": "1"})

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        flushing = asyncio.ensure_future(_flush(refusals, beside))
        with background:
            async with mcp.running(), a2a.running(), api.running():
                yield
            flushing.cancel()
            with suppress(asyncio.CancelledError):
                await flushing
            await calls.close(None)
            await beside.close(None)
        try:
            refusals.flush(all_of_them=True)
        except LedgerError as problem:
            logger.error("refused access is not on record: %s", problem)  # noqa: TRY400

    app = Starlette(
        routes=[  # looked through in this order for each call
            Route("/mcp", endpoint=mcp, methods=["GET", "POST", "DELETE"]),
            *a2a.routes(),
            Route("/healthz", healthz),
            Route("/readyz", readyz),
            Route("/metrics", measured),
            *metadata_routes(settings.oauth),
        ],
        middleware=[
            Middleware(
                Gatekeeper,
                principal=known,
                at_hand=memory.tokens.at_hand,
                calls=beside,
                refusals=refusals,
                rates=Rates(settings.calls_per_minute),
                max_body_bytes=settings.max_body_bytes,
                metadata=metadata,
            ),
            Middleware(StraightToAPI, api=api),
        ],
        exception_handlers={HTTPException: nowhere},
        lifespan=lifespan,
    )

    async def say_goodbye() -> None:
        a2a.say_goodbye()
        api.say_goodbye()
        await mcp.say_goodbye()

    app.state.say_goodbye = say_goodbye
    return app


async def _flush(refusals: Refusals, calls: Calls) -> None:
    while True:
        await asyncio.sleep(FLUSH_SECONDS)
        try:
            await calls.run(refusals.flush)
        except LedgerError as problem:  # it waits, and is tried again
            logger.warning("refused access is not on record yet: %s", problem)
