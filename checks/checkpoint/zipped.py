"""A zip archive (torch.save, .npz): its directory stands at the end, and says where all else is."""

from __future__ import annotations

import zipfile
from typing import BinaryIO

from checks.checkpoint.fault import Fault, Seen, Whole

_HEADER = 30  # bytes of a member's own header, without its name


def look(stream: BinaryIO, size: int) -> Seen:
    """Whether the directory is there, and every member lies before it.

    Where the directory is missing the file was cut; by how much, nothing in it tells.
    """
    try:
        with zipfile.ZipFile(stream) as archive:
            members, begins = archive.infolist(), archive.start_dir
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return Fault(name="no-directory")
    for one in members:
        end = one.header_offset + _HEADER + len(one.filename.encode()) + one.compress_size
        if end > begins:
            return Fault(name="member", values={"member": one.filename[:100]})
    return Whole()
