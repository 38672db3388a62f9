"""Traces by OpenTelemetry, where the standard variables (`OTEL_…`) say where to send them.

They go through a provider of our own, which other libraries do not know: what these tell of their
work has paths, arguments and messages of errors in it. Nothing is imported while traces are off.
"""

# ruff: noqa: PLC0415  what is told to nobody is not imported

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from beliefledger.ledger import spans
from beliefledger.ledger.errors import CallerMistake
from beliefledger.settings import Tracing, tracing

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span

logger = logging.getLogger("beliefledger.server")
SERVICE = "beliefledger"
OPERATION = "gen_ai.operation.name"
_OURS = (spans.DECIDE, spans.PROJECT)


class Traces:
    """Tells the spans of this process to a provider; see `spans.Tracer`."""

    def __init__(self, provider: TracerProvider) -> None:
        self._tracer = provider.get_tracer(SERVICE)

    @contextmanager
    def span(self, name: str) -> Iterator[_Told]:
        facts = {} if name in _OURS else {OPERATION: name}
        with self._tracer.start_as_current_span(
            name, attributes=facts, record_exception=False, set_status_on_exception=False
        ) as span:
            told = _Told(span)
            try:
                yield told
            except BaseException as problem:  # told by its class, and raised on
                told.fail(type(problem).__name__)
                raise

    def request(self, name: str, traceparent: str, facts: spans.Facts) -> _Told:
        from opentelemetry import context, trace
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        callers = TraceContextTextMapPropagator().extract(
            {"traceparent": traceparent}, context.Context()
        )
        span = self._tracer.start_span(
            name, callers, kind=trace.SpanKind.SERVER, attributes=dict(facts)
        )
        # The task that works on the request ends with it, and its context too.
        context.attach(trace.set_span_in_context(span, callers))
        return _Told(span)


class _Told:
    """A span of the SDK, which is told no words."""

    def __init__(self, span: Span) -> None:
        self._span = span

    @property
    def traceparent(self) -> str:
        ids = self._span.get_span_context()
        return f"00-{ids.trace_id:032x}-{ids.span_id:016x}-{ids.trace_flags:02x}"

    def tell(self, facts: spans.Facts) -> None:
        self._span.set_attributes(dict(facts))

    def fail(self, error: str) -> None:
        from opentelemetry.trace import StatusCode

        self._span.set_attribute("error.type", error)
        self._span.set_status(StatusCode.ERROR)

    def end(self, error: str | None) -> None:
        if error is not None:
            self.fail(error)
        self._span.end()


@contextmanager
def traced() -> Iterator[None]:
    """Send spans while this is entered, if the environment says so; at the end, those that are
    left. Raises `CallerMistake` where it asks for what there is not."""
    wanted = tracing()
    if not wanted.on:
        yield
        return
    provider = _provider(wanted)
    spans.take(Traces(provider))
    try:
        yield
    finally:
        spans.take(None)
        provider.shutdown()


def _provider(wanted: Tracing) -> TracerProvider:
    if wanted.exporter != "otlp" or wanted.protocol != "http/protobuf":
        raise CallerMistake(
            "Traces go out as OTLP over HTTP: set OTEL_TRACES_EXPORTER to otlp or none, and"
            " OTEL_EXPORTER_OTLP_PROTOCOL, if at all, to http/protobuf."
        )
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError as missing:
        if not (missing.name or "").startswith("opentelemetry"):
            raise
        raise CallerMistake("Traces need an extra: pip install 'beliefledger[otel]'.") from None
    told: dict[str, Any] = {} if wanted.names_service else {"service.name": SERVICE}
    made = TracerProvider(resource=Resource.create(told))
    made.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return made
