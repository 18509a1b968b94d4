// Declarations of our own of what launch code uses of Swift's library, Foundation and Metal, by Apple's public
// documentation, in Swift's spelling: labels, optionals, `throws`, and the first systems of what is newer than macOS 13
// and iOS 16. check.py reads them; they are no Swift module.

// -- Swift --
struct Int8 { init(_ value: Any) }
struct Int16 { init(_ value: Any) }
struct Int32 { init(_ value: Any) ; init(bitPattern: UInt32) ; static var max: Int32 { get } }
struct Int64 { init(_ value: Any) }
struct UInt8 { init(_ value: Any) }
struct UInt16 { init(_ value: Any) ; static var max: UInt16 { get } }
struct UInt32 { init(_ value: Any) ; static var max: UInt32 { get } }
struct UInt64 { init(_ value: Any) ; static var max: UInt64 { get } }
struct UInt { init(_ value: Any) }
struct Int {
    init(_ value: Any)
    static var max: Int { get }
    func multipliedReportingOverflow(by other: Int) -> (Int, Bool)
}
struct Float { init(_ value: Any) }
struct Double { init(_ value: Any) }
struct UTF8 { }
struct String {
    init(cString: UnsafePointer<CChar>)
    init(decoding bytes: ArraySlice<UInt8>, as encoding: UTF8.Type)
    var count: Int { get }
}
struct Range<Bound> { }
struct Array<Element> {
    init()
    init(repeating value: Element, count: Int)
    var count: Int { get }
    var isEmpty: Bool { get }
    subscript(i: Int) -> Element
    func append(_ item: Element)
    func enumerated() -> [(Int, Element)]
    func allSatisfy(_ holds: (Element) throws -> Bool) -> Bool
    func contains(_ item: Element) -> Bool
    func contains(where holds: (Element) throws -> Bool) -> Bool
}
struct ArraySlice<Element> {
    subscript(i: Int) -> Element
}
protocol AnyObject { }
protocol Error {
    var localizedDescription: String { get }
}
protocol CustomStringConvertible { }
protocol Sendable { }
struct UnsafePointer<Pointee> {
    subscript(i: Int) -> Pointee
}
struct UnsafeMutablePointer<Pointee> {
    static func allocate(capacity: Int) -> UnsafeMutablePointer<Pointee>
    var pointee: Pointee { get set }
    subscript(i: Int) -> Pointee
    func initialize(repeating value: Pointee, count: Int)
    func deallocate()
}
struct UnsafeRawPointer { }
struct UnsafeMutableRawPointer {
    static func allocate(byteCount: Int, alignment: Int) -> UnsafeMutableRawPointer
    func assumingMemoryBound<T>(to type: T.Type) -> UnsafeMutablePointer<T>
    func deallocate()
}
struct UnsafeRawBufferPointer {
    var baseAddress: UnsafeRawPointer? { get }
    var count: Int { get }
    subscript(i: Int) -> UInt8
    func prefix(while holds: (UInt8) throws -> Bool) -> ArraySlice<UInt8>
    func bindMemory<T>(to type: T.Type) -> UnsafeBufferPointer<T>
}
struct UnsafeBufferPointer<Element> {
    var baseAddress: UnsafePointer<Element>? { get }
}
func withUnsafeBytes<Value, Result>(of value: Value, _ body: (UnsafeRawBufferPointer) throws -> Result) -> Result
struct CheckedContinuation<T, E> {
    func resume()
    func resume(returning value: T)
    func resume(throwing error: Error)
}
func withCheckedThrowingContinuation<T>(_ body: (CheckedContinuation<T, Error>) -> Void) async throws -> T
struct DispatchQoS {
    enum QoSClass { case userInitiated }
}
class DispatchQueue {
    static func global(qos: DispatchQoS.QoSClass) -> DispatchQueue
    func async(execute work: () -> Void)
}
func withCheckedContinuation<T>(_ body: (CheckedContinuation<T, Never>) -> Void) async -> T
struct CommandLine {
    static var arguments: [String] { get }
}
struct MemoryLayout<T> {
    static var size: Int { get }
}
func max<T>(_ one: T, _ other: T) -> T
func print(_ item: Any)
func exit(_ status: Int32) -> Never

// -- Foundation --
protocol LocalizedError: Error { }
struct URL {
    init(fileURLWithPath path: String)
}
struct Data {
    init(contentsOf url: URL) throws
    var count: Int { get }
    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) -> Result
}
@discardableResult func memset(_ to: UnsafeMutableRawPointer, _ byte: Int32, _ n: Int) -> UnsafeMutableRawPointer

// -- Metal --
struct MTLSize {
    init(width: Int, height: Int, depth: Int)
    var width: Int { get set }
    var height: Int { get set }
    var depth: Int { get set }
}
struct MTLResourceOptions {
    static var storageModeShared: MTLResourceOptions { get }
    static var storageModePrivate: MTLResourceOptions { get }
}
struct MTLResourceUsage {
    init(rawValue: UInt)
    static var read: MTLResourceUsage { get }
    static var write: MTLResourceUsage { get }
}
struct MTLBarrierScope {
    static var buffers: MTLBarrierScope { get }
}
enum MTLCommandBufferStatus {
    case notEnqueued, enqueued, committed, scheduled, completed, error
}
enum MTLLanguageVersion {
    case version3_0
    @available(macOS 14, iOS 17, *) static var version3_1: MTLLanguageVersion { get }
    @available(macOS 15, iOS 18, *) static var version3_2: MTLLanguageVersion { get }
    init?(rawValue: UInt)
}
enum MTLGPUFamily {
    case apple7, apple8, apple9
    init?(rawValue: Int)
}
@available(macOS 15, iOS 18, *) enum MTLMathMode {
    case safe, relaxed, fast
}
@available(macOS 15, iOS 18, *) enum MTLMathFloatingPointFunctions {
    case fast, precise
}
class MTLCompileOptions {
    init()
    var languageVersion: MTLLanguageVersion { get set }
    var fastMathEnabled: Bool { get set }
    @available(macOS 15, iOS 18, *) var mathMode: MTLMathMode { get set }
    @available(macOS 15, iOS 18, *) var mathFloatingPointFunctions: MTLMathFloatingPointFunctions { get set }
}
protocol MTLResource: AnyObject { }
protocol MTLBuffer: MTLResource {
    var length: Int { get }
    var gpuAddress: UInt64 { get }
    func contents() -> UnsafeMutableRawPointer
}
protocol MTLFunction: AnyObject {
    var name: String { get }
}
protocol MTLLibrary: AnyObject {
    var device: MTLDevice { get }
    var functionNames: [String] { get }
    func makeFunction(name: String) -> MTLFunction?
}
protocol MTLComputePipelineState: AnyObject {
    var device: MTLDevice { get }
    var maxTotalThreadsPerThreadgroup: Int { get }
    var threadExecutionWidth: Int { get }
    var staticThreadgroupMemoryLength: Int { get }
}
protocol MTLComputeCommandEncoder: AnyObject {
    func setComputePipelineState(_ state: MTLComputePipelineState)
    func setBuffer(_ buffer: MTLBuffer?, offset: Int, index: Int)
    func setBytes(_ bytes: UnsafeRawPointer, length: Int, index: Int)
    func useResource(_ resource: MTLResource, usage: MTLResourceUsage)
    func memoryBarrier(scope: MTLBarrierScope)
    func dispatchThreadgroups(_ groups: MTLSize, threadsPerThreadgroup threads: MTLSize)
    func endEncoding()
}
protocol MTLCommandBuffer: AnyObject {
    var status: MTLCommandBufferStatus { get }
    var error: Error? { get }
    var gpuStartTime: Double { get }
    var gpuEndTime: Double { get }
    func makeComputeCommandEncoder() -> MTLComputeCommandEncoder?
    func addCompletedHandler(_ handler: (MTLCommandBuffer) -> Void)
    func commit()
    func waitUntilCompleted()
}
protocol MTLCommandQueue: AnyObject {
    var device: MTLDevice { get }
    func makeCommandBuffer() -> MTLCommandBuffer?
}
protocol MTLDevice: AnyObject {
    var name: String { get }
    var maxBufferLength: Int { get }
    func supportsFamily(_ family: MTLGPUFamily) -> Bool
    func makeCommandQueue() -> MTLCommandQueue?
    func makeBuffer(length: Int, options: MTLResourceOptions) -> MTLBuffer?
    func makeLibrary(source: String, options: MTLCompileOptions?) throws -> MTLLibrary
    func makeLibrary(URL url: URL) throws -> MTLLibrary
    func makeComputePipelineState(function: MTLFunction) throws -> MTLComputePipelineState
}
func MTLCreateSystemDefaultDevice() -> MTLDevice?
