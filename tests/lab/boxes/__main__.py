"""A box to try things in: `python -m tests.lab.boxes VENDOR [VARIANT|healthy [SCRIPT]]`.

With a script, it is run there by the box's user; else the box stays until Enter is pressed. It
sees this checkout as it is, also later changes.
"""

from __future__ import annotations

import sys

from provision.paths import ROOT
from tests.lab.boxes.box import start


def main() -> int:
    vendor, name, *script = [*sys.argv[1:], "healthy"] if len(sys.argv) == 2 else sys.argv[1:]
    with start(vendor, name.removeprefix("healthy"), checkout=ROOT) as box:
        if script:
            done = box.shell(script[0], timeout=600)
            print(done.stdout, end="")
            print(done.stderr, end="", file=sys.stderr)
            return done.returncode
        print(f"docker exec -it -w '{box.checkout}' -u {box.user} {box.name} sh")
        print(f"in there:\n  {box.prelude}\n  ./paddock doctor")
        input("Enter ends it. ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
