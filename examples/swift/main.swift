/* In Swift: Triton IR compiled at run time by tmetal.h, which a module map shows to Swift, and launched.
 *
 *     cc -O2 -I. -c examples/swift/tmetal.c -o tmetal.o
 *     swiftc -I examples/swift -Xcc -I. examples/swift/main.swift tmetal.o -o app && ./app examples/kernels/vector_add.ttir
 *
 * An app that has its kernels beforehand needs no C: `tmetal compile FILE --emit swift` gives a Swift file.
 * Neither has been seen by Apple's compiler: the tests check the grammar, the names and the labels. */
import CTmetal
import Foundation

struct Failure: Error {
    let text: String
}

/// What a call says by its code, as a Swift error.
func must(_ code: tmetal_code, _ problem: tmetal_problem) throws {
    guard code != TMETAL_OK else { return }
    let text = withUnsafeBytes(of: problem.text) { bytes in
        String(decoding: bytes.prefix(while: { byte in byte != 0 }), as: UTF8.self)
    }
    throw Failure(text: "TM\(code.rawValue): \(text)")
}

func run(path: String, n: Int) throws -> Bool {
    let ttir = try Data(contentsOf: URL(fileURLWithPath: path))
    let size = tmetal_arena_bound(ttir.count) + 65536
    let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    // what C keeps the address of stands in memory of its own: `&variable` is good for one call alone
    let result = UnsafeMutablePointer<tmetal_result>.allocate(capacity: 1)
    let buffers = UnsafeMutablePointer<tmetal_buffer>.allocate(capacity: 3)
    var arena = tmetal_arena_on(memory, size)
    var problem = tmetal_problem()
    var metal: OpaquePointer? = nil
    var loaded: OpaquePointer? = nil
    var launch: OpaquePointer? = nil
    buffers.initialize(repeating: tmetal_buffer(), count: 3)
    defer {
        if launch != nil { tmetal_launch_free(launch) }
        for i in 0..<3 {
            if metal != nil { tmetal_buffer_free(metal, buffers + i) }
        }
        if loaded != nil { tmetal_unload(loaded) }
        if metal != nil { tmetal_metal_close(metal) }
        buffers.deallocate()
        result.deallocate()
        memory.deallocate()
    }

    let code = ttir.withUnsafeBytes { bytes in
        tmetal_compile(bytes.bindMemory(to: CChar.self).baseAddress, ttir.count, nil, &arena, result)
    }
    guard code == TMETAL_OK else {
        throw Failure(text: String(cString: tmetal_diag_text(result.pointee.diags, &arena)))
    }
    try must(tmetal_metal_open(nil, &arena, &metal, &problem), problem)
    try must(tmetal_load(metal, result, &arena, &loaded, nil, &problem), problem)
    try must(tmetal_launch_make(loaded, &arena, &launch, &problem), problem)

    var arguments: [tmetal_launch_arg] = []
    for i in 0..<3 {
        try must(tmetal_buffer_make(metal, UInt64(n * 4), buffers + i, &problem), problem)
        arguments.append(tmetal_arg_buffer(buffers + i, 0))
    }
    arguments.append(tmetal_arg_int(Int64(n)))
    let x = buffers[0].contents.assumingMemoryBound(to: Float.self)
    let y = buffers[1].contents.assumingMemoryBound(to: Float.self)
    let out = buffers[2].contents.assumingMemoryBound(to: Float.self)
    for i in 0..<n {
        x[i] = Float(i)
        y[i] = 0.5
    }

    let programs: [UInt32] = [UInt32((n + 255) / 256), 1, 1]
    try must(tmetal_launch_run(launch, arguments, UInt32(arguments.count), programs, &problem), problem)
    var right = 0
    for i in 0..<n {
        if out[i] == Float(i) + 0.5 { right += 1 }
    }
    print("\(right) of \(n) sums are right")
    return right == n
}

do {
    let path = CommandLine.arguments.count > 1 ? CommandLine.arguments[1] : "examples/kernels/vector_add.ttir"
    exit(try run(path: path, n: 1000) ? 0 : 1)
} catch let failure as Failure {
    print(failure.text)
    exit(1)
} catch {
    print("\(error)")
    exit(1)
}
