"""What a target's container is made of: just what the target needs of the machine."""

from __future__ import annotations

import json
import os
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from provision.forms.container import devices
from provision.forms.dockerfile import base_of, health
from provision.forms.places import Places
from provision.forms.wanted import CACHE, Wanted
from provision.network import CERTIFICATES, Network
from provision.paths import state_dir
from provision.stack import Container

TARGET, HOME, MADE = "paddock.target", "paddock.home", "paddock.made"
IMAGE, DIGEST, SOURCED = "paddock.image", "paddock.digest", "paddock.settings"
VOLUME = "paddock-cache"
# Where distributions keep the certificates that the system trusts: Debian, the RHEL family
# (openEuler, Kylin), SUSE.
_SYSTEM = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
           "/etc/ssl/ca-bundle.pem")  # fmt: skip
_HERE = re.compile(r"//(?:[^/@]*@)?(?:localhost|127\.[\d.]+|\[::1\])(?=[:/]|$)")


@dataclass(frozen=True)
class Settings:
    """A container to be made for `wanted`: of `image`, an ID, in this network.

    `named` is its name where that was asked for, "" where one of any name will do.
    """

    wanted: Wanted
    image: str
    digest: str
    name: str
    network: Network
    named: str = ""

    @property
    def made(self) -> dict[str, object]:
        """What a container that is there has to be made of, to be this one. It holds no secret."""
        container = self.wanted.stack.container
        return {
            "image": self.image,
            "devices": [] if self.wanted.privileged else devices(self.wanted),
            "mounts": {str(source): target for target, source in self.mounts.items()},
            "shm": container.shm if container else 0, "privileged": self.wanted.privileged,
            "volumes": sorted(map(str, self.wanted.volumes)),
            "network": "host" if on_this_machine(self.network) else "own",
            **({"name": self.named} if self.named else {}),
        }  # fmt: skip

    @property
    def mounts(self) -> dict[str, Path]:
        """Paths in the container that are read-only the machine's: path inside -> its source."""
        container = self.wanted.stack.container
        own = {path: _here(path, container) for path in container.mounts} if container else {}
        bundle = certificates(self.network)
        return own | ({str(self.wanted.home / "ca.crt"): bundle} if bundle else {})

    @property
    def sources(self) -> list[Path]:
        """The paths of the machine that have to be there."""
        return [*self.mounts.values(), *(Path(one.source) for one in self.wanted.volumes)]

    @property
    def variables(self) -> dict[str, str]:
        """The environment that anything in the container sees, which the engine shows to anyone."""
        found = {
            "PADDOCK_HOME": str(places(self.wanted).home), "LANG": "C.UTF-8",
            "UV_CACHE_DIR": str(CACHE / "uv"), "PIP_CACHE_DIR": str(CACHE / "pip"),
            "UV_LINK_MODE": "copy",
        }  # fmt: skip
        inside = str(self.wanted.home / "ca.crt")
        if inside in self.mounts:
            found.update(dict.fromkeys((*CERTIFICATES, "GIT_SSL_CAINFO"), inside))
        return found

    def arguments(self, path: str) -> dict[str, Any]:
        """What the SDK's `create` gets; `path` is the image's own PATH."""
        from docker.types import Healthcheck, Mount

        wanted, second = self.wanted, 10**9  # in nanoseconds, as the engine counts
        tools = [str(places(wanted).env / "bin"), str(wanted.home / "tool"), path]
        mounts = [Mount(target, str(source), type="bind", read_only=True)
                  for target, source in self.mounts.items()]  # fmt: skip
        mounts += [Mount(one.target, one.source, type="bind", read_only=one.read_only)
                   for one in wanted.volumes]  # fmt: skip
        return self._rights() | {
            "image": self.image, "name": self.name, "entrypoint": ["sleep", "infinity"],
            "init": True, "user": "0:0", "working_dir": "/",
            "mounts": [*mounts, self._cache()],
            "environment": self.variables | {"PATH": ":".join(tools)},
            "network_mode": "host" if self.made["network"] == "host" else "bridge",
            "healthcheck": Healthcheck(test=["CMD", *health(wanted)], interval=300 * second,
                                       timeout=60 * second, start_period=30 * second),
            "labels": self._labels(),
        }  # fmt: skip

    def _rights(self) -> dict[str, Any]:
        """The nodes and the memory; all rights only where they were asked for."""
        shm = {"shm_size": self.made["shm"]} if self.made["shm"] else {}
        if self.wanted.privileged:
            return shm | {"privileged": True}
        nodes = [f"{node}:{node}:rwm" for node in devices(self.wanted)]
        return shm | {"security_opt": ["no-new-privileges:true"], "devices": nodes}

    def _labels(self) -> dict[str, str]:
        """What the container is, for `status` and for the next run."""
        cards = self.wanted.cards if self.made["devices"] else ()
        return labels(self.wanted.stack.target) | {
            MADE: json.dumps(self.made | {"name": self.name}), IMAGE: base_of(self.wanted),
            DIGEST: self.digest, SOURCED: json.dumps(self.wanted.stack.settings),
            "paddock.release": self.wanted.release,
            "paddock.cards": ",".join(map(str, cards)),
        }  # fmt: skip

    def _cache(self) -> Any:
        """Downloads outlive the container: in a volume, or where the person keeps those of uv."""
        from docker.types import Mount

        if own := os.environ.get("UV_CACHE_DIR"):
            Path(own).mkdir(parents=True, exist_ok=True)
            return Mount(str(CACHE / "uv"), str(Path(own).absolute()), type="bind")
        return Mount(str(CACHE), VOLUME, type="volume")


def _here(path: str, container: Container) -> Path:
    """Where this machine has what the container sees as `path`."""
    usual, other = Path(path), Path(container.elsewhere.get(path, path))
    return other if other.exists() and not usual.exists() else usual


def places(wanted: Wanted) -> Places:
    """Where things are in the container, as PADDOCK_HOME says."""
    return Places(wanted.stack.target, wanted.home / "home")


def labels(target: str) -> dict[str, str]:
    """By these a container is known as ours: two users of one engine do not meet."""
    return {TARGET: target, HOME: str(state_dir())}


def certificates(network: Network) -> Path | None:
    """The certificates to trust: those that were named, else the system's own; None for none."""
    named = network.environment().get("SSL_CERT_FILE")
    files = (named,) if named else (ssl.get_default_verify_paths().openssl_cafile, *_SYSTEM)
    return next((Path(file).resolve() for file in files if Path(file).is_file()), None)


def private(network: Network) -> dict[str, str]:
    """What only the commands in the container get, since it may hold passwords.

    Programs disagree on the case of a proxy's variable, so each comes in both.
    """
    proxies = {n: v for n, v in os.environ.items() if n.lower().endswith("_proxy") and v}
    both = {f(name): value for name, value in proxies.items() for f in (str.lower, str.upper)}
    index = network.environment().get("UV_DEFAULT_INDEX")
    return both | proxies | ({"PADDOCK_INDEX_URL": index} if index else {})


def on_this_machine(network: Network) -> str:
    """The proxy or index that listens on this machine alone, as a container of its own network
    could not reach it; "" for none. Only its variable's name is told.
    """
    values = private(network).items()
    return next((n for n, v in values if n.lower() != "no_proxy" and _HERE.search(_url(v))), "")


def _url(value: str) -> str:
    """A proxy may be given without its scheme."""
    return value if "://" in value else f"http://{value}"


def differences(made: Mapping[str, object], label: str) -> list[str]:
    """In what a container, by its label, is not made as wanted. A label of an earlier version
    lacks what that one could not give: it has nothing of it.
    """
    try:
        there = json.loads(label)
    except ValueError:
        return ["label"]
    return [name for name, value in made.items() if there.get(name, type(value)()) != value]


def path_of(variables: list[str]) -> str:
    """PATH in the environment of an image."""
    found = next((one[5:] for one in variables if one.startswith("PATH=")), "")
    return found or "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
