"""Images with the tool's environment ready, so that a build of an image takes seconds."""

from __future__ import annotations

from tests.lab.boxes.image import changed, commit, succeed, tagged, with_engine, with_tool
from tests.lab.machine import base_image, fresh_machine

# A build removes it between its stages, and copies what is in its place. So it lies elsewhere, and
# the first Python that is asked for puts the link there: to install it would take 20 seconds.
_BASE = """
set -e
rm -r /opt/paddock/home
mv /opt/paddock /usr/local/lib/lab-tool
cat > /usr/local/bin/python3 <<'END'
#!/bin/sh
mkdir -p /opt/paddock/home/cache
ln -sfn /usr/local/lib/lab-tool/cache/tool /opt/paddock/home/cache/tool
exec /usr/bin/python3 "$@"
END
chmod 0755 /usr/local/bin/python3
"""
_READY = """
set -e
PADDOCK_HOME=/opt/paddock ./paddock --version
find . -mindepth 1 -delete
"""


def for_builds() -> str:
    """The tag of an Ubuntu from which an image can be built without an index."""
    return changed("base", with_tool(), _BASE)


def with_podman() -> str:
    """The tag of a Debian with Podman and Buildah."""
    return with_engine("podman", base_image(), "podman catatonit buildah")


def with_builders() -> str:
    """The tag of the same with the tool's environment."""
    base = with_podman()

    def make(tag: str) -> None:
        with fresh_machine(base) as machine:
            succeed(machine.run(_READY, timeout=600))
            commit(machine, tag)

    return tagged("builders", [base, _READY], make)
