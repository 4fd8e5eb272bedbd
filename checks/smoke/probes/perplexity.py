"""The perplexity of any UTF-8 text under the smoke test's model, on one device.

python perplexity.py --device loopback --out result.jsonl --spec spec.json
"""

from __future__ import annotations

import math
from typing import Any

from llama import Llama, Plain, mean_loss, window_losses, windows
from report import Report, arguments, require
from target import Target
from weights import load, packaged


def evaluate(target: Target, report: Report, spec: dict[str, Any]) -> str:
    """Write the text's tokens, loss (mean -log p, in nats) and perplexity as figures."""
    wanted = spec["model"]
    model = load(packaged(wanted["package"], wanted["weights"], wanted["weights_sha256"]))
    ids = model.tokenizer.encode(spec["text"])
    report.write("figure", name="tokens", value=len(ids))
    require(len(ids) > 1, "too short: one token predicts nothing")
    parts = windows(ids, spec["window"])
    loss = mean_loss(window_losses(Llama(model, Plain()), parts, target.watch), parts)
    report.write("figure", name="loss", value=loss)
    report.write("figure", name="perplexity", value=math.exp(loss))
    return f"{len(ids)} tokens in {len(parts)} windows"


def main() -> None:
    """Evaluate the text; the result file says what came out."""
    given, spec = arguments(__doc__ or "")
    report = Report(given.out)
    target = Target(given.device, spec, report)
    if report.check("select", target.select):
        report.check("perplexity", lambda: evaluate(target, report, spec))
        target.prove()
    report.write("end")


if __name__ == "__main__":
    main()
