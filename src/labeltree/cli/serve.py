"""`labeltree serve`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from labeltree.cli.options import argument, count, option
from labeltree.wording import count_text

_access = partial(option, rich_help_panel="Access")
_models = partial(option, rich_help_panel="New versions, and learning")
_limit = partial(option, rich_help_panel="Limits")
_limit_count = partial(count, rich_help_panel="Limits")


def serve(
    models: Annotated[
        list[str],
        argument(
            "[NAME=]DIR",
            "Directories of models. The default name is that of the directory, without '.labeltree'.",
        ),
    ],
    host: Annotated[
        str, option("The address to listen on; 0.0.0.0 for all.", metavar="ADDRESS")
    ] = "127.0.0.1",
    port: Annotated[int, option("The port; 0 for any free one.", min=0, max=65535, metavar="N")] = 8000,
    workers: Annotated[int, count("The number of processes; they share the mapped models.", max=256)] = 1,
    token_file: Annotated[
        Path | None,
        _access(
            "A file with tokens, one per line. Requests that change something need one of them. The environment "
            "variable LABELTREE_TOKENS may have more.",
            metavar="FILE",
        ),
    ] = None,
    token_for_all: Annotated[bool, _access("Require a token for every request.", "--token-for-all")] = False,
    cors_origin: Annotated[
        list[str] | None,
        _access(
            "Allow requests from web pages of this origin, such as https://example.org. May be repeated.",
            metavar="ORIGIN",
        ),
    ] = None,
    allowed_host: Annotated[
        list[str] | None,
        _access(
            "Answer requests for this host name. Localhost, IP addresses and the name in --host are always allowed. "
            "'*' allows every name. May be repeated.",
            metavar="NAME",
        ),
    ] = None,
    watch: Annotated[bool, _models("Reload a model when its directory changes.", "--watch")] = False,
    verify: Annotated[
        bool,
        _models(
            "Verify the checksums of all files before a version is served. By default they are verified in the "
            "background.",
            "--verify",
        ),
    ] = False,
    learn: Annotated[bool, _models("Let online models learn from requests.", "--learn")] = False,
    snapshot_every: Annotated[
        int,
        _models(
            "Save a model after every N examples that it learns; until then they are in its journal.",
            min=1,
            metavar="N",
        ),
    ] = 10_000,
    max_body_mb: Annotated[
        float, _limit("The maximum size of a request.", min=0.001, max=2**20, metavar="MB")
    ] = 8.0,
    max_rows: Annotated[int, _limit_count("The maximum number of texts or rows in a request.")] = 1000,
    max_k: Annotated[int, _limit_count("The maximum number of labels per row.")] = 1000,
    max_answer: Annotated[
        int, _limit_count("The maximum number of labels in an answer: rows times labels per row.")
    ] = 100_000,
    max_row_values: Annotated[
        int, _limit_count("The maximum number of values in a row, in requests of more than 8 KB.")
    ] = 50_000,
    max_text: Annotated[int, _limit_count("The maximum number of characters in a text.")] = 1_000_000,
    max_seconds: Annotated[float, _limit("The maximum time for a request.", min=0.001, metavar="S")] = 30.0,
    max_in_flight: Annotated[
        int, _limit_count("The maximum number of concurrent requests in a process; others have to retry.")
    ] = 64,
    max_connections: Annotated[
        int,
        _limit_count("The maximum number of connections of a process. The longest idle is closed first."),
    ] = 512,
    max_client_share: Annotated[
        float,
        _limit(
            "The share of connections and concurrent requests that one address may have. Use 1 behind a proxy.",
            min=0.001,
            max=1.0,
            metavar="SHARE",
        ),
    ] = 0.5,
    max_head_kb: Annotated[
        float, _limit("The maximum size of all headers of a request.", min=1, max=2**20, metavar="KB")
    ] = 64.0,
    max_headers: Annotated[int, _limit_count("The maximum number of headers of a request.")] = 100,
    max_head_seconds: Annotated[
        float, _limit("The maximum time to send all headers.", min=0.001, metavar="S")
    ] = 10.0,
    max_idle_seconds: Annotated[
        float, _limit("The maximum time without a request on a connection.", min=1, metavar="S")
    ] = 30.0,
    max_stall_seconds: Annotated[
        float, _limit("The maximum pause while a body or an answer is sent.", min=0.001, metavar="S")
    ] = 10.0,
    min_pace: Annotated[
        float,
        _limit(
            "The minimum average speed of a body or an answer, in bytes per second.", min=0.001, metavar="N"
        ),
    ] = 10_000.0,
    grace: Annotated[
        float, option("The time to finish requests when the server stops.", min=1, metavar="S")
    ] = 10.0,
    quiet: Annotated[bool, option("Log only warnings and errors, not every request.", "--quiet")] = False,
) -> None:
    """Serve models over HTTP, with a web page to try them.

    Logs are JSON lines on standard error. SIGTERM and Ctrl-C stop the server after the current requests. Requires the
    extra 'serve': pip install 'labeltree\\[serve]'.

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
            answer_labels=max_answer,
            row_values=max_row_values,
            connections=max_connections,
            client_share=max_client_share,
            head_bytes=int(max_head_kb * 2**10),
            head_lines=max_headers,
            head_seconds=max_head_seconds,
            idle_seconds=max_idle_seconds,
            stall_seconds=max_stall_seconds,
            bytes_per_second=min_pace,
        ),
        tokens=Tokens.read(token_file, for_all=token_for_all),
        cors_origins=tuple(cors_origin or ()),
        allowed_hosts=(host, *(allowed_host or ())),
        learn=learn,
        snapshot_every=snapshot_every,
        verify=verify,
        watch_seconds=1.0 if watch else None,
        workers=workers,
        grace_seconds=grace,
        log_requests=not quiet,
    )
    # A damaged model is reported here, rather than by every worker.
    described = {name: read_info(path) for name, path in settings.models.items()}
    with listen(host, port) as listener:
        address = listener.getsockname()
        place = f"[{address[0]}]" if ":" in address[0] else address[0]

        def announce() -> None:
            console = standard_output()
            console.print(f"http://{place}:{address[1]}")
            for name, info in described.items():
                labels = count_text(info.n_labels, "label")
                console.print(titled(name, f": {info.estimator}, {labels}"), soft_wrap=True)

        run(settings, listener, announce)
