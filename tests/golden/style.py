"""Is emitted Metal laid out as written by hand? Four blanks a brace, eight or more for what goes on, no line over 100 columns in a
kernel, no blanks at the end of a line or two in a row.

    python3 tests/golden/style.py BUILD FOLDERS...
"""
import concurrent.futures, os, re, subprocess, sys

COLUMNS = 100


def without_text(line):
    """The code of a line: no strings, no comment."""
    return re.sub(r'//.*', '', re.sub(r'"(\\.|[^"\\])*"', '""', line)).rstrip()


def findings(text):
    """(line, what is wrong with it)"""
    depth = parens = 0
    goes_on = in_kernel = in_table = is_short = False
    for number, line in enumerate(text.split('\n'), 1):
        here, code = len(line) - len(line.lstrip()), without_text(line).lstrip()
        if line != line.rstrip() or '\t' in line:
            yield number, 'blanks at the end, or a tab'
        if not line.strip():
            continue
        in_kernel |= line.startswith('kernel void')
        if in_kernel and len(line) > COLUMNS:
            yield number, f'{len(line)} columns'
        inside = depth - (len(code) - len(code.lstrip('}')))
        if in_table or not inside or code == '{':
            if not inside and not goes_on and not parens and here:
                yield number, 'set in, outside of everything'
        elif goes_on or parens > 0:
            if here < 4 * inside + (4 if is_short else 8):
                yield number, 'what goes on is set in too little'
        elif here != 4 * inside:
            yield number, f'set in by {here} in {inside} braces'
        if in_kernel and re.search(r'\S  +\S', re.sub(r'^\s*(device|constant|threadgroup|thread|uint3?|u?short|int)\b.*\[\[.*', '', code)):
            yield number, 'two blanks in a row'
        depth += code.count('{') - code.count('}')
        parens += code.count('(') - code.count(')')
        if code and not code.startswith('#'):
            goes_on = not code.endswith((';', '{', '}', ':'))
            is_short = code.startswith(('if ', 'else')) and code.endswith((')', 'else'))  # one statement, without braces
        in_table = depth > 0 and (in_table or code.endswith('{') and '=' in code or re.search(r'= \{[^}]*$', code) is not None)
        if depth == 0:
            in_table = in_kernel = False


def check(job):
    build, path = job
    run = subprocess.run([os.path.join(build, 'tmetal'), 'compile', path], capture_output=True, text=True)
    return [] if run.returncode else [(path, *found) for found in findings(run.stdout)]


def main():
    build, folders = sys.argv[1], sys.argv[2:]
    files = [os.path.join(d, n) for d in folders for n in sorted(os.listdir(d)) if n.endswith(('.ttir', '.json'))]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = [f for each in pool.map(check, [(build, f) for f in files]) for f in each]
    for path, line, what in found[:40]:
        print(f'{path}: line {line} of its Metal: {what}')
    print(f'style: {len(files)} files, {len(found)} lines not as they should be')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
