"""What is in a wheel and what it needs: a bill of materials in CycloneDX 1.6, beside it."""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
import uuid
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from provision.digest import sha256
from provision.distributions import wheel_name
from provision.facts.linking.elf_file import DAMAGED, ElfFile
from provision.papers.statement import PACKAGE, Making, encode, package

_SCHEMA = "http://cyclonedx.org/schema/bom-1.6.schema.json"
_LINKED = re.compile(r"\.(a|so(\.\d+)*)$")
_REQUIRED = "paddlepaddle"  # of the packages of the build, what the wheel needs when it runs


def bill(wheel: Path, digest: str, making: Making) -> bytes:
    """The bill of a wheel of this digest. Its number follows from the digest alone."""
    name, version, _ = wheel_name(wheel.name)
    own = package(name, version)
    files, needed = _contents(wheel)
    # Two locks may pin one package, and a name of a part be there but once.
    every = (*_packages(making), *_vendors(making), *files, *needed)
    parts = list({part["bom-ref"]: part for part in every}.values())
    return encode({
        "$schema": _SCHEMA, "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'sha256:{digest}')}",
        "metadata": {"component": {
            "type": "library", "bom-ref": own, "name": name, "version": version,
            "purl": own, "hashes": [_hash(digest)],
        }},
        "components": parts,
        "dependencies": [{"ref": own, "dependsOn": [
            str(part["bom-ref"]) for part in parts if part.get("scope") != "excluded"
        ]}],
    })  # fmt: skip


def _packages(making: Making) -> Iterator[dict[str, object]]:
    """The packages of the build; tools alone are not part of the result."""
    for material in making.materials:
        uri = str(material.get("uri", ""))
        if uri.startswith(PACKAGE):
            name, _, version = unquote(uri.removeprefix(PACKAGE)).partition("@")
            scope = "required" if name.startswith(_REQUIRED) else "excluded"
            yield {"type": "library", "bom-ref": uri, "name": name, "version": version,
                   "purl": uri, "scope": scope}  # fmt: skip


def _vendors(making: Making) -> Iterator[dict[str, object]]:
    """The vendor's files: archives are linked in, libraries asked for, headers compiled with."""
    for material in making.materials:
        match material:
            case {"name": str(name), "digest": {"sha256": str(digest)},
                  "annotations": {"vendor": str(vendor)}}:  # fmt: skip
                scope = "required" if _LINKED.search(name) else "excluded"
                yield {"type": "file", "bom-ref": f"vendor:{name}@{digest}", "name": name,
                       "scope": scope, "supplier": {"name": vendor},
                       "hashes": [_hash(digest)]}  # fmt: skip


def _contents(wheel: Path) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """The files of a wheel, and the libraries that its libraries ask for by name."""
    files: list[dict[str, object]] = []
    needed: set[str] = set()
    with zipfile.ZipFile(wheel) as whole, tempfile.TemporaryDirectory() as scratch:
        for info in whole.infolist():
            if info.is_dir():
                continue
            path = Path(scratch, "file")
            with whole.open(info) as content, path.open("wb") as copy:
                shutil.copyfileobj(content, copy, 1 << 20)
            files.append({"type": "file", "bom-ref": f"file:{info.filename}",
                          "name": info.filename, "hashes": [_hash(sha256(path))]})  # fmt: skip
            with contextlib.suppress(*DAMAGED):  # not a library
                needed |= set(ElfFile(path).needed)
    own = {Path(info.filename).name for info in whole.infolist()}
    return files, [
        {"type": "library", "bom-ref": f"needed:{name}", "name": name, "scope": "required"}
        for name in sorted(needed - own)
    ]


def _hash(digest: str) -> dict[str, str]:
    return {"alg": "SHA-256", "content": digest}
