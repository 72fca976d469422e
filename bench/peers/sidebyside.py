#!/usr/bin/env python3
"""Runs Pinscope and PyTorch in turn on one machine and prints one table with ratios.

    python3 bench/peers/sidebyside.py --pinscope ./pinscope-cuda [--rounds 3] [--json FILE]

Each round runs every line of the table once with each program, so that what the machine does over time hits both alike. A
figure is the median over the rounds, a ratio the median of the rounds' ratios. It needs PyTorch 2 with CUDA, one GPU and a
Pinscope built with -tags cuda,headless.
"""

import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MEMORY = ["--source", "cached", "--samples", "1000", "--batch", "64", "--epochs", "20", "--keep-workers", "--non-blocking",
          "--copy-stream", "dedicated", "--device", "cuda:0", "--repeats", "3", "--warmup", "1", "--risk-memory"]
ARTICLE = ["--preset", "article", "--device", "cuda:0", "--repeats", "2", "--warmup", "1"]

# Name, Pinscope's arguments, start and end of the names in peers.py that it stands against: the best of them.
LINES = [
    ("the article's script, pin off", [*ARTICLE, "--pin", "off", "--no-non-blocking"], "article pin off", ""),
    ("the article's script, pinned, non_blocking", [*ARTICLE, "--pin", "thread"], "article pin on", ""),
    ("in memory, workers fill pinned slots", [*MEMORY, "--pin", "direct", "--workers", "12", "--prefetch", "1"], "hand-written loop", "step on"),
    ("in memory, the GPU gathers", [*MEMORY, "--pin", "dataset", "--workers", "1", "--prefetch", "4"], "hand-written loop", "step on"),
    ("in memory, as PyTorch's pin thread does", [*MEMORY, "--pin", "thread", "--workers", "4"], "DataLoader", ""),
]


def pinscope(program, arguments):
    """Samples a second of one run, the median of its repeats."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "result.json")
        subprocess.run([program, "run", *arguments, "--quiet", "--json", path], check=True, stdout=subprocess.DEVNULL)
        with open(path) as f:
            result = json.load(f)
    if result["simulated"]:
        sys.exit("sidebyside: the result is simulated; a real GPU is needed")
    return result["sides"][0]["samples_per_s"]["median"], result


def peers(parts, seconds):
    """All results of peers.py for some parts, name to samples a second."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "peers.json")
        subprocess.run([sys.executable, os.path.join(HERE, "peers.py"), "--only", parts, "--repeats", "2", "--seconds",
                        str(seconds), "--workers", "0,4,8", "--threads", "8,12", "--out", path], check=True)
        with open(path) as f:
            document = json.load(f)
    return {r["name"]: r["samples_per_s"] for r in document["results"] if "samples_per_s" in r}, document


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--pinscope", required=True, help="the program, built with -tags cuda,headless")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--seconds", type=float, default=0.5, help="of each PyTorch repeat")
    p.add_argument("--json", help="file for all figures")
    o = p.parse_args()
    ours, theirs, ratios, best = {}, {}, {}, {}
    for round_ in range(o.rounds):
        results, document = peers("article,loop,dataloader", o.seconds)
        for name, arguments, start, end in LINES:
            rate, result = pinscope(o.pinscope, arguments)
            fastest = max((n for n in results if n.startswith(start) and n.endswith(end)), key=results.get)
            ours.setdefault(name, []).append(rate)
            theirs.setdefault(name, []).append(results[fastest])
            ratios.setdefault(name, []).append(rate / results[fastest])
            best[name] = fastest
            print("round %d: %s: %.0f against %.0f (%s)" % (round_ + 1, name, rate, results[fastest], fastest), file=sys.stderr, flush=True)
    print("%s, driver %s, %s, %d CPUs, PyTorch %s, %s" % (
        result["device"]["name"], result["device"].get("driver", "n/a"), result["host"].get("cpu", platform.processor()),
        result["host"]["cpus"], document["version"], datetime.date.today().isoformat()))
    print()
    print("| samples/s | Pinscope | PyTorch | ratio | PyTorch's best of these |\n|---|---|---|---|---|")
    for name, *_ in LINES:
        print("| %s | %s | %s | %.2f | %s |" % (name, format(round(statistics.median(ours[name])), ","),
                                               format(round(statistics.median(theirs[name])), ","), statistics.median(ratios[name]), best[name]))
    if o.json:
        with open(o.json, "w") as f:
            json.dump({"ours": ours, "theirs": theirs, "ratios": ratios, "peers": document, "pinscope": result["tool"]}, f, indent=1)


if __name__ == "__main__":
    main()
