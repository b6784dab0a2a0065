"""What can be asked over HTTP. The answers themselves are made elsewhere; here they meet names, limits and threads."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from labeltree.serving import explanations, predictions
from labeltree.serving.errors import Refusal
from labeltree.serving.lean_route import LeanRoute
from labeltree.serving.registry import ServedModel
from labeltree.serving.schemas import (
    ExplainAnswer,
    ExplainRequest,
    LabelsAnswer,
    LearnAnswer,
    LearnRequest,
    ModelAnswer,
    ModelsAnswer,
    PathAnswer,
    PredictAnswer,
    PredictRequest,
    ReloadAnswer,
    StatusAnswer,
    TreeAnswer,
    refusals,
)
from labeltree.serving.service import Service
from labeltree.serving.tree_view import TreeView

#: Workers have so much of the time limit to load a model that another one has.
RELOAD_SHARE = 0.8


async def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


async def _served(request: Request, name: str) -> ServedModel:
    model: ServedModel = request.app.state.service.registry[name]
    request.scope["exchange"].model = name
    return model


Running = Annotated[Service, Depends(_service)]
Served = Annotated[ServedModel, Depends(_served)]

Limit = Annotated[int, Query(ge=1, le=2**53, description="At most so many.")]
Offset = Annotated[int, Query(ge=0, le=2**53, description="How many to pass over.")]
TreeNumber = Annotated[int, Query(ge=0, le=2**31, description="Which tree, counted from 0.")]

_ALWAYS = refusals(401, 503, 504)
_READ = {**_ALWAYS, **refusals(404, 422)}
_WRITE = {**_READ, **refusals(403, 409)}
_BODY = refusals(400, 408, 413, 415)


async def _predict(scope: Scope, name: str, body: PredictRequest) -> Any:
    """The most probable labels of one or many texts or rows, best first."""
    service: Service = scope["app"].state.service
    served = service.registry[name]
    predictions.check(body, service.settings.limits)
    n_rows = predictions.n_rows(body)
    return await service.ask(scope["exchange"], served, n_rows, predictions.predict, body)


async def _explain(scope: Scope, name: str, body: ExplainRequest) -> Any:
    """Why a text or row has its probability for a label: the path through each tree, and what weighed most."""
    service: Service = scope["app"].state.service
    served = service.registry[name]
    explanations.check(body, service.settings.limits)
    return await service.ask(scope["exchange"], served, 1, explanations.explain, body)


async def _learn(scope: Scope, name: str, body: LearnRequest) -> Any:
    """Learn examples in their order. When this is answered they are learned and on disk, for good."""
    service: Service = scope["app"].state.service
    served = service.registry[name]
    limits = service.settings.limits
    limits.check_rows("examples", body.examples)
    limits.check_texts("examples", [example.text or "" for example in body.examples])
    n_examples = await service.learn(scope["exchange"], served, body.examples)
    return {
        "model": name,
        "version": f"examples-{n_examples}",
        "learned": len(body.examples),
        "n_examples": n_examples,
        "n_labels": served.model.n_labels_,
    }


#: What has a body; the question that is asked most comes first.
body_routes = [
    LeanRoute(
        "/v1/models/{name}/predict",
        _predict,
        PredictRequest,
        response_model=PredictAnswer,
        responses={**_READ, **_BODY},
        tags=["questions"],
        summary="Predict labels",
    ),
    LeanRoute(
        "/v1/models/{name}/explain",
        _explain,
        ExplainRequest,
        response_model=ExplainAnswer,
        responses={**_READ, **_BODY, **refusals(409)},
        tags=["questions"],
        summary="Explain a label",
    ),
    LeanRoute(
        "/v1/models/{name}/learn",
        _learn,
        LearnRequest,
        response_model=LearnAnswer,
        responses={**_WRITE, **_BODY},
        tags=["changes"],
        summary="Learn examples",
    ),
]

router = APIRouter()


@router.get(
    "/v1/models",
    response_model=ModelsAnswer,
    tags=["models"],
    summary="List the models",
    responses=_ALWAYS,
)
async def models(service: Running) -> Any:
    """All models that are served."""
    return {"models": [model.describe() for model in service.registry]}


@router.get(
    "/v1/models/{name}",
    response_model=ModelAnswer,
    tags=["models"],
    summary="Describe a model",
    responses=_READ,
)
async def describe(model: Served) -> Any:
    """What a model is, and which version of it is served."""
    return model.describe()


@router.get(
    "/v1/models/{name}/labels",
    response_model=LabelsAnswer,
    tags=["labels"],
    summary="Search labels",
    responses=_READ,
)
async def labels(
    request: Request,
    service: Running,
    model: Served,
    query: Annotated[
        str, Query(max_length=1000, description="A part of the name; case and accents do not count.")
    ] = "",
    limit: Limit = 20,
    offset: Offset = 0,
) -> Any:
    """Labels with a text in their name: those that begin with it first, then those that more examples had."""
    service.settings.limits.check_count("limit", limit)

    def search(model: ServedModel) -> dict[str, Any]:
        found, total = model.labels.find(query, limit, offset)
        return {"labels": found, "total": total}

    return await service.ask(request.scope["exchange"], model, 0, search)


@router.get(
    "/v1/models/{name}/tree",
    response_model=TreeAnswer,
    tags=["labels"],
    summary="Look at a node of a tree",
    responses=_READ,
)
async def tree(
    request: Request,
    service: Running,
    model: Served,
    node: Annotated[int, Query(ge=0, le=2**31, description="Which node; the root is 0.")] = 0,
    tree: TreeNumber = 0,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Any:
    """A node and its children, those with most examples first, with the most frequent labels below each."""
    service.settings.limits.check_count("limit", limit)

    def look(model: ServedModel) -> dict[str, Any]:
        return TreeView.of(model, tree).node(node, limit, offset)

    return await service.ask(request.scope["exchange"], model, 0, look)


@router.get(
    "/v1/models/{name}/tree/path",
    response_model=PathAnswer,
    tags=["labels"],
    summary="Find a label in a tree",
    responses=_READ,
)
async def path(
    request: Request,
    service: Running,
    model: Served,
    label: Annotated[str, Query(description="As it is written.", max_length=100_000)],
    tree: TreeNumber = 0,
) -> Any:
    """The nodes from the root to the leaf of a label."""

    def find(model: ServedModel) -> dict[str, Any]:
        known = model.labels.by_text(label)
        if known is None:
            raise Refusal(404, f"label: the model {model.name} has no such label", "no_such_label")
        return TreeView.of(model, tree).path(known)

    return await service.ask(request.scope["exchange"], model, 0, find)


@router.post(
    "/v1/models/{name}/reload",
    response_model=ReloadAnswer,
    tags=["changes"],
    summary="Load a model anew",
    responses={**_WRITE, 202: {"model": ReloadAnswer, "description": "Not all workers have it yet."}},
)
async def reload(service: Running, model: Served, response: Response) -> Any:
    """Load the version that is on disk now, in all worker processes; no request is dropped meanwhile."""
    loaded, complete = await service.reload(model.name, RELOAD_SHARE * service.settings.limits.seconds)
    response.status_code = 200 if complete else 202
    versions = service.board.versions(model.name)
    return {
        "model": model.name,
        "version": loaded.version,
        "complete": complete,
        "workers": [{"worker": i, "version": version} for i, version in enumerate(versions)],
    }


@router.get("/healthz", response_model=StatusAnswer, tags=["server"], summary="Is the process alive?")
async def healthz() -> Any:
    """For whoever would start it anew if it were not."""
    return {"status": "alive"}


@router.get(
    "/readyz",
    response_model=StatusAnswer,
    tags=["server"],
    summary="Can it answer?",
    responses=refusals(503),
)
async def readyz(service: Running) -> Any:
    """For whoever sends requests to several servers."""
    if not service.is_ready:
        raise Refusal(503, "the server is about to stop", "not_ready", {"Retry-After": "1"})
    return {"status": "ready"}


@router.get(
    "/metrics",
    tags=["server"],
    summary="Counters for Prometheus",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **_ALWAYS},
)
async def metrics(service: Running) -> Response:
    """What all worker processes have counted, in the text format of Prometheus."""
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4")
