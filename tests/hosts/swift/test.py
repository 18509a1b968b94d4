#!/usr/bin/env python3
"""What check.py must refuse, and by which words: launch code in Swift with one thing wrong.

    test.py TMETAL FOLDER        the command line, that writes the launch code; where there is room for a file
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check  # noqa: E402
import plan  # noqa: E402

# what stands there, what is put in its place (the first one), words of the error
WRONG = [
    ("let library = try device", "let library = device", "try is missing"),
    ("let made = try library", "let made = library", "try is missing"),
    ("try vector_add_gpu.pipeline(", "vector_add_gpu.pipeline(", "try is missing"),
    ("        try finish(", "        finish(", "try is missing"),
    ("let commands = try newCommands()", "let commands = try! newCommands()", "hide errors"),
    ("let queue = device.makeCommandQueue()", "let queue = try device.makeCommandQueue()", "nothing throws"),
    ("await withChecked", "withChecked", "await is missing"),
    ("async throws {", "throws {", "declared twice"),
    # of two forms, an async function calls the async one
    ("    private func newCommands()", "    func other(_ x: MTLBuffer) async throws {\n        try vector_add(programs: [1, 1, 1], x_ptr: x, y_ptr: x, "
     "out_ptr: x, n: 1)\n    }\n\n    private func newCommands()", "await is missing"),
    (") throws -> MTLCommandBuffer", ") -> MTLCommandBuffer", "nothing throws"),
    ("private func newCommands() throws ->", "private func newCommands() ->", "nothing throws"),
    ("= try newCommands()\n        try encode_vector_add(\n            commands, programs", "= newCommands()\n        try encode_vector_add(\n"
     "            commands, programs", "try is missing"),
    ("throw Failure(text: \"\\(name): Metal's library lacks it\")", "throw Failure(\"no\")", "no form (_:)"),
    ("        self.queue = queue\n", "", "init gives queue no value"),
    ("offset: x_ptr_offset, index: 0", "offset: x_ptr_offset, atIndex: 0", "no form (_:offset:atIndex:)"),
    ("index: 0)", "0)", "has no form"),
    ("threadsPerThreadgroup:", "threads:", "no form (_:threads:)"),
    ("MTLSize(width: x, height: y, depth: z)", "MTLSize(width: x, depth: z, height: y)", "has no form"),
    ("MTLSize(width: x, height: y, depth: z)", "MTLSizeMake(x, y, z)", "nothing is called MTLSizeMake"),
    ("device.makeBuffer(length", "device.newBuffer(length", "MTLDevice has no newBuffer"),
    ("setComputePipelineState(", "setComputePipeline(", "has no setComputePipeline"),
    ("library.makeFunction(name: name)", "library.makeFunction(name: nam)", "nothing is called nam"),
    ("guard let function = library", "let function = library", "expected the end of the statement"),
    ("guard let encoder = commands.makeComputeCommandEncoder() else {\n            throw Failure(text: \"Metal: no encoder\")\n        }",
     "let encoder = commands.makeComputeCommandEncoder()", "it is not unwrapped"),
    ("throw Failure(text: \"Metal: no encoder\")", "print(\"Metal: no encoder\")", "the else of guard goes on"),
    ("        return made\n    }\n\n    /// A buffer", "    }\n\n    /// A buffer", "does not return on every path"),
    ("let length = max(bytes, 4)", "let length = max(bytes, four)", "nothing is called four"),
    ("let length = max(bytes, 4)", "length = max(bytes, 4)", "nothing is called length"),
    ("let length = max(bytes, 4)", "let length: String = max(bytes, 4)", "wanted is String"),
    ("defer { encoder.endEncoding() }", "defer { encoder.endEncoding() ", "found the end"),
    ("        commands.commit()\n", "        commands.commit()\n        }\n", ""),
    ("\"Metal: no command buffer\"", "\"Metal: no command buffer", "the string does not end"),
    ("\\(name): Metal's", "\\(nom): Metal's", "nothing is called nom"),
    ("\\(name): Metal's", "\\q(name): Metal's", "no such escape"),
    ("        #include", "    #include", "left of the closing"),
    ("if #available(macOS 15, iOS 18, *)", "if #available(macOS 14, iOS 18, *)", "behind #available"),
    ("if #available(macOS 15, iOS 18, *) {\n            options.mathMode = .safe", "if true {\n            options.mathMode = .safe",
     "behind #available"),
    (".mathMode = .safe", ".mathMode = .secure", "has no secure"),
    ("fastMathEnabled = false", "fastMathEnabled = 0", "wanted is Bool"),
    ("options.languageVersion = version", "options.languageVersion = number", "wanted is MTLLanguageVersion"),
    ("guard let version = MTLLanguageVersion", "guard var version = MTLLanguageVersions", "nothing is called MTLLanguageVersions"),
    ("n: Int32)", "in: Int32)", "wants a name of its own"),
    ("n: Int32)", "n Int32)", "expected :"),
    ("_ programs: [Int32],", "_ programs: [UInt32],", "wanted is [UInt32]"),
    ("private let pipelines", "private let pipes", "has no pipelines"),
    ("one in one >= 0", "one in one", "wanted is Bool"),
    ("programs.contains(0) { return }", "programs.contains(0) { return 0 }", "return of a value"),
    ("setBytes(raw.baseAddress!,", "setBytes(raw.baseAddress,", "wanted is UnsafeRawPointer"),
    ("        withUnsafeBytes(of: value) { raw in\n", "        var value = value\n        encoder.setBytes(&value, length: 4, index: index)\n"
     "        withUnsafeBytes(of: value) { raw in\n", "may hold references"),
    ("        withUnsafeBytes(of: value) { raw in\n", "        encoder.setBytes(&value, length: 4, index: index)\n"
     "        withUnsafeBytes(of: value) { raw in\n", "cannot be changed"),
    ("try vector_add_gpu.pipeline(", "try Self.pipeline(", "name the class"),
    ("final class", "final klass", "expected a declaration"),
    ("        throw Failure(text: \"Metal: no command buffer\")", "        throw \"Metal: no command buffer\"", "wanted is Error"),
    ("commands.status == .completed", "commands.status == 4", "do not go together"),
    ("        self.queue = queue\n", "        self.queue = queue\n        device.makeCommandQueue()\n", "is not used"),
    ("for (i, one) in all.enumerated()", "for (i, one) in all", "2 names for"),
    ("let name: String\n", "let name: Text\n", "no type is called Text"),
    ("import Metal\n", "import Metal Foundation\n", "expected the end of the statement"),
]

# and what plan.py must see: the grammar of these is right. Kernel, more options, what stands there, what is put in its place
OTHER = [  # None: an op list
    ("examples/kernels/vector_add.ttir", [], [
        ("index: 2)", "index: 1)"), ("setBuffer(y_ptr, offset: y_ptr_offset", "setBuffer(x_ptr, offset: x_ptr_offset"),
        ("threads: 64)\n    }", "threads: 32)\n    }"), ("bind(encoder, n,", "bind(encoder, programs[0],"), ("_ n: Int32", "_ n: Int64"),
        ("Int(programs[0]), Int(programs[1])", "Int(programs[1]), Int(programs[0])"), ("1000 + 7", "1000 + 8"), ("3 << 16 + 0", "3 << 16 + 1"),
        ("\"vector_add\", threads: 64", "\"vector_add\", threads: 32")]),
    ("examples/kernels/row_sum.ttir", ["--two-stage", "4"], [
        ("        encoder.memoryBarrier", "        //"), ("16 * Self.count", "8 * Self.count"),
        ("setBuffer(scratch_0, offset: 0, index: 3)", "setBuffer(scratch_0, offset: 0, index: 2)"), ("encoder, 1, Int", "encoder, 0, Int"),
        ("Int(4)", "Int(programs[2])")]),
    ("tests/kernels/recorded/arguments-many_pointers.ttir", [], [
        ("put(p31_address, into: &bytes, at: 8)", "put(p32_address, into: &bytes, at: 8)"), ("into: &bytes, at: 16)", "into: &bytes, at: 24)"),
        ("length: 64, index: 30", "length: 56, index: 30"), ("put(n, into", "put(p30_address, into")]),
    (None, [], [("        encoder.memoryBarrier", "        //"), ("Int(1), Int(1)", "Int(1), Int(2)")]),
    ("tests/metal/asserts.ttir", [], [("buffer(bytes: 65536)", "buffer(bytes: 4096)"), ("setBuffer(debug_0, offset: 0, index: 2)", "")]),
]


def judge(src):
    world = check.world([])
    try:
        check.Reader("mutant", src, check.Scope(world)).read()
    except check.Wrong as e:
        return str(e)
    return None


def other(src, facts):
    """Does the file do something else than its plan?"""
    try:
        return plan.differences(src, facts)
    except (ValueError, KeyError) as e:
        return str(e)


def main(tmetal, folder):
    def emit(kernel, *more, what="swift"):
        return subprocess.run([tmetal, "compile", kernel, "--emit", what, *more], check=True, stdout=subprocess.PIPE,
                              encoding="utf-8").stdout
    good = emit("examples/kernels/vector_add.ttir")
    bad = n = 0
    names, ops = os.path.join(check.HERE, "names.ttir"), os.path.join(folder, "ops.json")
    subprocess.run([tmetal, "sample-ops", "--large", "-o", ops], check=True)
    turned = os.path.join(folder, "turned.json")  # a name that would turn the direction of the text behind it
    with open(turned, "w", encoding="utf-8") as f:
        f.write('{"ops":[{"type":"exp","id":"y","inputs":["x\u202e"],"input_shapes":[[8]]}]}')
    said = judge(emit(turned))
    if said or "\u202e" in emit(turned) or "\\u{202E}" not in emit(turned).upper().replace("\\U", "\\u"):
        print("swift: a name that turns the text stands there as it is%s" % (": " + said if said else ""))
        bad += 1
    for what, src in [("vector_add", good), ("names", emit(names)), ("asserts", emit("tests/metal/asserts.ttir")), ("ops", emit(ops)), ("stages", emit(
            "examples/kernels/row_sum.ttir", "--two-stage", "4")), ("addresses", emit("tests/kernels/recorded/arguments-many_pointers.ttir"))]:
        said = judge(src)
        if said:
            print("swift: %s is refused: %s" % (what, said))
            bad += 1
    for old, new, words in WRONG:
        n += 1
        if old not in good:
            print("swift: launch code does not hold %r: the list of wrong files is out of date" % old)
            bad += 1
            continue
        said = judge(good.replace(old, new, 1))
        if said is None or words not in said:
            print("swift: %r for %r: %s" % (new, old, "is taken for right" if said is None else "says " + said))
            bad += 1
    for kernel, more, changes in OTHER:
        kernel = kernel or ops
        src = emit(kernel, *more)
        facts = json.loads(emit(kernel, *more, what="plan"))
        said = plan.differences(src, facts)
        if said:
            print("swift: %s: %s" % (kernel, said))
            bad += 1
        for old, new in changes:
            n += 1
            if old in src and other(src.replace(old, new, 1), facts): continue
            print("swift: %s: %r for %r %s" % (kernel, new, old, "is not seen" if old in src else "is out of date"))
            bad += 1
    print("swift: %d wrong files refused, %d failures" % (n, bad))
    return bad != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
