"""The container engine: a connection to it, and its failures in clear words."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from typing import Any, Final

from provision.errors import PaddockError
from provision.network import hide_secrets
from provision.words import text

_LIMIT = 60  # seconds for an answer; pulls, and what runs in a container, have no limit

# Words of the engine (Docker 20.10 to 29, Podman 4.3) -> an error code. The first row that matches
# wins; `what` is the name that the engine gives.
SYMPTOMS: Final[tuple[tuple[str, str], ...]] = (
    (r"no space left on device|disk quota exceeded", "container-disk"),
    (r"gathering device information.*?\"(?P<what>/[^\"]*)\"", "container-lacks"),
    (r"bind source path does not exist: (?P<what>[^\n]+)", "container-lacks"),
    (r"\bstat(fs)? (?P<what>/[^:\n]+): no such file or directory", "container-lacks"),
    (r"container name \"/?(?P<what>[^\"]+)\" is already in use", "container-name"),
    (r"manifest unknown|manifest for \S+ not found|not found: manifest", "image-gone"),
    (r"unknown blob|blob unknown", "image-gone"),
    (r"pull access denied|unauthorized|authentication required|denied: ", "image-denied"),
    (r"dial tcp|no such host|i/o timeout|connection re(fused|set)|TLS handshake|x509:", "registry"),
    (r"proxyconnect|server misbehaving|Client\.Timeout|toomanyrequests|unexpected EOF", "registry"),
    (r"HTTP response to HTTPS client|Service Unavailable|Bad Gateway|\bEOF\b", "registry"),
    (r"container \S+ is not running|is restarting|No such (container|exec)", "container-died"),
)


def connect() -> Any:
    """A client of the engine that DOCKER_HOST or Docker's current context names.

    Raises PaddockError `engine-absent`, `engine-denied`, `engine-lost`, and `bad-option` for a
    context that is not there or an address of another kind.
    """
    import docker

    with translated():
        host, tls = _address()
        if tls:
            client = docker.DockerClient(host, tls=tls, timeout=_LIMIT)
        else:  # here DOCKER_TLS_VERIFY and DOCKER_CERT_PATH count, too
            client = docker.from_env(
                timeout=_LIMIT, environment={**os.environ, "DOCKER_HOST": host}
            )
        client.ping()
    return client


def _address() -> tuple[str, Any]:
    """The engine's address, "" for the usual one, and the context's own TLS settings."""
    from docker.context import ContextAPI
    from docker.context.config import get_current_context_name

    if host := os.environ.get("DOCKER_HOST"):
        return _local("DOCKER_HOST", host), None
    name = os.environ.get("DOCKER_CONTEXT") or get_current_context_name()
    if name == "default":
        return "", None
    context = ContextAPI.get_context(name)
    if context is None:
        raise PaddockError("bad-option", option="DOCKER_CONTEXT", value=name,
                           wanted=text("wanted.context"))  # fmt: skip
    return _local("DOCKER_CONTEXT", str(context.Host)), context.TLSConfig


def _local(option: str, host: str) -> str:
    """An address whose engine can see this machine's files and nodes."""
    if not host.startswith(("unix://", "tcp://", "http://", "https://")):
        raise PaddockError("bad-option", option=option, value=hide_secrets(host),
                           wanted=text("wanted.engine"))  # fmt: skip
    return host


@contextlib.contextmanager
def translated(**values: object) -> Iterator[None]:
    """What the engine refuses in here, or that it is not there, as a PaddockError.

    `values` fill the sentences: `image`, say, or `container`.
    """
    from docker.errors import APIError, DockerException
    from requests.exceptions import RequestException
    from urllib3.exceptions import HTTPError

    try:
        yield
    except APIError as error:
        raise refused(str(error.explanation or error), **values) from None
    except (DockerException, RequestException, HTTPError, ConnectionError, TimeoutError) as error:
        raise _unreachable(error) from None


def refused(reason: str, **values: object) -> PaddockError:
    """The error for what the engine says."""
    reason = hide_secrets(reason.strip())
    for pattern, code in SYMPTOMS:
        if found := re.search(pattern, reason, re.IGNORECASE | re.DOTALL):
            named = {"image": "?", "container": "?", "what": reason, **found.groupdict(), **values}
            return PaddockError(code, (reason,), **named)
    return PaddockError("engine-refused", reason=reason)


def _unreachable(error: BaseException) -> PaddockError:
    """Why the engine does not answer: what lies at the bottom of the chain of errors tells."""
    chain = [error]
    while below := chain[-1].__cause__ or chain[-1].__context__:
        chain.append(below)
    where = hide_secrets(os.environ.get("DOCKER_HOST") or "/var/run/docker.sock")
    codes = {"FileNotFoundError": "engine-absent", "PermissionError": "engine-denied"}
    names = [type(one).__name__ for one in chain]
    code = next((codes[name] for name in names if name in codes), "engine-lost")
    return PaddockError(code, where=where, reason=hide_secrets(str(chain[-1])))
