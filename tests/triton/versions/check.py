#!/usr/bin/env python3
"""The kernels of kernels.py compile from source, and the IR is what Triton's front end made of them (recorded.txt).

    python3 tests/triton/versions/check.py TMETAL

Equal as tests/triton/compare.py has it. Exit code 1 unless all compile and 98 % are equal in each version.
"""

import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import compare  # noqa: E402
import record  # noqa: E402

OURS = "// ---- after calls ----\n"


def words(name, args, consts, version):
    return [str(HERE / "kernels.py"), "--kernel", name, "--triton", version, "--option", "sanitize_overflow=False",
            *(["--args", args] if args else []), *(["--const", consts] if consts else [])]


def judged(tmetal, folder, call, version, text):
    """What is wrong, or None."""
    name, _, args, consts = call
    run = subprocess.run([tmetal, "compile", *words(name, args, consts, version), "--debug"], capture_output=True, text=True)
    if run.returncode:
        return f"refused\n{run.stderr[run.stderr.rfind('error'):]}"
    if text is None:
        return None
    path = Path(folder, f"{name}-{version}.ttir")
    path.write_text(text, encoding="utf-8")
    want, problem = compare.after_calls(tmetal, [str(path)])
    if want is None:
        return f"recorded text: {problem}"
    have = compare.normal(run.stderr[run.stderr.index(OURS) + len(OURS):].split("\n// ---- ", 1)[0])
    if have == compare.normal(want):
        return None
    line, a, b = compare.first_difference(have, compare.normal(want))
    return f"line {line}\n  have {a}\n  want {b}"


def main():
    tmetal, bad, total = sys.argv[1], {}, {}
    recorded = {}
    for section in (HERE / "recorded.txt").read_text(encoding="utf-8").split("=== ")[1:]:
        head, _, text = section.partition("\n")
        recorded[tuple(head.split())] = text
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        jobs = [(call[0], version, pool.submit(judged, tmetal, folder, call, version, recorded.get((call[0], version))))
                for call in record.calls() for version in call[1]]
        for name, version, job in jobs:
            total[version] = total.get(version, 0) + 1
            if job.result():
                bad.setdefault(version, []).append(name)
                print(f"{name}, Triton {version}: {job.result()}")
    for version, count in sorted(total.items()):
        print(f"Triton {version}: {count - len(bad.get(version, []))} of {count} kernels as Triton has them")
    return int(any(len(names) > 0.02 * total[version] for version, names in bad.items()))


if __name__ == "__main__":
    sys.exit(main())
