#!/usr/bin/env python3
"""Makes the table of list prices that is a part of the program, from the wheel of LiteLLM.

    scripts/prices.py [WHEEL] [--day YEAR-MONTH-DAY] [--out FOLDER]

Without WHEEL, pip downloads the newest one. It has a table of the prices of models, of which names and prices of text
models are kept: models that are paid by the token, with a price above 0 in both directions. LiteLLM also writes 0 where a
price is not known. The day is that of the prices, today unless it is given. The same wheel and day give the same bytes.

FOLDER, src/store/prices/listed unless it is given, gets two files: the table as a raw deflate stream of the JSON that
`toolyard import prices` writes, and LICENSE, LiteLLM's terms of use.
"""

import argparse
import datetime
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile
import zlib

TABLE = "litellm/model_prices_and_context_window_backup.json"
# As in src/store/prices/litellm.rs; embeddings have one direction only.
MODES = {"", "chat", "completion", "responses"}
DEAREST = 1e6
PRICES = {
    "price_in": "input_cost_per_token",
    "price_out": "output_cost_per_token",
    "price_cached": "cache_read_input_token_cost",
    "price_written": "cache_creation_input_token_cost",
}


def dollars(cost):
    """The price in dollars per million tokens; None if it is unknown, and an error if it is no price."""
    if cost is None:
        return None
    if isinstance(cost, bool) or not isinstance(cost, int | float) or not 0 <= cost <= DEAREST / 1e6:
        raise ValueError(cost)
    # To a billionth of a dollar, and without a fraction that says nothing.
    price = round(cost * 1e15) / 1e9
    return (int(price) if price == int(price) else price) or None


def entry(model):
    """What the table keeps of a model; None if it is none that is paid by the token."""
    provider = model.get("litellm_provider")
    if not isinstance(provider, str) or model.get("mode", "") not in MODES:
        return None
    try:
        prices = {ours: dollars(model.get(theirs)) for ours, theirs in PRICES.items()}
    except ValueError:
        return None
    if not prices["price_in"] or not prices["price_out"]:
        return None
    return {"provider": provider, **{name: price for name, price in prices.items() if price}}


def text(models, version, day):
    """The table: a line for each model, in the order of their names."""

    def compact(value):
        return json.dumps(value, separators=(",", ":"))

    head = {
        "source": f"LiteLLM {version}, model_prices_and_context_window.json",
        "licence": "MIT, Copyright (c) 2023 Berri AI",
        "imported": day,
        "unit": "US dollars per million tokens",
    }
    lines = [f"{compact(name)}:{compact(value)}" for name, value in head.items()]
    entries = [(name, entry(model)) for name, model in sorted(models.items()) if name != "sample_spec"]
    rows = [f"{compact(name)}:{compact(kept)}" for name, kept in entries if kept]
    return "{\n" + ",\n".join(lines) + ',\n"models":{\n' + ",\n".join(rows) + "\n}\n}\n", len(rows)


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser()
    parser.add_argument("wheel", nargs="?", type=pathlib.Path)
    parser.add_argument("--day", default=datetime.date.today().isoformat())
    parser.add_argument("--out", type=pathlib.Path, default=root / "src/store/prices/listed")
    options = parser.parse_args()
    day = datetime.date.fromisoformat(options.day).isoformat()
    with tempfile.TemporaryDirectory() as folder:
        wheel = options.wheel
        if wheel is None:
            pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", folder, "litellm"]
            subprocess.run(pip, check=True, stdout=sys.stderr)
            wheel = next(pathlib.Path(folder).glob("*.whl"))
        with zipfile.ZipFile(wheel) as files:
            models = json.loads(files.read(TABLE))
            licences = [name for name in files.namelist() if name.endswith("dist-info/licenses/LICENSE")]
            licence = files.read(licences[0])
    table, count = text(models, wheel.name.split("-")[1], day)
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(table.encode()) + packer.flush()
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "table.json.deflate").write_bytes(packed)
    (options.out / "LICENSE").write_bytes(licence)
    print(f"{count} models of {wheel.name}: {len(packed)} bytes, {len(table)} unpacked")


if __name__ == "__main__":
    main()
