"""`labeltree export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labeltree.cli import options
from labeltree.cli.options import argument, option


def export(
    model: options.Model,
    out: Annotated[Path, argument("OUT", "The directory to write.")],
    int8: Annotated[
        bool,
        option(
            "Store the weights of the network as int8: a quarter of the size, a little less precise.",
            "--int8",
        ),
    ] = False,
    json: options.Json = False,
) -> None:
    """Export a neural network, so that it answers without torch.

    OUT is a model like any other, whose network is an ONNX graph. It answers on the CPU and needs [bold]pip install
    'labeltree\\[onnx]'[/bold] only. In a mix, the members with a network are exported and the others are kept.

    [bold]Examples[/bold]

        labeltree export tags.labeltree small.labeltree
        labeltree export tags.labeltree small.labeltree --int8
        labeltree serve small.labeltree
    """
    from labeltree.cli.console import print_json, print_next, standard_output, titled
    from labeltree.cli.figures import bytes_text
    from labeltree.cli.trained_model import open_model
    from labeltree.model_file import read_info
    from labeltree.model_file.directory import check_replaceable

    if model.exists() and out.exists() and model.samefile(out):
        raise typer.BadParameter("is MODEL: the model could not be exported again", param_hint="OUT")
    before = read_info(model)
    if before.runtime is None:
        raise typer.BadParameter(
            f"{model} has no network: there is nothing to export, and it answers without torch as it is",
            param_hint="MODEL",
        )
    check_replaceable(out)
    from labeltree.deep.onnx_export import export_onnx

    export_onnx(open_model(model), out, int8=int8)
    after = read_info(out)
    if json:
        print_json(
            {
                "model": str(model),
                "out": str(out),
                "int8": int8,
                "model_bytes": before.n_bytes,
                "out_bytes": after.n_bytes,
            }
        )
        return
    sizes = f"{bytes_text(before.n_bytes)} → {bytes_text(after.n_bytes)}"
    standard_output().print(
        titled(out, f": exported to ONNX{', int8' if int8 else ''}, {sizes}"), soft_wrap=True
    )
    print_next(f"labeltree serve {out}")
