"""A hook of MkDocs: pages of the repository that are not in docs/, and links between all of them.

Pages link to each other, and to other files, by paths in the repository, so that links work on the code host too. On
the site, pages outside of docs/ keep their paths, and docs/ itself is the top. A link to a file that is no page leads
to the code host, if pyproject.toml names it under [project.urls]; else to a copy of its text in source/. A link to a
folder then leaves only its words.
"""

from __future__ import annotations

import logging
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

log = logging.getLogger("mkdocs.hooks.repository")  # MkDocs counts the warnings of its own loggers
ROOT = Path(__file__).parents[2]
#: Files outside of docs/ that are pages, and the pictures on them.
OUTSIDE = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "experiments/README.md",
    "integrations/annif/README.md",
)
RESULTS = ("experiments/results/*.md", "experiments/results/*.png")

_CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_REMOTE = re.compile(
    r'<(?:script|img|iframe)\b[^>]*\bsrc="https?:[^>]*>|<link\b[^>]*\brel="stylesheet"[^>]*\bhref="https?:[^>]*>'
)
_IN_DOCSTRING = re.compile(r"(?:<code>)?docs/([a-z-]+)\.md(?:</code>)?")


def on_config(config: Any) -> Any:
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"].get("urls", {})
    config.repo_url = urls.get("Source")
    config.site_url = urls.get("Documentation")
    config.nav = _expanded(config.nav)
    return config


def _expanded(nav: Any) -> Any:
    """Replace a pattern of names in the navigation by the pages that nothing else in it names."""
    named = set(re.findall(r"[\w/.-]+\.md", str(nav)))

    def expand(item: Any) -> Any:
        if isinstance(item, list):
            return [expand(entry) for entry in item]
        if isinstance(item, dict):
            return {title: expand(entry) for title, entry in item.items()}
        if "*" in item:
            found = (path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob(item)))
            return [name for name in found if name not in named]
        return item

    return expand(nav)


def on_files(files: Any, config: Any) -> Any:
    found = [ROOT / name for name in OUTSIDE]
    found += [path for pattern in RESULTS for path in sorted(ROOT.glob(pattern))]
    for path in found:
        name = path.relative_to(ROOT).as_posix()
        files.append(File(name, str(ROOT), config.site_dir, config.use_directory_urls))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    here = _in_repository(page.file)

    def on_site(link: re.Match[str]) -> str:
        picture, words, target = link.groups()
        if re.match(r"[a-z]+:|#", target):
            return link[0]
        path, _, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(here), path))
        name = path.removeprefix("docs/")
        if files.get_file_from_path(name) is not None:
            target = posixpath.relpath(name, posixpath.dirname(page.file.src_uri) or ".")
            target += f"#{anchor}" if anchor else ""
        elif not (ROOT / path).exists():
            return link[0]  # a broken link, which MkDocs reports
        elif config.repo_url:
            target = f"{config.repo_url.rstrip('/')}/blob/main/{path}"
        elif (ROOT / path).is_file():
            copy = _copy_of(path, files, config)
            target = posixpath.relpath(copy, posixpath.dirname(page.file.src_uri) or ".")
        else:
            return words
        return f"{picture}[{words}]({target})"

    # Code is set aside while the links are replaced: text in it may look like a link.
    code = _CODE.findall(markdown)
    parts = iter(code)
    marked = _LINK.sub(on_site, _CODE.sub("\0", markdown))
    return re.sub("\0", lambda _: next(parts), marked)


def _copy_of(path: str, files: Any, config: Any) -> str:
    """Put a copy of a text into the site, once; the suffix lets browsers show it."""
    name = f"source/{path}.txt"
    if files.get_file_from_path(name) is None:
        content = (ROOT / path).read_text(encoding="utf-8")
        files.append(File.generated(config, name, content=content))
    return name


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Let docstrings in the reference link to the pages that they name."""
    if not page.file.src_uri.startswith("reference/"):
        return html

    def link(name: re.Match[str]) -> str:
        file = files.get_file_from_path(f"{name[1]}.md")
        return (
            name[0] if file is None else f'<a href="{file.url_relative_to(page.file)}">{file.page.title}</a>'
        )

    return _IN_DOCSTRING.sub(link, html)


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Warn, which fails a strict build, if reading a page would need the network."""
    for tag in _REMOTE.findall(output):
        log.warning("%s needs the network to be read: %s", page.file.src_uri, tag)
    return output


def _in_repository(file: Any) -> str:
    """Return the path of a file in the repository."""
    return Path(file.abs_src_path).relative_to(ROOT).as_posix()
