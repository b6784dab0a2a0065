"""The routes of the API. An endpoint checks limits and hands the work to a model; other files make the answers."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Query, Security
from fastapi.security import HTTPBearer
from starlette.requests import Request
from starlette.responses import Response

from labeltree.serving import explanations, predictions, schemas, suggestions
from labeltree.serving.errors import Refusal, damaged
from labeltree.serving.exchange import Exchange
from labeltree.serving.lean_route import LeanRoute
from labeltree.serving.registry import ServedModel
from labeltree.serving.schemas import error_answers
from labeltree.serving.service import Service
from labeltree.serving.suggestions import FormRoute
from labeltree.serving.tree_view import TreeView

#: The share of the time limit in which all workers should reload a model.
RELOAD_SHARE = 0.8


async def _service(request: Request) -> Any:
    return request.app.state.service


async def _exchange(request: Request) -> Any:
    return request.scope["exchange"]


async def _served(request: Request, name: str) -> Any:
    served = request.app.state.service.registry[name]
    request.scope["exchange"].model = name
    return served


Running = Annotated[Service, Depends(_service)]
Current = Annotated[Exchange, Depends(_exchange)]
Served = Annotated[ServedModel, Depends(_served)]
#: A body for FastAPI's description: its own forms need another package.
Form = Annotated[schemas.SuggestRequest, Body(media_type=suggestions.FORM)]

NamePart = Annotated[
    str, Query(max_length=1000, description="Part of the label or of its name; ignores case and accents.")
]
Limit = Annotated[int, Query(ge=1, le=2**53, description="Maximum number of items.")]
Offset = Annotated[int, Query(ge=0, le=2**53, description="Number of items to skip.")]
NodeNumber = Annotated[int, Query(ge=0, le=2**31, description="Number of the node; the root is 0.")]
TreeNumber = Annotated[int, Query(ge=0, le=2**31, description="Number of the tree, from 0.")]

_ALWAYS = error_answers(400, 401, 421, 431, 503, 504)
_MODEL = {**_ALWAYS, **error_answers(404, 422)}
_BODY = {**_MODEL, **error_answers(408, 413, 415)}
_CHANGE = error_answers(403, 409)

#: Describes that a route needs a token. The gate checks it, before the body is read.
_TOKEN = [Security(HTTPBearer(scheme_name="token", auto_error=False))]


def _name_of(route: Any) -> str:
    """Return the name of an operation, as generated clients call it."""
    return str(route.name)


_router = partial(APIRouter, generate_unique_id_function=_name_of)
body_router = _router(prefix="/v1/models/{name}", responses=_BODY, route_class=LeanRoute)
form_router = _router(prefix="/v1/models/{name}", responses=_BODY, route_class=FormRoute)
model_router = _router(prefix="/v1/models/{name}", responses=_MODEL)
server_router = _router()


@body_router.post(
    "/predict", response_model=schemas.PredictAnswer, tags=["questions"], summary="Predict labels"
)
async def predict(service: Running, exchange: Current, served: Served, body: schemas.PredictRequest) -> Any:
    """Return the most probable labels of one or many texts or rows, best first."""
    n_rows = predictions.n_rows(body)
    predictions.check(served, body, n_rows, service.settings.limits)
    texts = predictions.texts_to_join(served, body, n_rows)
    n_labels = n_rows * body.k
    return await service.ask(
        exchange, served, n_rows, predictions.predict, body, n_labels=n_labels, texts=texts
    )


@body_router.post(
    "/explain",
    response_model=schemas.ExplainAnswer,
    responses=error_answers(409),
    tags=["questions"],
    summary="Explain a label",
)
async def explain(service: Running, exchange: Current, served: Served, body: schemas.ExplainRequest) -> Any:
    """Explain the probability of a label: the path through each tree, and the features that contributed most."""
    explanations.check(body, service.settings.limits)
    return await service.ask(exchange, served, 1, explanations.explain, body)


@form_router.post(
    "/suggest",
    response_model=schemas.SuggestAnswer,
    tags=["questions"],
    summary="Suggest labels to Annif",
)
async def suggest(service: Running, exchange: Current, served: Served, body: Form) -> Any:
    """Return the most probable labels of a text to the backend `http` of Annif.

    Its `endpoint` is the address of this operation. The address without `/suggest` describes the project.
    """
    suggestions.check(served, body, service.settings.limits)
    return await service.ask(exchange, served, 1, suggestions.suggest, body)


@body_router.post(
    "/learn",
    response_model=schemas.LearnAnswer,
    responses={
        **_CHANGE,
        **error_answers(507),
        202: {
            "model": schemas.AcceptedAnswer,
            "description": "The examples are on disk, and not learned yet.",
        },
    },
    openapi_extra={"parameters": [schemas.IDEMPOTENCY_KEY]},
    tags=["changes"],
    summary="Learn examples",
    dependencies=_TOKEN,
)
async def learn(service: Running, exchange: Current, served: Served, body: schemas.LearnRequest) -> Any:
    """Learn examples in their order. When the answer 200 comes, they are learned and on disk.

    An answer 202 means that they are on disk and will be learned. After any other answer nothing is learned, except
    that an answer 409 tells how many examples are learned before the one that cannot be.
    """
    limits = service.settings.limits
    limits.check_rows("examples", len(body.examples))
    limits.check_texts("examples", [example.text or "" for example in body.examples])
    receipt = await service.learn(exchange, served, body.examples)
    return {
        "model": served.name,
        "version": f"examples-{receipt.n_examples}",
        "learned": receipt.learned,
        "n_examples": receipt.n_examples,
        "n_labels": served.model.n_labels_,
    }


@server_router.get("/v1/models", responses=_ALWAYS, tags=["models"], summary="List models")
async def models(service: Running) -> schemas.ModelsAnswer:
    """Describe all models that are served."""
    return schemas.ModelsAnswer(models=[served.describe() for served in service.registry])


@model_router.get("", tags=["models"], summary="Describe a model")
async def describe(served: Served) -> schemas.ModelAnswer:
    """Describe a model and the version that is served."""
    return served.describe()


@model_router.get(
    "/labels",
    response_model=schemas.LabelsAnswer,
    response_model_exclude_unset=True,
    tags=["labels"],
    summary="Search labels",
)
async def labels(
    service: Running,
    exchange: Current,
    served: Served,
    query: NamePart = "",
    limit: Limit = 20,
    offset: Offset = 0,
) -> Any:
    """Find labels by a part of their text or name: first those that begin with it, then the most frequent."""
    service.settings.limits.check_count("limit", limit)
    return await service.ask(exchange, served, 0, lambda model: model.labels.find(query, limit, offset))


@model_router.get(
    "/tree",
    response_model=schemas.TreeAnswer,
    response_model_exclude_unset=True,
    tags=["labels"],
    summary="Show a node of a tree",
)
async def tree(
    service: Running,
    exchange: Current,
    served: Served,
    node: NodeNumber = 0,
    tree: TreeNumber = 0,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Any:
    """Return a node and its children, the most frequent first, with the most frequent labels below each."""
    service.settings.limits.check_count("limit", limit)

    def show(model: ServedModel) -> Any:
        return TreeView.of(model, tree).node(node, limit, offset)

    return await service.ask(exchange, served, 0, show)


@model_router.get(
    "/tree/path",
    response_model=schemas.PathAnswer,
    response_model_exclude_unset=True,
    tags=["labels"],
    summary="Find a label in a tree",
)
async def path(
    service: Running,
    exchange: Current,
    served: Served,
    label: Annotated[str, Query(max_length=100_000, description="The label as a text.")],
    tree: TreeNumber = 0,
) -> Any:
    """Return the nodes from the root to the leaf of a label."""

    def find(model: ServedModel) -> Any:
        known = model.labels.by_text(label)
        if known is None:
            raise Refusal(404, f"label: the model {model.name} has no such label", "no_such_label")
        return TreeView.of(model, tree).path(known)

    return await service.ask(exchange, served, 0, find)


@model_router.post(
    "/reload",
    tags=["changes"],
    summary="Reload a model",
    responses={
        **_CHANGE,
        202: {"model": schemas.ReloadAnswer, "description": "Some workers do not serve it yet."},
    },
    dependencies=_TOKEN,
)
async def reload(service: Running, served: Served, response: Response) -> schemas.ReloadAnswer:
    """Load the current version on disk in all worker processes, without dropping a request."""
    seconds = RELOAD_SHARE * service.settings.limits.seconds
    loaded, complete = await service.reloader.reload(served.name, seconds)
    response.status_code = 200 if complete else 202
    versions = enumerate(service.shared.versions(served.name))
    workers = [schemas.WorkerVersion(worker=worker, version=version) for worker, version in versions]
    return schemas.ReloadAnswer(model=served.name, version=loaded.version, complete=complete, workers=workers)


@server_router.get("/healthz", tags=["server"], summary="Check liveness")
async def healthz() -> schemas.StatusAnswer:
    """Answer as long as the process is alive. A process that does not answer should be restarted."""
    return schemas.StatusAnswer(status="alive")


@server_router.get("/readyz", tags=["server"], summary="Check readiness", responses=error_answers(503))
async def readyz(service: Running, exchange: Current) -> schemas.ReadyAnswer:
    """Answer 503 when the server is about to stop, or a model is damaged. A load balancer then sends no requests.

    The answer tells of each model whether it learns, and if not, why; with `--token-for-all` only if the request has a
    token.
    """
    if not service.is_ready:
        raise Refusal(503, "the server is about to stop", "not_ready", {"Retry-After": "1"})
    if broken := [served.name for served in service.registry if served.is_damaged]:
        raise damaged(", ".join(broken))
    tokens = service.settings.tokens
    learning = {}
    if not tokens.for_all or tokens.accepts(exchange.headers.get(b"authorization", b"")):
        learning = {
            name: schemas.Learning(learns=why_not is None, reason=why_not)
            for name, why_not in service.learning().items()
        }
    return schemas.ReadyAnswer(status="ready", models=learning)


@server_router.get(
    "/metrics",
    tags=["server"],
    summary="Metrics for Prometheus",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **_ALWAYS},
)
async def metrics(service: Running) -> Response:
    """Return the metrics of all worker processes, in the text format of Prometheus."""
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4")
