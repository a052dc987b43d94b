"""What a person or an agent waits for: keys, answers through the proxy, calls through a relay."""

import statistics
import sys

from peers.common import ROOT

from .bench import Row, beside

sys.path.insert(0, str(ROOT / "scripts"))

import key_latency  # noqa: E402 (it is found by the line above)
import relay_latency  # noqa: E402
import watch_latency  # noqa: E402


def proxy(bench):
    """Milliseconds by which the first byte of an answer comes later."""
    requests, runs = (100, 3) if bench.quick else (500, 5)
    for kilobytes, most in watch_latency.SIZES.items():

        def added(program, kilobytes=kilobytes):
            direct, through, _ = watch_latency.compared(program.path, kilobytes, requests)
            return statistics.median(through) - statistics.median(direct)

        work = f"a request of {kilobytes} kB through `watch`, to the first byte, added"
        yield Row(work, "ms", **beside(bench.turns(added, runs)), most=most)


def relay(bench):
    """Milliseconds by which a call takes longer."""
    calls, runs = (200, 3) if bench.quick else (1000, 5)
    for size, most in relay_latency.SIZES.items():

        def added(program, size=size):
            with relay_latency.relays(program.path) as (plain, relayed):
                times = [relay_latency.compared(plain, relay, size, calls) for relay in relayed.values()]
            return max(statistics.median(behind) - statistics.median(direct) for direct, behind in times)

        work = f"a call of {size:,} bytes through a relay, added"
        yield Row(work, "ms", **beside(bench.turns(added, runs)), most=most)


def keys(bench):
    """Milliseconds from a key to the screen, of which 99 of 100 take fewer."""
    count, runs = (50, 1) if bench.quick else (100, 3)
    for conversations, most in ((0, 20), (1, 20), (20, 20), (200, None)):

        def late(program, conversations=conversations):
            times = key_latency.keys(program.path, conversations, count)
            return times[len(times) * 99 // 100] * 1e3

        beside_what = f"{conversations} conversation{'s' if conversations > 1 else ''} at full speed" if conversations else "toolyard's own agent"
        yield Row(f"a key beside {beside_what}, p99", "ms", **beside(bench.turns(late, runs)), most=most)
