"""What a recipe reads: its examples line by line, and the files of its model."""

from __future__ import annotations

from pathlib import Path

from checks.checkpoint.command import reason
from checks.checkpoint.folder import examine as examine_folder
from checks.launch.demand import local_model
from checks.launch.found import Found
from checks.launch.wish import Filled
from checks.training_data.command import files
from checks.training_data.file import examine
from provision.errors import PaddockError
from provision.words import text

_SHOWN = 5  # of a file


def data_of(filled: Filled) -> Path | None:
    """The folder or file of examples; None for a recipe that reads none of this kind."""
    name = filled.arguments.get("dataset_name_or_path")
    return filled.folder / name if name and filled.checkout else None


def data(filled: Filled) -> Found:
    """Each line that training would stop at; lines that only teach nothing are noted."""
    found, place = Found(), data_of(filled)
    if place is None or not place.exists():  # that it is missing is told already
        return found
    try:
        looked = [examine(path) for path in files(place)]
    except PaddockError as error:
        found.missing.append(error.part("what"))
        return found
    for one in looked:
        broken = [told for told in one.faults if told.broken]
        for told in broken[:_SHOWN]:
            values = {"file": one.file, "line": told.line, "reason": told.reason}
            found.missing.append(text("launch.pre.data", **values))
        if one.broken > _SHOWN:
            more = {"file": one.file, "count": one.broken - _SHOWN}
            found.missing.append(text("launch.pre.data-more", **more))
        odd = sum(one.counts.values()) - one.broken
        values = {"file": one.file, "lines": one.lines, "usable": one.usable, "odd": odd}
        found.notes.append(text("launch.note.data", **values))
    return found


def model(filled: Filled) -> Found:
    """The files of a model that is a folder here: those that are not whole."""
    found, folder = Found(), local_model(filled)
    name = filled.arguments.get("model_name_or_path", "")
    if not folder:
        if name and name not in filled.recipe.needs:  # one of those that has to be here is told
            found.notes.append(text("launch.note.model-named", name=name))
        return found
    looked = examine_folder(Path(folder))
    for one in looked:
        for fault in one.faults:
            line = text("launch.pre.checkpoint", folder=folder, file=one.file, reason=reason(fault))
            (found.notes if fault.harmless else found.missing).append(line)
    if not any(one.faults for one in looked):
        found.notes.append(text("launch.note.model", folder=folder, count=len(looked)))
    return found
