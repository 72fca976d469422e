#!/usr/bin/env python3
"""What PyTorch reaches on this machine at the work that Pinscope does.

Prints one JSON document; see README.md. Needs PyTorch 2.x with CUDA and one GPU.
Rates are samples per second of wall time; GB/s are 1e9 bytes a second.
"""

import argparse
import datetime
import json
import os
import platform
import queue
import statistics
import sys
import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset, Sampler

CLASSES = 10
PARTS = ("article", "dataloader", "loop", "copy", "step")
GPU = "cuda"


class Drawn(Dataset):
    """The article's data set: each sample is drawn when it is asked for."""

    def __init__(self, samples, shape):
        self.samples, self.shape = samples, shape

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        return torch.randn(self.shape), torch.randint(0, CLASSES, ()).item()


class InMemory(Dataset):
    """Samples already in memory, given one by one and collated by the DataLoader."""

    def __init__(self, data, labels):
        self.data, self.labels = data, labels

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        return self.data[index], self.labels[index]


class InMemoryBatched(InMemory):
    """The same, a whole batch at a time: the DataLoader asks __getitems__."""

    def __getitems__(self, indices):
        indices = torch.as_tensor(indices)
        return self.data[indices], self.labels[indices]


def as_it_is(batch):
    """Collates a batch that is one already (a named function: workers may pickle it)."""
    return batch


class Endless(Sampler):
    """One shuffled epoch after the other, so that a measurement ends by its
    time and starting workers anew is not part of it."""

    def __init__(self, samples):
        self.samples = samples

    def __iter__(self):
        generator = torch.Generator().manual_seed(0)
        while True:
            yield from torch.randperm(self.samples, generator=generator).tolist()


class Trainer:
    """The training step: Linear, cross entropy, SGD at 0.01."""

    def __init__(self, features):
        self.model = torch.nn.Linear(features, CLASSES).to(GPU)
        self.loss = torch.nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)

    def step(self, data, labels):
        self.optimizer.zero_grad()
        self.loss(self.model(data.flatten(1)), labels).backward()
        self.optimizer.step()


def summary(name, settings, repeats):
    """One result: the median of the repeats' rates, and the repeats."""
    rates = [r["samples_per_s"] for r in repeats]
    return {"name": name, "settings": settings, "samples_per_s": statistics.median(rates), "repeats": repeats}


def rate(samples, seconds):
    return {"samples": samples, "wall_s": seconds, "samples_per_s": samples / seconds}


def article(o):
    """The article's script as it is: two epochs, workers started in each."""
    for pin in (False, True):
        repeats = []
        for _ in range(o.repeats):
            loader = DataLoader(Drawn(o.samples, o.shape), batch_size=o.batch, shuffle=True,
                                num_workers=o.article_workers, pin_memory=pin)
            trainer = Trainer(o.features)
            trainer.step(torch.zeros((o.batch, *o.shape), device=GPU), torch.zeros(o.batch, dtype=torch.int64, device=GPU))
            torch.cuda.synchronize()  # the libraries are loaded by now
            start = time.perf_counter()
            for _ in range(2):
                for data, labels in loader:
                    trainer.step(data.to(GPU, non_blocking=pin), labels.to(GPU, non_blocking=pin))
            torch.cuda.synchronize()
            repeats.append(rate(2 * o.samples, time.perf_counter() - start))
        yield summary("article pin " + on_off(pin), {"workers": o.article_workers, "pin_memory": pin, "epochs": 2}, repeats)


def dataloader(o):
    """DataLoader over samples in memory, its workers kept, with the step."""
    data, labels = memory(o)
    for batched in (False, True):
        for workers in o.workers:
            for pin in (False, True):
                yield dataloader_once(o, data, labels, batched, workers, pin)


def dataloader_once(o, data, labels, batched, workers, pin):
    kind = InMemoryBatched if batched else InMemory
    loader = DataLoader(kind(data, labels), batch_size=o.batch, sampler=Endless(o.samples), drop_last=True,
                        num_workers=workers, pin_memory=pin, collate_fn=as_it_is if batched else None)
    trainer = Trainer(o.features)
    batches = iter(loader)

    def run(enough):
        """Trains until enough(batches, seconds), and gives both."""
        done, start = 0, time.perf_counter()
        while not enough(done, time.perf_counter() - start):
            x, y = next(batches)
            trainer.step(x.to(GPU, non_blocking=pin), y.to(GPU, non_blocking=pin))
            done += 1
        torch.cuda.synchronize()
        return rate(done * o.batch, time.perf_counter() - start)

    # What the workers prepared while CUDA started (2 each, and the pin thread's) is not their pace.
    run(lambda done, _: done >= 3 * workers + 8)
    repeats = [run(lambda done, seconds: done > 0 and seconds >= o.seconds) for _ in range(o.repeats)]
    name = "DataLoader %s, %d workers, pin %s" % ("batched" if batched else "one by one", workers, on_off(pin))
    return summary(name, {"workers": workers, "pin_memory": pin, "batched": batched}, repeats)


def loop(o):
    """The best loop known to be written by hand: threads gather into a pinned
    ring, a copy stream of its own, two device slots or more."""
    data, labels = memory(o)
    threads_before = torch.get_num_threads()
    torch.set_num_threads(1)  # each gathering thread is one thread
    try:
        for threads in o.threads:
            for step in (False, True):
                repeats = [Loop(o, data, labels, threads, step).run() for _ in range(o.repeats)]
                yield summary("hand-written loop, %d threads, step %s" % (threads, on_off(step)),
                              {"threads": threads, "step": step, "ring_slots": threads + 2}, repeats)
    finally:
        torch.set_num_threads(threads_before)


class Loop:
    """One run of the hand-written loop. A host slot is refilled when the copy
    out of it is done, a device slot when the step on it is."""

    def __init__(self, o, data, labels, threads, step):
        self.o, self.data, self.labels, self.threads = o, data, labels, threads
        self.trainer = Trainer(o.features) if step else None
        shape = (o.batch, *o.shape)
        self.host = [(torch.empty(shape, pin_memory=True), torch.empty(o.batch, dtype=torch.int64, pin_memory=True))
                     for _ in range(threads + 2)]
        self.device = [(torch.empty(shape, device=GPU), torch.empty(o.batch, dtype=torch.int64, device=GPU))
                       for _ in range(3)]
        self.copied = [torch.cuda.Event() for _ in self.host]
        self.trained = [torch.cuda.Event() for _ in self.device]
        self.arrived = [torch.cuda.Event() for _ in self.device]
        self.copy_stream = torch.cuda.Stream()
        self.free = queue.Queue()
        for slot in range(len(self.host)):
            self.free.put(slot)
        self.indices = self.batches()
        self.lock = threading.Lock()
        self.next = 0
        self.ready = {}
        self.changed = threading.Condition()
        self.failure = None

    def batches(self):
        generator = torch.Generator().manual_seed(0)
        while True:
            yield from torch.randperm(self.o.samples, generator=generator).split(self.o.batch)[:self.o.samples // self.o.batch]

    def gather(self):
        try:
            while (slot := self.free.get()) is not None:
                self.copied[slot].synchronize()
                with self.lock:
                    number, indices = self.next, next(self.indices)
                    self.next += 1
                torch.index_select(self.data, 0, indices, out=self.host[slot][0])
                torch.index_select(self.labels, 0, indices, out=self.host[slot][1])
                with self.changed:
                    self.ready[number] = slot
                    self.changed.notify()
        except Exception as failure:  # the trainer raises it
            with self.changed:
                self.failure = failure
                self.changed.notify()

    def train(self, number):
        """Takes a batch in its order, copies it and queues the step on it."""
        with self.changed:
            self.changed.wait_for(lambda: number in self.ready or self.failure)
            if self.failure:
                raise self.failure
            slot = self.ready.pop(number)
        at = number % len(self.device)
        with torch.cuda.stream(self.copy_stream):
            self.copy_stream.wait_event(self.trained[at])
            for to, source in zip(self.device[at], self.host[slot]):
                to.copy_(source, non_blocking=True)
            self.copied[slot].record()
            self.arrived[at].record()
        self.free.put(slot)
        compute = torch.cuda.current_stream()
        compute.wait_event(self.arrived[at])
        if self.trainer:
            self.trainer.step(*self.device[at])
        self.trained[at].record()

    def run(self):
        threads = [threading.Thread(target=self.gather, daemon=True) for _ in range(self.threads)]
        for thread in threads:
            thread.start()
        warmup = 2 * len(self.host) + 8
        for number in range(warmup):
            self.train(number)
        torch.cuda.synchronize()
        number, start = warmup, time.perf_counter()
        while number == warmup or time.perf_counter() - start < self.o.seconds:
            self.train(number)
            number += 1
        torch.cuda.synchronize()
        seconds = time.perf_counter() - start
        for _ in threads:
            self.free.put(None)
        for thread in threads:
            thread.join()
        return rate((number - warmup) * self.o.batch, seconds)


def copy(o):
    """Raw copies of 64 MiB, 16 in a row, as nvbandwidth does them."""
    size, copies = 64 << 20, 16
    device = torch.empty(size, dtype=torch.uint8, device=GPU)
    for pinned in (True, False):
        host = torch.ones(size, dtype=torch.uint8, pin_memory=pinned)
        for direction, to, source in (("HtoD", device, host), ("DtoH", host, device)):
            repeats = []
            for n in range(o.repeats + 1):
                begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                torch.cuda.synchronize()
                start = time.perf_counter()
                begin.record()
                for _ in range(copies):
                    to.copy_(source, non_blocking=True)
                end.record()
                called = time.perf_counter() - start
                torch.cuda.synchronize()
                wall = time.perf_counter() - start
                seconds = begin.elapsed_time(end) / 1000  # elapsed_time gives milliseconds
                if n > 0:  # the first wakes the link
                    repeats.append({"gb_per_s": size * copies / seconds / 1e9, "device_s": seconds,
                                    "wall_s": wall, "host_blocked_s": called})
            yield {"name": "copy %s %s" % (direction, "pinned" if pinned else "pageable"),
                   "settings": {"bytes": size, "copies": copies, "statistic": "median"},
                   "gb_per_s": statistics.median(r["gb_per_s"] for r in repeats), "repeats": repeats}


def step(o):
    """The step alone, on a batch that lies on the device: as it is called, and
    the device's own time. For the latter the stream is held up while the steps
    are queued, so that launching them is not part of it."""
    trainer = Trainer(o.features)
    data = torch.randn((o.batch, *o.shape), device=GPU)
    labels = torch.randint(0, CLASSES, (o.batch,), device=GPU)
    steps = 20  # some 20 launches each: more would fill the launch queue, 1024 deep, and wait there
    repeats = []
    for n in range(o.repeats + 1):
        torch.cuda.synchronize()
        start, done = time.perf_counter(), 0
        while done == 0 or time.perf_counter() - start < o.seconds:
            for _ in range(steps):
                trainer.step(data, labels)
            torch.cuda.synchronize()
            done += steps
        wall = (time.perf_counter() - start) / done
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(400_000_000)  # clock cycles: 0.2 s at 2 GHz, ten times what queueing takes
        begin.record()
        for _ in range(steps):
            trainer.step(data, labels)
        end.record()
        held = not begin.query()
        torch.cuda.synchronize()
        if n > 0:  # the first compiles and allocates
            # Without the hold the figure would be the launching's: left out then.
            device = begin.elapsed_time(end) * 1000 / steps if held else None
            repeats.append({"wall_us": wall * 1e6, "device_us": device})
    devices = [r["device_us"] for r in repeats if r["device_us"] is not None]
    yield {"name": "step", "settings": {"steps": steps},
           "wall_us": statistics.median(r["wall_us"] for r in repeats),
           "device_us": statistics.median(devices) if devices else None, "repeats": repeats}


def memory(o):
    """The samples, drawn once and kept for all parts that need them."""
    if not hasattr(o, "memory"):
        generator = torch.Generator().manual_seed(0)
        o.memory = (torch.randn((o.samples, *o.shape), generator=generator),
                    torch.randint(0, CLASSES, (o.samples,), generator=generator))
    return o.memory


def on_off(value):
    return "on" if value else "off"


def numbers(text):
    return [int(part) for part in text.split(",")]


def shape(text):
    return tuple(int(part) for part in text.split("x"))


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--only", default=",".join(PARTS), help="parts to run, of %s" % ",".join(PARTS))
    p.add_argument("--seconds", type=float, default=2, help="of each repeat; the article's script and the copies have a fixed amount of work")
    p.add_argument("--repeats", type=int, default=3)
    p.add_argument("--samples", type=int, default=1000)
    p.add_argument("--shape", type=shape, default=(3, 224, 224))
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--article-workers", type=int, default=4)
    p.add_argument("--workers", type=numbers, default=[0, 1, 2, 4, 8, 16], help="of the DataLoader over samples in memory")
    p.add_argument("--threads", type=numbers, default=[4, 8, 12], help="of the hand-written loop")
    p.add_argument("--out", help="file for the JSON; standard output if not given")
    o = p.parse_args()
    o.only = o.only.split(",")
    for part in o.only:
        if part not in PARTS:
            p.error("--only %s: not one of %s" % (part, ", ".join(PARTS)))
    if o.repeats < 1 or o.seconds <= 0 or not 1 <= o.batch <= o.samples:
        p.error("--repeats and --seconds must be above 0, --batch from 1 to --samples")
    if not torch.cuda.is_available():
        p.error("PyTorch finds no GPU")
    o.features = 1
    for side in o.shape:
        o.features *= side
    return o


def main():
    o = options()
    results = []
    for part in o.only:
        for result in globals()[part](o):
            result["settings"].update(batch=o.batch, shape=list(o.shape), dtype="float32", samples=o.samples)
            results.append(result)
            figures = {k: v for k, v in result.items() if k not in ("name", "settings", "repeats")}
            print(result["name"], figures, file=sys.stderr, flush=True)
    document = {
        "tool": "pytorch", "version": torch.__version__, "cuda": torch.version.cuda, "simulated": False,
        "device": torch.cuda.get_device_name(), "host": {"system": platform.platform(), "cpus": len(os.sched_getaffinity(0))},
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "command": " ".join([os.path.basename(sys.argv[0]), *sys.argv[1:]]), "results": results,
    }
    out = open(o.out, "w") if o.out else sys.stdout
    json.dump(document, out, indent=1)
    print(file=out)


if __name__ == "__main__":
    main()
