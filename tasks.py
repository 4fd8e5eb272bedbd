"""The face of Paddock: thin Invoke tasks that parse, call and print.

Nothing heavy is imported here: what a task needs is imported when it runs.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from invoke.collection import Collection
from invoke.context import Context

HERE = Path(__file__).resolve().parent
if sys.path[0] != str(HERE):
    sys.path.insert(0, str(HERE))  # in an installed wheel these packages lie below `paddock/`

from provision.called import called  # noqa: E402
from provision.console import command  # noqa: E402
from provision.program import Paddock  # noqa: E402
from provision.several import gather, pair  # noqa: E402


@command
def provision(
    _: Context, target: str = "auto", release: str = "", stack: str = "", dry_run: bool = False,
    json: bool = False, yes: bool = False, from_: str = "", only: str = "", offline: bool = False,
    ca_bundle: str = "", index_url: str = "", jobs: str = "", undo: bool = False, deps: str = "",
    unsupported_os: bool = False, accept_eula: str = "", in_: str = "host", image: str = "",
    cards: str = "", privileged: bool = False, name: str = "", plugin_source: str = "",
    plugin_ref: str = "", ops_source: str = "", rehearse: bool = False,
    volume: list[str] | None = None,
) -> int:  # fmt: skip
    """Bring this machine to a verified stack."""
    given = locals()
    if rehearse:
        from checks import rehearsal

        ours = ("_", "target", "rehearse")
        return rehearsal.rehearse(target, {k: v for k, v in given.items() if k not in ours})
    from checks import bring
    from provision.arguments import options
    from provision.container.where import where

    chosen = options(
        target, release, stack, from_, only, offline, ca_bundle, index_url, jobs, deps=deps,
        unsupported_os=unsupported_os, accept_eula=accept_eula, plugin_source=plugin_source,
        plugin_ref=plugin_ref, ops_source=ops_source,
    )  # fmt: skip
    choices = {"image": image, "cards": cards, "name": name, "volume": ",".join(volume or [])}
    if where(in_, {**choices, "privileged": privileged}) == "container":
        from checks import containers

        wanted = containers.place(chosen, choices, privileged=privileged)
        if undo:
            return containers.down(chosen.target, json=json, dry_run=dry_run)
        return containers.provision(wanted, dry_run=dry_run, yes=yes, json=json)
    if undo:
        return bring.undo(chosen, yes=yes, json=json, dry_run=dry_run)
    if dry_run:
        return bring.dry_run(chosen, json=json)
    return bring.provision(chosen, yes=yes, json=json)


@command
def build_ops(
    _: Context, backend: str = "auto", release: str = "", stack: str = "", json: bool = False,
    yes: bool = False, offline: bool = False, ca_bundle: str = "", index_url: str = "",
    jobs: str = "", source: str = "", ref: str = "", python: str = "", paddle: str = "",
    in_: str = "", image: str = "", matrix: bool = False,
) -> int:  # fmt: skip
    """Build the plugin wheels of a backend."""
    from checks import build
    from provision.arguments import options
    from provision.wheels.order import orders

    name = None if stack else build.recipe_of(backend)
    own = {"source": source, "ref": ref, "python": python, "paddle": paddle, "in": in_,
           "image": image}  # fmt: skip
    chosen = options(
        "loopback" if name else backend, release, stack, offline=offline, ca_bundle=ca_bundle,
        index_url=index_url, jobs=jobs, flag="backend",
    )  # fmt: skip
    asked = orders(name, own, chosen, is_counted=bool(jobs), matrix=matrix)
    if matrix:
        return build.matrix(asked, json=json)
    if asked:
        return build.by_recipe(asked[0], json=json)
    return build.wheels(chosen, yes=yes, json=json)


@command
def smoke(
    _: Context, target: str = "auto", level: str = "all", text: str = "", window: str = "",
    json: bool = False, diagnose: str = "", dry_run: bool = False, recipe: str = "",
    cards: str = "", max_steps: str = "", checkout: str = "", list_: bool = False,
    device: str = "",
) -> int:  # fmt: skip
    """Prove that the installed stack computes correctly, on the device it claims."""
    from checks import prove
    from checks.launch.wish import refuse_alone, refuse_mixed
    from provision.arguments import count, named

    refuse_alone({"--window": window}, {"--text": text})
    own = {"--dry-run": dry_run, "--recipe": recipe, "--cards": cards, "--max-steps": max_steps,
           "--checkout": checkout}  # fmt: skip
    apart = {"--text": text, "--level": level != "all", "--device": device, **own}
    if diagnose:
        from checks.judge import diagnose as judging

        refuse_mixed({"--diagnose": diagnose, "--list": list_, **apart})
        return judging.diagnose(diagnose, "" if target == "auto" else named(target), json=json)
    if list_:
        from checks.smoke import listing

        refuse_mixed({"--list": list_, **apart})
        return listing.listing(named(target), json=json)
    if text:
        refuse_mixed(apart)
        tokens = count("--window", window or "512", lowest=2)
        return prove.evaluate(named(target), Path(text), tokens, json=json)
    if any(own.values()) or prove.launched(named(target), level):
        from checks.launch import command as launching
        from checks.launch.wish import wish

        refuse_mixed({"--device": device, "--level": level, **own})
        wanted = wish(named(target), level, recipe, cards, max_steps, checkout)
        return (launching.dry_run if dry_run else launching.run)(wanted, json=json)
    return prove.levels(named(target), level, device, json=json)


@command
def doctor(
    _: Context, target: str = "auto", json: bool = False, fresh: bool = False,
    strict: bool = False, lang: str = "", list_: bool = False, snapshot: str = "",
    from_: str = "", compare: list[str] | None = None, junit: str = "", sarif: str = "",
    container: str = "", env: str = "", html: str = "", fix: bool = False, yes: bool = False,
) -> int:  # fmt: skip
    """Say what this machine is, what is wrong, and what to type."""
    from checks.doctor import visit
    from provision.arguments import ALIASES

    visit.speak(lang)
    named = {"target": "" if target == "auto" else ALIASES.get(target, target), "from": from_}
    files = {"snapshot": snapshot, "junit": junit, "sarif": sarif, "html": html}
    visit.refuse_mixed({
        "list": list_, "compare": compare, "fresh": fresh, "strict": strict, "container": container,
        "env": env, "fix": fix, "yes": yes, "json": json, **named, **files,
    })  # fmt: skip
    if list_:
        return visit.catalogue(json=json)
    if compare:
        return visit.compare(compare, json=json)
    asked = partial(visit.examine, named["target"], from_, container=container, env=env, json=json)
    report, fixed = asked(fresh=fresh), None
    if fix:
        report, fixed = visit.mend(report, partial(asked, fresh=False), yes=yes, json=json)
    return visit.tell(report, files, json=json, strict=strict, fixed=fixed)


@command
def history(
    _: Context, target: str = "auto", compare: list[str] | None = None, json: bool = False,
) -> int:  # fmt: skip
    """List the runs of the smoke tests on this machine, or compare two of them."""
    from checks.runs import telling
    from provision.arguments import named

    return telling.history(named(target), compare or [], json=json)


@command
def report(
    _: Context, target: str = "auto", html: str = "", junit: str = "", json: bool = False,
) -> int:  # fmt: skip
    """Write the runs of the smoke tests, the steps and the machine as one page."""
    from checks.runs import page
    from provision.arguments import named

    return page.report(named(target), html, junit, json=json)


@command
def read(_: Context, files: str, json: bool = False) -> int:
    """Tell what a saved tool output is, and show what it says."""
    from checks.saved import show_files

    return show_files(files, json=json)


@command
def explain(_: Context, logs: str, list_: bool = False, json: bool = False) -> int:
    """Say what a log's failure is, what caused it, and what to do."""
    from checks import explain
    from provision.several import split

    return explain.catalogue(json=json) if list_ else explain.explain(split(logs), json=json)


@command
def verify_wheel(
    _: Context, files: str, target: str = "auto", env: str = "", import_: bool = True,
    json: bool = False,
) -> int:  # fmt: skip
    """Say whether plugin wheels are sound, fit here, and load."""
    from checks.wheels import verify
    from provision.several import split

    return verify.verify(split(files), target, env, importing=import_, json=json)


@command
def targets(_: Context, json: bool = False) -> int:
    """List the targets, their releases, and what is known about each."""
    from provision.releases import tell

    return tell(json=json)


@command
def render(
    _: Context, target: str = "auto", as_: str = "", release: str = "", stack: str = "",
    image: str = "", base: str = "", builder: str = "", syntax: str = "", cards: str = "",
    machine: str = "", home: str = "", secrets: str = "", privileged: bool = False,
    volume: list[str] | None = None,
) -> int:  # fmt: skip
    """Print a target as a Dockerfile, a script, or what starts a container of it."""
    from checks import forms
    from provision.arguments import options

    choices = {"image": image, "base": base, "builder": builder, "syntax": syntax, "cards": cards,
               "machine": machine, "home": home, "secrets": secrets,
               "volume": ",".join(volume or [])}  # fmt: skip
    return forms.render(options(target, release, stack), as_, choices, privileged=privileged)


@command
def image(
    _: Context, target: str = "auto", release: str = "", stack: str = "", base: str = "",
    image: str = "", builder: str = "", deps: str = "", ca_bundle: str = "", index_url: str = "",
    json: bool = False,
) -> int:  # fmt: skip
    """Build the image of a target with the container engine that is here."""
    from checks import forms
    from provision.arguments import options

    chosen = options(target, release, stack, ca_bundle=ca_bundle, index_url=index_url, deps=deps)
    return forms.image(chosen, {"base": base, "image": image, "builder": builder}, json=json)


@command
def shell(_: Context, target: str = "auto", command: str = "") -> int:
    """Open a shell in the container of a target."""
    from checks import containers

    return containers.shell(target, command)


@command
def status(_: Context, json: bool = False) -> int:
    """Show the containers that provision has made, and what was cut short."""
    from checks import containers

    return containers.status(json=json)


@command
def down(_: Context, target: str = "auto", json: bool = False) -> int:
    """Remove the container of a target."""
    from checks import containers

    return containers.down(target, json=json)


@command
def fit(
    _: Context, model: str = "", target: str = "auto", train: bool = False, infer: bool = False,
    batch: str = "", seq: str = "", dtype: str = "", tp: str = "", pp: str = "", cards: str = "",
    sharding: str = "", sharding_degree: str = "", sequence_parallel: bool = False,
    recompute: str = "", lora: str = "", kv_bits: str = "", kernels: str = "", card: str = "",
    ecc: str = "", json: bool = False,
) -> int:  # fmt: skip
    """Say whether a model fits into the memory of a target's cards."""
    from checks.fit import command as fitting
    from provision.arguments import named

    flags = {
        "model": model, "train": train, "infer": infer, "batch": batch, "seq": seq, "dtype": dtype,
        "tp": tp, "pp": pp, "cards": cards, "sharding": sharding, "recompute": recompute,
        "sharding_degree": sharding_degree, "sequence_parallel": sequence_parallel, "lora": lora,
        "kv_bits": kv_bits, "kernels": kernels, "card": card, "ecc": ecc,
    }  # fmt: skip
    return fitting.fit(named(target), flags, json=json)


@command
def tune(
    _: Context, config: str = "", target: str = "s60", tp: str = "1", without: str = "",
    undo: bool = False, json: bool = False,
) -> int:  # fmt: skip
    """Switch the fused operators on in a Llama model's config.json, or off again."""
    from checks import tune as tuning
    from provision.arguments import count, named

    return tuning.tune(named(target), config, count("--tp", tp), without, undo=undo, json=json)


@command
def data(_: Context, files: str, json: bool = False) -> int:
    """Say which lines of a file of training examples cannot be used, and why."""
    from checks.training_data.command import data as examine
    from provision.several import split

    return examine(split(files), json=json)


@command
def checkpoint(_: Context, files: str, json: bool = False) -> int:
    """Say whether the files of a model folder are whole."""
    from checks.checkpoint.command import checkpoint as examine
    from provision.several import split

    return examine(split(files), json=json)


@command
def lock(_: Context, target: str = "loopback", release: str = "", stack: str = "") -> int:
    """Resolve the pins of a target and write its lock files."""
    from provision.arguments import options
    from provision.console import show
    from provision.engine import write_locks

    chosen = options(target, release, stack)
    for path in write_locks(chosen):
        show(str(path))
    return 0


@command
def lab(_: Context, action: str, target: str = "", variant: str = "") -> int:
    """Simulated vendor machines, to rehearse on before touching the real one."""
    from checks import rehearsal

    return rehearsal.lab(action, target, variant)


@command
def test(_: Context, fast: bool = False, again: bool = False, select: str = "") -> int:
    """Run the project's own tests."""
    from provision.console import run_tool

    if again:  # one by one, without others beside them
        return run_tool("pytest", "--last-failed", "--last-failed-no-failures", "none", "-x")
    # A file stays on one of the two processes: its tests may share a machine or a home. The slow
    # ones come first, in the order that tests/conftest.py gives, so that both end together.
    spread = ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]
    chosen = [*spread, *(["-m", "not slow"] if fast else [])]
    return run_tool("pytest", *chosen, *(["-k", select] if select else []))


@command
def bench(_: Context, select: str = "") -> int:
    """Measure speed and memory against what a user would pick instead."""
    from provision.console import run_tool

    return run_tool("bench", *([select] if select else []))


namespace = Collection(
    provision, build_ops, smoke, doctor, history, report, read, explain, verify_wheel, targets,
    render, image, fit, tune, data, checkpoint, shell, status, down, lock, lab, test, bench,
)  # fmt: skip


def main() -> None:
    """The command `paddock`: Invoke with these tasks, wherever it is started."""
    program = Paddock(namespace=namespace, name="paddock", binary=called(), version="0.1.0")
    program.run(pair(gather(sys.argv)))


if __name__ == "__main__":
    main()
