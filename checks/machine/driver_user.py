"""Is the account of the Ascend driver there, and is this user in the group that owns the nodes?"""

from __future__ import annotations

from checks.machine import here
from checks.machine.finding import Check, Evidence, Finding, State, known
from provision.facts import ascend_driver
from provision.facts.accounts import ASCEND, Accounts
from provision.facts.nodes import Node
from provision.facts.snapshot import Facts

_SOURCE = "CANN installation guide, running user; hicann/driver scripts, ERR_NO:0x0091"
_GROUP_MAY = 0o060  # read and write
_OTHERS_MAY = 0o006


def _run(facts: Facts) -> Finding:
    accounts = known(facts.accounts)
    nodes = [node for node in here.nodes(facts)
             if node.vendor == ascend_driver.VENDOR and node.kind == "char"]  # fmt: skip
    return _account(facts, accounts, nodes) or _member(accounts, nodes) or _good(accounts, nodes)


def _account(facts: Facts, accounts: Accounts, nodes: list[Node]) -> Finding | None:
    """The account is missing. Images rightly lack it, and an installation may name another.

    Where npu-smi answers all the same, a directory service may have the account.
    """
    info = ascend_driver.install_info(here.outputs(facts))
    noted = info.fields.get("UserName") if info else None
    name = noted or next((node.owner for node in nodes if node.uid), None) or ASCEND
    if here.in_container(facts) or name != ASCEND or not accounts.complete:
        return None
    records = {"/etc/passwd": accounts.ascend_user, "/etc/group": accounts.ascend_group}
    missing = [file for file, row in records.items() if row is None]
    if not missing:
        return None
    evidence = [Evidence(f"no {ASCEND}", file) for file in missing]
    state: State = "warning" if here.npu_answers(facts) else "error"
    return Finding(state, "missing", {"name": ASCEND}, evidence, f"id {ASCEND}", _SOURCE)


def _member(accounts: Accounts, nodes: list[Node]) -> Finding | None:
    """This user may open the nodes only as a member of their group, and is none."""
    group = next((node for node in nodes if _by_group(node)), None)
    if group is None or accounts.uid in (0, group.uid):
        return None
    if group.gid in {one.gid for one in accounts.groups}:
        return None
    name, user = group.group or str(group.gid), accounts.user or str(accounts.uid)
    values = {"user": user, "group": name}
    evidence = [_shown(group), Evidence(_groups(accounts), "id -Gn")]
    if group.gid in {one.gid for one in accounts.recorded or ()}:
        return Finding("error", "login", values, evidence, f"newgrp {name}", _SOURCE)
    command = f"sudo usermod -aG {name} {user}"
    return Finding("error", "outside", values, evidence, command, _SOURCE)


def _by_group(node: Node) -> bool:
    """Whether its group opens a node; root's group is nobody's to join."""
    mode = int(node.mode or "0", 8)
    return bool(node.gid) and mode & _GROUP_MAY == _GROUP_MAY and mode & _OTHERS_MAY != _OTHERS_MAY


def _good(accounts: Accounts, nodes: list[Node]) -> Finding:
    line = f"{accounts.user or accounts.uid}: {_groups(accounts)}"
    return Finding("ok", evidence=[Evidence(line, "id -Gn"), *map(_shown, nodes[:1])])


def _groups(accounts: Accounts) -> str:
    return " ".join(one.name or str(one.gid) for one in accounts.groups)


def _shown(node: Node) -> Evidence:
    owner, group = node.owner or node.uid, node.group or node.gid
    return Evidence(f"{node.path} {node.mode} {owner}:{group}", "/dev")


CHECK = Check("driver-user", _run, needs=("driver-installed",), devices=("npu",))
