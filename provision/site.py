"""Where one target lives on this machine: its environment, wheels, builds, journal and logs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from provision.paths import home_of


@dataclass(frozen=True)
class Site:
    """The folders of one target. None of them need exist yet."""

    target: str

    def home_of(self, kind: str) -> Path:
        """Where the folders of one kind are: `cache`, `data` or `state`."""
        return home_of(kind)

    @property
    def env(self) -> Path:
        """The Python environment into which the stack is installed."""
        return self.home_of("data") / "envs" / self.target

    @property
    def python(self) -> Path:
        """The interpreter of that environment."""
        return self.env / "bin" / "python"

    @property
    def site_packages(self) -> Path | None:
        """Its site-packages folder; None while the environment does not exist."""
        return next(iter(sorted(self.env.glob("lib/python3.*/site-packages"))), None)

    @property
    def version(self) -> str:
        """The full version of that interpreter, as the environment notes it, e.g. `3.11.2`."""
        lines = (self.env / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
        values = dict(line.split(" = ", 1) for line in lines if " = " in line)
        return values["version_info"]

    @property
    def wheels(self) -> Path:
        """The wheels that were built, one folder a step."""
        return self.home_of("data") / "wheels" / self.target

    @property
    def builds(self) -> Path:
        """Build trees, kept so that a killed build goes on."""
        return self.home_of("cache") / "build" / self.target

    @property
    def state(self) -> Path:
        """Journal, lock, seal, rendered scripts and logs."""
        return self.home_of("state") / self.target

    @property
    def journal(self) -> Path:
        """The append-only record of what was done."""
        return self.state / "journal.jsonl"

    @property
    def logs(self) -> Path:
        """One folder a run, one file a step."""
        return self.state / "logs"

    @property
    def runs(self) -> Path:
        """What the smoke tests found, one file a run."""
        return self.state / "runs"

    @property
    def unpacked(self) -> Path:
        """What was unpacked from the archives of vendors, a folder each."""
        return self.home_of("cache") / "unpacked" / self.target

    @property
    def downloads(self) -> Path:
        """The packages that were downloaded from vendors or from a server of one's own."""
        return self.home_of("cache") / "downloads" / self.target

    def held(self, step: str) -> Path:
        """Copies of packages, where others could change the files between a look and their use."""
        return self.downloads / "held" / step.replace("/", "-")

    @property
    def licences(self) -> Path:
        """The licences that the person has accepted, a line each."""
        return self.state / "licences"

    @property
    def trusted(self) -> Path:
        """The digests of the vendors' files that were used, as `sha256sum` writes them."""
        return self.state / "trusted.sha256"

    @property
    def kept(self) -> Path:
        """Versions newer than the pins that the person agreed to keep."""
        return self.state / "kept.json"

    @property
    def toolchain(self) -> Path:
        """The system packages that the toolchain step has added, a line each."""
        return self.state / "toolchain.packages"

    @property
    def notes(self) -> Path:
        """The folder of the notes on what was not there before."""
        return self.state / "added"

    def added(self, step: str) -> Path:
        """The note that a step's package was not there before."""
        return self.notes / step.replace("/", "-")

    def output(self, step: str) -> Path:
        """What a step's installer has printed."""
        return self.state / "scripts" / f"{step.replace('/', '-')}.output"

    @property
    def reboot(self) -> Path:
        """The start of the machine at which an installer asked for another one."""
        return self.state / "reboot"

    @property
    def made(self) -> list[Path]:
        """Every folder that `--undo` removes."""
        return [self.env, self.wheels, self.builds, self.unpacked, self.downloads]
