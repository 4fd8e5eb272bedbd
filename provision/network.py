"""What a run may use of the network: index, certificates, proxies, or nothing at all."""

from __future__ import annotations

import configparser
import os
import re
from dataclasses import dataclass
from pathlib import Path

from provision.errors import PaddockError
from provision.words import text

# In the order in which they count: the first that is set holds.
CERTIFICATES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT")
INDEXES = ("PADDOCK_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")


def hidden(address: str) -> str:
    """An address with `***` for its user and password, also one that lacks its scheme.

    All before the last `@` goes: a password may itself hold `@`, `/` or `://`.
    """
    return re.sub(r"(?s)^([^:@/]*://)?.*@", r"\1***@", address)


def hide_secrets(line: str) -> str:
    """The line with every address in it `hidden`.

    What follows an `@` in a path is taken for a host: rather too much is hidden than too little.
    """
    return re.sub(r"\S+", lambda word: _hidden_in(word[0]) if "://" in word[0] else word[0], line)


# Between the values of JSON without blanks, which is one word.
_BETWEEN = re.compile(r'("[,:]"?|[{\[]"|"[}\]]+)')


def _hidden_in(word: str) -> str:
    return "".join(hidden(part) if "://" in part else part for part in _BETWEEN.split(word))


_TELLING = (
    r"TOKEN(?![A-Z])|SECRET|PASSW|PASSPHRASE|CREDENTIAL|(?:API|ACCESS|AUTH|PRIVATE|CERT)_?KEY"
    r"|_(?:SK|AK|PWD|PASS|AUTH)(?![A-Z\d_])"
)
# `NAME=value` on a line of its own, within quotes, or among words; `"NAME": "value"`.
_NAMED = re.compile(
    rf"""(?imx)
    ( ^ (?:export\ |declare\ -\w+\ )? (?=\w*(?:{_TELLING})) \w+ = ) .+
    | ( " (?=\w*(?:{_TELLING})) \w+ (?: = | "\s*:\s*" ) ) (?: [^"\\] | \\. )+
    | ( \b (?=\w*(?:{_TELLING})) \w+ = ) [^\s"']+
    """
)


def is_secret(name: str) -> bool:
    """Whether the value of a variable is to be hidden, by its name; or a text has such a name."""
    return bool(re.search(_TELLING, name, re.IGNORECASE))


def hide_values(text: str) -> str:
    """A text without what `hide_secrets` hides and the values of names that say they are secret."""
    text = hide_secrets(text)
    if not is_secret(text):
        return text
    return _NAMED.sub(lambda found: "".join(filter(None, found.groups())) + "***", text)


@dataclass(frozen=True)
class Network:
    """The network settings of one run. None means: as the user's environment has it."""

    offline: bool = False
    ca_bundle: Path | None = None
    index_url: str | None = None

    def environment(self) -> dict[str, str]:
        """The variables that make uv, pip, git, curl and Python's TLS follow these settings."""
        # uv would otherwise look for a Python on a site that few data centres reach.
        found = {"UV_PYTHON_DOWNLOADS": "never"}
        if bundle := self.ca_bundle or _first(CERTIFICATES):
            names = (*CERTIFICATES, "GIT_SSL_CAINFO")
            found.update({name: str(bundle) for name in names})
        if index := self.index_url or _first(INDEXES) or pip_index():
            found.update(UV_DEFAULT_INDEX=index, PIP_INDEX_URL=index)
        if self.offline:
            found.update(UV_OFFLINE="1", PIP_NO_INDEX="1")
        return found


def asked(offline: bool, ca_bundle: str, index_url: str) -> Network:
    """The settings that the flags of a command ask for; "" is a flag that was not given.

    Raises PaddockError `bad-option`.
    """
    bundle = Path(ca_bundle).resolve() if ca_bundle else None
    if bundle and not bundle.is_file():
        wanted = text("wanted.file")
        raise PaddockError("bad-option", option="--ca-bundle", value=ca_bundle, wanted=wanted)
    if index_url and not index_url.startswith(("https://", "http://", "file://")):
        wanted, shown = text("wanted.url"), hidden(index_url)
        raise PaddockError("bad-option", option="--index-url", value=shown, wanted=wanted)
    return Network(offline, bundle, index_url or None)


def _first(names: tuple[str, ...]) -> str | None:
    """The first of these variables that is set and not empty."""
    return next((value for name in names if (value := os.environ.get(name))), None)


def pip_index() -> str | None:
    """`index-url` of pip's own configuration: users with a mirror have it there, uv ignores it.

    Source: pip documentation, "Configuration Files" (user before global, PIP_CONFIG_FILE first).
    """
    home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    own = os.environ.get("PIP_CONFIG_FILE")
    files = [Path(own)] if own else []
    files += [home / "pip/pip.conf", Path.home() / ".pip/pip.conf"]
    files += [Path("/etc/pip.conf"), Path("/etc/xdg/pip/pip.conf")]
    for file in files:
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        try:
            parser.read(file, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError):
            continue  # pip would complain about its own file; here it only means: no index known
        if parser.has_option("global", "index-url"):
            return parser.get("global", "index-url").strip()
    return None
