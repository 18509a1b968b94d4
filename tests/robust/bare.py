"""The lines of digest --key --modes, by a program without libraries: bare.py RUNNER PROGRAM FILE-OR-DIRECTORY..."""
import os
import struct
import subprocess
import sys

files = []
for path in sys.argv[3:]:
    if os.path.isdir(path): files += [os.path.join(d, n) for d, _, names in os.walk(path.rstrip("/")) for n in names if n.endswith(".ttir")]
    elif path.endswith(".ttir"): files.append(path)
files.sort(key=os.fsencode)
texts = [open(f, "rb").read() for f in files]
sent = b"".join(struct.pack("<II", len(t), 1024 * len(t) + (1 << 21)) + t for t in texts)
out = subprocess.run([sys.argv[1], sys.argv[2]], input=sent, stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
if len(out) != 2 * len(files): sys.exit("bare: %u lines for %u files" % (len(out), len(files)))
for line, name in zip(out, [f for f in files for _ in range(2)]):
    h, code, key = line.split()
    print(h, "TM" + code, key, name)
