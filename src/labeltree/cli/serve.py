"""`labeltree serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

LIMITS_PANEL = "Limits"
ACCESS_PANEL = "Who may ask"
MODELS_PANEL = "New versions, and learning"


def serve(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]DIR…",
            help="Directories of models. A name is by default that of the directory, without '.labeltree'.",
            show_default=False,
        ),
    ],
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; 0.0.0.0 is everywhere.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="0 for any that is free.")] = 8000,
    workers: Annotated[
        int,
        typer.Option(min=1, max=256, metavar="N", help="Processes that answer; they share mapped models."),
    ] = 1,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Tokens, one per line, of which requests that change something need one. The variable "
            "LABELTREE_TOKENS may have some, too.",
            show_default=False,
            rich_help_panel=ACCESS_PANEL,
        ),
    ] = None,
    token_for_all: Annotated[
        bool,
        typer.Option("--token-for-all", help="Questions need a token, too.", rich_help_panel=ACCESS_PANEL),
    ] = False,
    cors_origin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ORIGIN",
            help="Let the pages of this origin, as https://example.org, ask from browsers. May be given several times.",
            show_default=False,
            rich_help_panel=ACCESS_PANEL,
        ),
    ] = None,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch", help="Load a model anew when its directory changes.", rich_help_panel=MODELS_PANEL
        ),
    ] = False,
    learn: Annotated[
        bool,
        typer.Option("--learn", help="Let online models learn from requests.", rich_help_panel=MODELS_PANEL),
    ] = False,
    snapshot_every: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="Save a model after every N examples that it has learned; until then they are in its journal.",
            rich_help_panel=MODELS_PANEL,
        ),
    ] = 10_000,
    max_body_mb: Annotated[
        float,
        typer.Option(min=0.001, metavar="MB", help="The size of a request.", rich_help_panel=LIMITS_PANEL),
    ] = 8.0,
    max_rows: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="Texts or rows in a request.", rich_help_panel=LIMITS_PANEL),
    ] = 1000,
    max_k: Annotated[
        int, typer.Option(min=1, metavar="N", help="Labels for each.", rich_help_panel=LIMITS_PANEL)
    ] = 1000,
    max_text: Annotated[
        int, typer.Option(min=1, metavar="N", help="Characters in a text.", rich_help_panel=LIMITS_PANEL)
    ] = 1_000_000,
    max_seconds: Annotated[
        float, typer.Option(min=0.001, metavar="S", help="For a request.", rich_help_panel=LIMITS_PANEL)
    ] = 30.0,
    max_in_flight: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="Requests at work in a process; others are told to come again.",
            rich_help_panel=LIMITS_PANEL,
        ),
    ] = 64,
    grace: Annotated[
        float,
        typer.Option(min=1, metavar="S", help="For requests at work when the server is told to stop."),
    ] = 10.0,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Log warnings and errors only, not every request.")
    ] = False,
) -> None:
    """Answer questions over HTTP, and show a page to try models.

    Logs are JSON lines on standard error. SIGTERM and Ctrl-C stop it, when what is at work is done. Needs the extra
    'serve': pip install 'labeltree\\[serve]'.

    [bold]Examples[/bold]

        labeltree serve tags.labeltree
        labeltree serve paintings=tate.labeltree laws=eurlex --workers 2
        labeltree serve tags --learn --token-file tokens.txt
    """
    from importlib.util import find_spec

    from labeltree.cli.console import standard_output, titled

    if not all(map(find_spec, ("fastapi", "uvicorn"))):
        raise ImportError("'labeltree serve' needs FastAPI and uvicorn: pip install 'labeltree[serve]'")
    from labeltree.model_file import read_info
    from labeltree.serving.limits import Limits
    from labeltree.serving.running import listen, run
    from labeltree.serving.settings import Settings, named_models
    from labeltree.serving.tokens import Tokens

    settings = Settings(
        models=named_models(models),
        limits=Limits(
            body_bytes=int(max_body_mb * 2**20),
            rows=max_rows,
            k=max_k,
            text_chars=max_text,
            seconds=max_seconds,
            in_flight=max_in_flight,
        ),
        tokens=Tokens.read(token_file, for_all=token_for_all),
        cors_origins=tuple(cors_origin or ()),
        learn=learn,
        snapshot_every=snapshot_every,
        watch_seconds=1.0 if watch else None,
        workers=workers,
        grace_seconds=grace,
        log_requests=not quiet,
    )
    # What is wrong with a model is said here, rather than by every worker.
    described = {name: read_info(path) for name, path in settings.models.items()}
    with listen(host, port) as listener:
        address = listener.getsockname()
        place = f"[{address[0]}]" if ":" in address[0] else address[0]
        console = standard_output()
        console.print(f"http://{place}:{address[1]}")
        for name, info in described.items():
            console.print(titled(name, f": {info.estimator}, {info.n_labels:,} labels"), soft_wrap=True)
        run(settings, listener)
