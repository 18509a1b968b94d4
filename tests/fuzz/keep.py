"""Keep what a run of `make fuzz` reached that the seeds do not: tests/fuzz/corpus/TARGET.tar.gz, of each thing the smallest input.

    keep.py BUILD TARGET...        with the libFuzzer programs of BUILD; what was kept before is merged in
"""
import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile

MOST = 300_000  # bytes of a target, before packing: `make test` runs them all


def merged(build, target):
    """The files of the corpus that reach something beyond the seeds, the smallest first."""
    seeds, all_of, corpus = (f"{build}/fuzzing/{d}/{target}" for d in ("seeds", "merged", "corpus"))
    shutil.rmtree(all_of, ignore_errors=True)
    os.makedirs(all_of)
    own = set()
    for name in os.listdir(seeds):
        if not name.startswith("kept-"): # those come again with what they reach
            shutil.copy(f"{seeds}/{name}", f"{all_of}/{name}")
            own.add(name)
    subprocess.run([f"{build}/fuzzing/lf/{target}", "-merge=1", "-timeout=10", "-rss_limit_mb=3000", "-max_len=8192", all_of, seeds, corpus],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))
    return sorted((os.path.getsize(f"{all_of}/{n}"), n) for n in os.listdir(all_of) if n not in own)


def pack(build, target, files):
    kept, total, raw = 0, 0, io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for size, name in files:
            if total + size > MOST: break
            total += size
            with open(f"{build}/fuzzing/merged/{target}/{name}", "rb") as f:
                info = tarfile.TarInfo(f"{kept:04}")
                info.size = size
                tar.addfile(info, f)
            kept += 1
    os.makedirs("tests/fuzz/corpus", exist_ok=True)
    with open(f"tests/fuzz/corpus/{target}.tar.gz", "wb") as out, gzip.GzipFile("", "wb", 9, out, mtime=0) as z:
        z.write(raw.getvalue())
    print(f"kept: {target}: {kept} of {len(files)} inputs beyond the seeds, {total} bytes, {os.path.getsize(f'tests/fuzz/corpus/{target}.tar.gz')} packed")


for t in sys.argv[2:]:
    pack(sys.argv[1], t, merged(sys.argv[1], t))
