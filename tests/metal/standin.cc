#include "standin.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>

namespace standin {

machine now;
counts  counted;
std::atomic<unsigned> shortest_sleep{0}, longest_sleep{0};

namespace {

std::recursive_mutex     lock; /* of all that follows */
std::vector<std::string> noted;
std::vector<sim::violation> seen_violations;

void note(const std::string &what) {
    std::lock_guard<std::recursive_mutex> held(lock);
    noted.push_back(what);
}

/* Whether it answers nil or 0 this time. */
bool is_silent(const char *name) {
    if (now.gives_nothing.empty()) return false;
    std::lock_guard<std::recursive_mutex> held(lock);
    auto at = now.gives_nothing.find(name);
    if (at == now.gives_nothing.end()) return false;
    return at->second ? (at->second--, false) : true;
}

/* -- Objects: never freed, so that messages to released ones are found ------------------------------- */

std::atomic<size_t> n_objects{0}; /* in memory, where machine.runs is false: those that are alive */

struct object {
    explicit object(const char *k) : kind(k) { n_objects++; }
    virtual ~object() { n_objects--; }
    virtual void end() {} /* the last release: gives up what it holds */
    const char      *kind;
    std::atomic<int> count{1};
};

std::set<object *> &living = *new std::set<object *>;

template <typename T, typename... A> T *make(A &&...a) {
    T *o = new T(std::forward<A>(a)...);
    if (!now.runs) return o; /* measured: nothing is kept about it */
    std::lock_guard<std::recursive_mutex> held(lock);
    living.insert(o);
    return o;
}

thread_local std::vector<std::vector<object *>> pools;

/* No object of static storage: at the end of the program all objects are still reached from here. */
std::vector<object *> &released = *new std::vector<object *>;

void release(object *o) {
    if (o->count.fetch_sub(1) != 1) return;
    o->end();
    if (!now.runs) {
        delete o;
        return;
    }
    std::lock_guard<std::recursive_mutex> held(lock);
    living.erase(o);
    released.push_back(o);
}

template <typename T> T *autoreleased(T *o) {
    if (pools.empty()) note(std::string("no pool when a ") + o->kind + " was made: it would leak");
    else pools.back().push_back(o);
    return o;
}

/* -- Foundation ------------------------------------------------------------------------------------------ */

struct string : object {
    explicit string(std::string s) : object("NSString"), text(std::move(s)) {}
    std::string text;
};

struct array : object {
    array() : object("NSArray") {}
    std::vector<object *> items; /* retained */
    bool                  is_initialised = false;
    void end() override {
        for (object *o : items) release(o);
        items.clear();
    }
};

struct error : object {
    error(long c, std::string s) : object("NSError"), code(c), text(std::move(s)) {}
    long        code;
    std::string text;
};

struct class_object : object {
    explicit class_object(std::string n) : object("class"), name(std::move(n)) {}
    std::string name;
};

/* -- Metal ---------------------------------------------------------------------------------------------------- */

struct architecture : object {
    architecture() : object("MTLArchitecture") {}
};

struct device : object {
    explicit device(unsigned n) : object("MTLDevice"), number(n) {}
    unsigned number;
};

struct compile_options : object {
    compile_options() : object("MTLCompileOptions") {}
    unsigned long version = 0;
    bool          math_set = false, is_safe = false, is_initialised = false;
};

struct library : object {
    library() : object("MTLLibrary") {}
    std::shared_ptr<sim::module> module;
    std::string                  unit, text;
};

struct function : object {
    function() : object("MTLFunction") {}
    std::shared_ptr<sim::module> module;
    const sim::kernel           *kernel = nullptr;
    std::string                  name; /* another one for each text, as archives have it */
};

struct pipeline : object {
    pipeline() : object("MTLComputePipelineState") {}
    std::shared_ptr<sim::module> module;
    const sim::kernel           *kernel = nullptr;
};

/* Held by its owner, as a property is. */
template <typename T> void hold(T *&place, T *o) {
    if (o) o->count++;
    if (place) release(place);
    place = o;
}

struct url : object {
    explicit url(std::string p) : object("NSURL"), path(std::move(p)) {}
    std::string path;
};

struct process : object {
    process() : object("NSProcessInfo") {}
};

struct archive : object {
    explicit archive(std::string h) : object("MTLBinaryArchive"), head(std::move(h)) {}
    std::string           head;
    std::set<std::string> has;
};

struct archive_descriptor : object {
    archive_descriptor() : object("MTLBinaryArchiveDescriptor") {}
    void end() override { hold(at, static_cast<url *>(nullptr)); }
    url *at = nullptr;
    bool is_initialised = false;
};

struct pipeline_descriptor : object {
    pipeline_descriptor() : object("MTLComputePipelineDescriptor") {}
    void end() override {
        hold(of, static_cast<function *>(nullptr));
        hold(archives, static_cast<array *>(nullptr));
    }
    function *of = nullptr;
    array    *archives = nullptr;
    bool      is_initialised = false;
};

/* Addresses look like no other number, so that they are found in the bytes that a kernel is given. */
constexpr uint64_t first_address = 0x00A5C30000000000, last_address = first_address + (uint64_t{1} << 40);
uint64_t           next_address = first_address;

struct buffer : object {
    explicit buffer(size_t n) : object("MTLBuffer"), bytes(n) {
        std::lock_guard<std::recursive_mutex> held(lock);
        address = next_address;
        next_address += (n + 0xffff) & ~uint64_t{0xffff};
        next_address += 0x10000;
    }
    void end() override {
        if (owned) std::free(data);
        data = nullptr;
    }
    size_t   bytes;
    uint8_t *data = nullptr;
    bool     owned = false;
    uint64_t address = 0;
};

struct event : object {
    event() : object("MTLEvent") {}
    uint64_t value = 0;
};

struct queue : object {
    queue() : object("MTLCommandQueue") {}
};

struct binding {
    buffer              *b = nullptr;
    size_t               offset = 0;
    std::vector<uint8_t> bytes;
};

struct dispatch {
    pipeline                              *p = nullptr;
    std::map<unsigned, binding>            bound;
    std::map<buffer *, unsigned long>      used;
    std::array<uint32_t, 3>                grid{{0, 0, 0}}, threads{{0, 0, 0}};
};

struct command_buffer : object {
    command_buffer() : object("MTLCommandBuffer") {}
    std::vector<dispatch>                            work;
    std::vector<object *>                            kept; /* retained until it is complete */
    std::vector<std::pair<event *, uint64_t>>        waits, signals;
    bool                                             is_open = false; /* an encoder is */
    bool                                             is_committed = false;
    unsigned long                                    status = 0;
    unsigned                                         polls = 0;
    size_t                                           order = 0; /* of its commit */
    long                                             fault = 0;
    void end() override {
        if (is_open) note("a command buffer is released while an encoder is open");
        for (object *o : kept) release(o);
        kept.clear();
    }
};

struct encoder : object {
    explicit encoder(command_buffer *c) : object("MTLComputeCommandEncoder"), owner(c) {}
    void end() override {
        if (!has_ended) note("an encoder is released before endEncoding");
    }
    command_buffer *owner;
    dispatch        state;
    bool            has_ended = false;
    bool            is_fenced = true; /* nothing was dispatched since the last barrier */
};

struct size3 {
    unsigned long width, height, depth;
};

/* -- Running ---------------------------------------------------------------------------------------------------- */

buffer *buffer_at(const dispatch &d, uint64_t address) {
    if (address < first_address || address >= last_address) return nullptr;
    for (const auto &u : d.used)
        if (address >= u.first->address && address <= u.first->address + u.first->bytes) return u.first;
    note("a kernel is given the address of a buffer that is not resident");
    return nullptr;
}

sim::launch launch_of(const dispatch &d, sim::memory &mem, std::map<buffer *, unsigned> &placed) {
    sim::launch l;
    l.kernel = d.p->kernel;
    l.grid = d.grid;
    l.threads = d.threads;
    auto place = [&](buffer *b) {
        auto at = placed.find(b);
        if (at == placed.end()) at = placed.emplace(b, mem.add("buffer", b->bytes, b->data, 128)).first;
        return at->second;
    };
    for (const sim::argument &a : l.kernel->arguments) {
        auto at = d.bound.find(a.index);
        if (a.where == sim::space::threadgroup) continue;
        if (at == d.bound.end()) {
            note("nothing is bound at index " + std::to_string(a.index) + " of " + l.kernel->name);
            continue;
        }
        const binding &b = at->second;
        if (b.b) {
            l.buffers.push_back({a.index, place(b.b), b.offset, !a.read_only});
            continue;
        }
        l.bytes.push_back({a.index, b.bytes});
        for (size_t i = 0; i + 8 <= b.bytes.size(); i += 8) {
            uint64_t word;
            std::memcpy(&word, b.bytes.data() + i, 8);
            if (buffer *by = buffer_at(d, word))
                l.addresses.push_back({a.index, i, place(by), static_cast<size_t>(word - by->address),
                                       (d.used.at(by) & 2) != 0});
        }
    }
    return l;
}

/* A GPU that gets one byte wrong. */
void flip(const sim::launch &l, const std::map<buffer *, unsigned> &placed) {
    for (const auto &p : placed)
        for (const auto &b : l.buffers)
            if (b.buffer == p.second && b.writable) p.first->data[p.first->bytes - 1] ^= 0x40;
}

void run(command_buffer &c) {
    if (!now.runs) return;
    std::lock_guard<std::recursive_mutex> held(lock); /* the simulator is for one at a time */
    for (const auto &w : c.waits)
        if (w.first->value < w.second) note("a command buffer waits for an event that nobody sets");
    for (const dispatch &d : c.work) {
        if (c.fault) break;
        sim::memory                  mem;
        std::map<buffer *, unsigned> placed;
        const sim::launch            l = launch_of(d, mem, placed);
        sim::run_options             o;
        o.seconds = 60;
        const sim::report r = sim::run(*d.p->module, {l}, mem, o);
        for (const auto &p : placed) std::memcpy(p.first->data, mem.data(p.second), p.first->bytes);
        if (now.flips) flip(l, placed);
        seen_violations.insert(seen_violations.end(), r.violations.begin(), r.violations.end());
    }
    for (const auto &s : c.signals) s.first->value = s.second;
}

/* -- Methods ------------------------------------------------------------------------------------------------------ */

using method = void (*)(void);
struct described {
    std::string shape;
    method      call;
};
using table = std::map<std::string, described>;

template <typename F> method as_method(F *f) { return reinterpret_cast<method>(f); }

template <typename T> T *checked(object *o, const char *kind, const char *what) {
    T *t = dynamic_cast<T *>(o);
    if (!t) note(std::string(what) + " is given " + (o ? std::string("a ") + o->kind : std::string("nil")) + " for a " + kind);
    return t;
}

using sel = const char *;

object *retain(object *o, sel) {
    o->count++;
    return o;
}
void release_it(object *o, sel) { release(o); }
signed char responds(object *o, sel, sel s);

object *alloc(class_object *c, sel) {
    if (c->name == "NSMutableArray") return make<array>();
    if (c->name == "MTLBinaryArchiveDescriptor") return make<archive_descriptor>();
    if (c->name == "MTLComputePipelineDescriptor") return make<pipeline_descriptor>();
    if (c->name != "MTLCompileOptions") note("alloc of " + c->name);
    return make<compile_options>();
}
template <typename T> object *init(T *o, sel) {
    o->is_initialised = true;
    return o;
}
object *init_array(array *a, sel) {
    a->is_initialised = true;
    return a;
}
void add_object(array *a, sel, object *o) {
    if (!a->is_initialised) note("addObject: to an array that was not initialised");
    if (!o) return note("addObject: of nil, which throws");
    a->items.push_back(retain(o, nullptr));
}
/* Is it UTF-8, as far as letters of the wrong length go? */
bool is_utf8(const char *s) {
    while (*s) {
        const unsigned char c = static_cast<unsigned char>(*s++);
        const int           more = c < 0x80 ? 0 : c < 0xc2 ? -1 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : c < 0xf5 ? 3 : -1;
        if (more < 0) return false;
        for (int i = 0; i < more; i++)
            if ((static_cast<unsigned char>(*s++) & 0xc0) != 0x80) return false;
    }
    return true;
}
object *string_with(class_object *, sel, const char *s) { return is_utf8(s) ? autoreleased(make<string>(s)) : nullptr; }
const char *utf8(string *s, sel) { return s->text.c_str(); }
unsigned long count(array *a, sel) { return a->items.size(); }
object *at(array *a, sel, unsigned long i) {
    if (i < a->items.size()) return a->items[i];
    note("objectAtIndex: beyond the end, which throws");
    return nullptr;
}
object *description(error *e, sel) { return autoreleased(make<string>(e->text)); }
long code(error *e, sel) { return e->code; }

object *device_name(device *d, sel) {
    return autoreleased(make<string>("Apple M" + std::to_string(d->number + 1)));
}
object *architecture_of(device *, sel) { return autoreleased(make<architecture>()); }
object *architecture_name(architecture *, sel) { return autoreleased(make<string>("applegpu_g13g")); }
unsigned long registry_id(device *d, sel) { return 4294968001ul + d->number; }
signed char no(object *, sel) { return 0; }
signed char yes(object *, sel) { return 1; }
signed char supports(device *d, sel, long family) {
    return (family > 1000 && family <= 1000 + now.family + static_cast<long>(d->number)) || family == 2002 ||
        (family == 5001 && now.family >= 7);
}
unsigned long tg_bytes(device *, sel) { return now.threadgroup_bytes; }
unsigned long max_buffer(device *, sel) { return now.max_buffer; }
unsigned long working_set(device *, sel) { return now.max_buffer; }
object *new_queue(device *, sel, unsigned long n) {
    if (!n) note("a queue of no command buffers");
    return now.no_queue ? nullptr : make<queue>();
}
object *plain_queue(device *d, sel s) { return new_queue(d, s, 64); }

std::map<std::string, std::pair<std::shared_ptr<sim::module>, std::string>> prepared;

/* As a device takes it that gets products of one type wrong. */
std::string mistaken(std::string text) {
    const std::string view = "tensor((threadgroup " + now.wrong_product + " *)";
    const size_t      at = text.find("using namespace metal;\n");
    if (now.wrong_product.empty() || at == std::string::npos || text.find(view) == std::string::npos) return text;
    for (size_t run = text.find(".run("); run != std::string::npos; run = text.find(".run(", run + 1)) { /* each adds 1 to a sum of each lane */
        const size_t last = text.rfind(", ", text.find(");", run)) + 2, end = text.find(");", run);
        text.insert(end + 2, " " + text.substr(last, end - last) + "[0] += 1;");
    }
    return text;
}

object *new_library(device *, sel, object *text, object *options, object **e) {
    auto *s = checked<string>(text, "NSString", "newLibraryWithSource:");
    auto *o = checked<compile_options>(options, "MTLCompileOptions", "newLibraryWithSource:");
    if (!s || !o) return nullptr;
    if (!o->is_initialised) note("compile options that were not initialised");
    if (!o->version) note("the language version is not set");
    if (!o->math_set) note("the math mode is not set");
    else if (!o->is_safe) note("fast maths");
    if (e && *e) note("newLibraryWithSource: is given an error that is not nil");
    if (!now.compiler_says.empty()) {
        if (e) *e = autoreleased(make<error>(now.warns ? 4 : 3, now.compiler_says));
        if (!now.warns) return nullptr;
    }
    counted.libraries++;
    auto *l = make<library>();
    l->text = s->text;
    std::lock_guard<std::recursive_mutex> held(lock);
    const std::string taken = mistaken(s->text);
    auto              at = prepared.find(taken);
    if (at == prepared.end()) {
        prepare({{"program_source", taken, static_cast<int>((o->version >> 16) * 100 + (o->version & 15) * 10)}});
        at = prepared.find(taken);
    }
    l->module = at->second.first;
    l->unit = at->second.second;
    for (const sim::unit &u : l->module->units())
        if (u.name == l->unit && !u.errors.empty()) {
            std::string said;
            for (const sim::diagnostic &d : u.errors)
                said += "program_source:" + std::to_string(d.line) + ":" + std::to_string(d.column) + ": error: " + d.text + "\n";
            if (e) *e = autoreleased(make<error>(3, said));
            release(l);
            return nullptr;
        }
    return l;
}

object *new_function(library *l, sel, object *name) {
    auto *s = checked<string>(name, "NSString", "newFunctionWithName:");
    const sim::kernel *k = s ? l->module->find(l->unit, s->text) : nullptr;
    if (!k || now.lacks_function) return nullptr;
    auto *f = make<function>();
    f->module = l->module;
    f->kernel = k;
    f->name = std::to_string(std::hash<std::string>()(l->text)) + " " + s->text;
    return f;
}
object *function_names(library *l, sel) {
    auto *a = autoreleased(make<array>());
    for (const sim::unit &u : l->module->units())
        if (u.name == l->unit)
            for (const sim::kernel &k : u.kernels) a->items.push_back(make<string>(k.name));
    return a;
}
std::atomic<pipeline *> newest_pipeline;

object *pipeline_of(function *f) {
    auto *p = make<pipeline>();
    newest_pipeline = p;
    p->module = f->module;
    p->kernel = f->kernel;
    return p;
}
/* 0, and an error; which must have been nil. */
signed char refuses(object **e, const std::string &what, const char *method) {
    if (e && *e) note(std::string(method) + " is given an error that is not nil");
    if (e) *e = autoreleased(make<error>(1, what));
    return 0;
}
object *new_pipeline(device *, sel, object *of, object **e) {
    auto *f = checked<function>(of, "MTLFunction", "newComputePipelineStateWithFunction:");
    if (!f) return nullptr;
    if (!now.pipeline_says.empty()) {
        if (e) *e = autoreleased(make<error>(1, now.pipeline_says));
        return nullptr;
    }
    counted.pipelines++;
    return pipeline_of(f);
}

/* -- Archives: what has been compiled for one device by one system, by name ----------------------------------- */

object *file_url(class_object *, sel, object *path) {
    auto *s = checked<string>(path, "NSString", "fileURLWithPath:");
    return s ? autoreleased(make<url>(s->text)) : nullptr;
}
object *array_of(class_object *, sel, object *o) {
    if (!o) return note("arrayWithObject: of nil, which throws"), nullptr;
    auto *a = autoreleased(make<array>());
    a->items.push_back(retain(o, nullptr));
    return a;
}
object *process_info(class_object *, sel) { return autoreleased(make<process>()); }
object *system_version(process *, sel) { return autoreleased(make<string>(now.system)); }
void set_url(archive_descriptor *d, sel, object *o) { hold(d->at, o ? checked<url>(o, "NSURL", "setUrl:") : nullptr); }
void set_function_of(pipeline_descriptor *d, sel, object *o) { hold(d->of, checked<function>(o, "MTLFunction", "setComputeFunction:")); }
void set_archives(pipeline_descriptor *d, sel, object *o) {
    auto *a = checked<array>(o, "NSArray", "setBinaryArchives:");
    for (object *i : a ? a->items : std::vector<object *>()) checked<archive>(i, "MTLBinaryArchive", "setBinaryArchives:");
    hold(d->archives, a);
}
std::string archive_head(device *d) { return "archive of device " + std::to_string(d->number) + "\n" + now.system + "\n"; }
object *new_archive(device *d, sel, object *by, object **e) {
    auto *how = checked<archive_descriptor>(by, "MTLBinaryArchiveDescriptor", "newBinaryArchiveWithDescriptor:");
    if (!how) return nullptr;
    if (!how->is_initialised) note("an archive descriptor that was not initialised");
    if (e && *e) note("newBinaryArchiveWithDescriptor: is given an error that is not nil");
    auto *a = make<archive>(archive_head(d));
    if (!how->at) return a;
    std::ifstream     f(how->at->path, std::ios::binary);
    std::stringstream all;
    all << f.rdbuf();
    const std::string head = a->head;
    if (now.archive_fails == "open" || all.str().compare(0, head.size(), head) != 0) {
        refuses(e, "Invalid binary archive file", "newBinaryArchiveWithDescriptor:");
        release(a);
        return nullptr;
    }
    std::string       line;
    std::stringstream rest(all.str().substr(head.size()));
    while (std::getline(rest, line)) a->has.insert(line);
    return a;
}
function *function_of(object *by, const char *method) {
    auto *d = checked<pipeline_descriptor>(by, "MTLComputePipelineDescriptor", method);
    if (d && !d->is_initialised) note("a pipeline descriptor that was not initialised");
    if (d && !d->of) note(std::string(method) + " is given no function");
    return d ? d->of : nullptr;
}
signed char add_pipeline(archive *a, sel, object *by, object **e) {
    function *f = function_of(by, "addComputePipelineFunctionsWithDescriptor:");
    if (!f || now.archive_fails == "add" || !now.pipeline_says.empty())
        return refuses(e, now.pipeline_says, "addComputePipelineFunctionsWithDescriptor:");
    if (a->has.insert(f->name).second) counted.pipelines++;
    return 1;
}
object *described_pipeline(device *, sel, object *by, unsigned long options, void *reflection, object **e) {
    function *f = function_of(by, "newComputePipelineStateWithDescriptor:");
    if (options & ~4ul || reflection) note("newComputePipelineStateWithDescriptor: is asked for what nobody reads");
    if (!f) return nullptr;
    auto *archives = dynamic_cast<pipeline_descriptor *>(by)->archives;
    for (object *o : archives ? archives->items : std::vector<object *>())
        if (auto *a = dynamic_cast<archive *>(o))
            if (a->has.count(f->name) && now.archive_fails != "miss") {
                counted.archived++;
                return pipeline_of(f);
            }
    if (options & 4 || !now.pipeline_says.empty()) {
        refuses(e, options & 4 ? "not in the archives" : now.pipeline_says, "newComputePipelineStateWithDescriptor:");
        return nullptr;
    }
    counted.pipelines++;
    return pipeline_of(f);
}
signed char serialize(archive *a, sel, object *to, object **e) {
    auto *where = checked<url>(to, "NSURL", "serializeToURL:");
    if (!where || now.archive_fails == "write") return refuses(e, "The disk is full", "serializeToURL:");
    if (a->has.empty()) note("serializeToURL: of an empty archive");
    if (now.archive_fails == "vanish") return 1;
    std::ofstream f(where->path, std::ios::binary);
    f << a->head;
    for (const std::string &name : a->has) f << name << "\n";
    f.close();
    return f ? 1 : refuses(e, "The file cannot be written", "serializeToURL:");
}
unsigned long max_threads(pipeline *p, sel) {
    return p->kernel->max_threads ? std::min(p->kernel->max_threads, now.pipeline_threads) : now.pipeline_threads;
}
unsigned long simd_width(pipeline *, sel) { return now.simd_width; }
unsigned long static_bytes(pipeline *, sel) { return 1024; }

object *new_buffer(device *, sel, unsigned long n, unsigned long options) {
    if (!n) note("a buffer of no bytes");
    if (options) note("a buffer that the CPU may not see");
    if (now.no_memory || n > now.max_buffer) return nullptr;
    auto *b = make<buffer>(n);
    b->data = static_cast<uint8_t *>(std::malloc(n));
    std::memset(b->data, 0xCD, n); /* what is there is anyone's */
    b->owned = true;
    return b;
}
object *wrap_buffer(device *, sel, void *memory, unsigned long n, unsigned long, void *) {
    if ((reinterpret_cast<uintptr_t>(memory) | n) & (now.page - 1)) return nullptr;
    auto *b = make<buffer>(n);
    b->data = static_cast<uint8_t *>(memory);
    return b;
}
void *contents(buffer *b, sel) { return b->data; }
unsigned long length(buffer *b, sel) { return b->bytes; }
unsigned long address(buffer *b, sel) { return b->address; }

void set_version(compile_options *o, sel, unsigned long v) {
    const unsigned major = static_cast<unsigned>(v >> 16), minor = static_cast<unsigned>(v & 0xffff);
    if (!((major == 3 && minor <= 2) || (major == 4 && minor <= 1))) note("a language version that does not exist");
    o->version = v;
}
void set_math(compile_options *o, sel, long mode) { o->math_set = true, o->is_safe = mode == 0; }
void set_functions(compile_options *, sel, long) {}
void set_fast(compile_options *o, sel, signed char fast) {
    if (!now.old_system) note("fastMathEnabled where there is a math mode");
    o->math_set = true, o->is_safe = !fast;
}

object *new_command_buffer(queue *, sel) {
    return now.no_command_buffer ? nullptr : autoreleased(make<command_buffer>());
}
object *new_encoder(command_buffer *c, sel) {
    if (now.no_encoder) return nullptr;
    if (c->is_open) note("a second encoder while one is open");
    if (c->is_committed) note("an encoder of a committed command buffer");
    c->is_open = true;
    auto *e = make<encoder>(c);
    c->kept.push_back(retain(e, nullptr));
    return autoreleased(e);
}
void set_label(object *, sel, object *s) { checked<string>(s, "NSString", "setLabel:"); }
bool is_live(encoder *e, const char *what) {
    if (e->has_ended) note(std::string(what) + " after endEncoding");
    return !e->has_ended;
}
void keep(encoder *e, object *o) { e->owner->kept.push_back(retain(o, nullptr)); }
void set_pipeline(encoder *e, sel, object *o) {
    auto *p = checked<pipeline>(o, "MTLComputePipelineState", "setComputePipelineState:");
    if (!p || !is_live(e, "setComputePipelineState:")) return;
    e->state.p = p;
    keep(e, p);
}
void set_buffer(encoder *e, sel, object *o, unsigned long offset, unsigned long index) {
    auto *b = checked<buffer>(o, "MTLBuffer", "setBuffer:");
    if (!b || !is_live(e, "setBuffer:")) return;
    if (index > 30) note("setBuffer: at index " + std::to_string(index));
    if (offset > b->bytes) note("setBuffer: behind the buffer's end");
    binding n;
    n.b = b, n.offset = offset;
    e->state.bound[static_cast<unsigned>(index)] = n;
    keep(e, b);
}
void set_bytes(encoder *e, sel, const void *p, unsigned long n, unsigned long index) {
    if (!is_live(e, "setBytes:")) return;
    if (!n || n > 4096) note("setBytes: of " + std::to_string(n) + " bytes");
    if (index > 30) note("setBytes: at index " + std::to_string(index));
    binding b;
    b.bytes.assign(static_cast<const uint8_t *>(p), static_cast<const uint8_t *>(p) + n);
    e->state.bound[static_cast<unsigned>(index)] = b;
}
void use(encoder *e, sel, object *o, unsigned long usage) {
    auto *b = checked<buffer>(o, "MTLBuffer", "useResource:");
    if (!b || !is_live(e, "useResource:")) return;
    if (!usage || usage > 3) note("useResource: with usage " + std::to_string(usage));
    e->state.used[b] |= usage;
    keep(e, b);
}
void barrier(encoder *e, sel, unsigned long scope) {
    if (!(scope & 1)) note("a barrier that does not order buffers");
    e->is_fenced = true;
}
void dispatch_it(encoder *e, sel, size3 grid, size3 threads) {
    const unsigned long n = threads.width * threads.height * threads.depth;
    if (!is_live(e, "dispatchThreadgroups:")) return;
    if (!e->state.p) return note("a dispatch without a pipeline");
    if (!grid.width || !grid.height || !grid.depth || !n) note("a dispatch of nothing");
    if (n > max_threads(e->state.p, nullptr)) note("a dispatch of more threads than the pipeline allows");
    if (!e->is_fenced) note("a dispatch that does not wait for the one before");
    e->is_fenced = false;
    e->state.grid = {{static_cast<uint32_t>(grid.width), static_cast<uint32_t>(grid.height), static_cast<uint32_t>(grid.depth)}};
    e->state.threads = {{static_cast<uint32_t>(threads.width), static_cast<uint32_t>(threads.height), static_cast<uint32_t>(threads.depth)}};
    if (now.runs) e->owner->work.push_back(e->state);
}
void end_encoding(encoder *e, sel) {
    if (!is_live(e, "endEncoding")) return;
    e->has_ended = true;
    e->owner->is_open = false;
}
void wait_event(command_buffer *c, sel, object *o, unsigned long value) {
    if (auto *e = checked<event>(o, "MTLEvent", "encodeWaitForEvent:")) c->waits.push_back({e, value});
    if (c->is_open) note("an event while an encoder is open");
}
void signal_event(command_buffer *c, sel, object *o, unsigned long value) {
    if (auto *e = checked<event>(o, "MTLEvent", "encodeSignalEvent:")) c->signals.push_back({e, value});
    if (c->is_open) note("an event while an encoder is open");
}
std::atomic<size_t> n_committed{0}; /* since it was last asked */
std::atomic<size_t> n_ever{0}, n_complete{0}; /* as far as the host knows: what was committed before is complete too */

void completes(const command_buffer *c) {
    for (size_t n = n_complete; n < c->order && !n_complete.compare_exchange_weak(n, c->order);) {}
}

void commit(command_buffer *c, sel) {
    if (c->is_open) note("a commit while an encoder is open");
    if (c->is_committed) note("a second commit");
    c->is_committed = true;
    c->status = 2;
    c->order = ++n_ever;
    c->fault = ++n_committed == now.fault_at || !now.fault_at ? now.fault : 0;
    if (now.hangs) return;
    run(*c);
    c->status = c->fault ? 5 : 4;
    for (object *o : c->kept) release(o);
    c->kept.clear();
}
void wait(command_buffer *c, sel) {
    if (!c->is_committed) note("waitUntilCompleted before commit, which never ends");
    if (now.hangs) note("waitUntilCompleted of what hangs, which never ends");
    completes(c);
}
/* Work takes its time: who does not wait hears twice that it is scheduled. */
unsigned long status(command_buffer *c, sel) {
    if (c->status < 4) return c->status;
    if (c->order > n_complete && c->polls++ < 2) return 3;
    completes(c);
    return c->status;
}
object *error_of(command_buffer *c, sel) {
    if (!c->fault) return nullptr;
    if (!now.fault_says.empty()) return autoreleased(make<error>(c->fault, now.fault_says));
    return autoreleased(make<error>(c->fault, "Execution of the command buffer was aborted (code " + std::to_string(c->fault) + ")"));
}
double gpu_start(command_buffer *, sel) { return 10.0; }
double gpu_end(command_buffer *c, sel) {
    if (c->status != 4 || c->order > n_complete) note("times of a command buffer that is not complete");
    return 10.25;
}

#define M(shape, f) {shape, as_method(f)}
const std::map<std::string, table> &classes() {
    static const std::map<std::string, table> all = {
        {"class",
         {{"alloc", M("p", alloc)}, {"stringWithUTF8String:", M("ps", string_with)}, {"fileURLWithPath:", M("pp", file_url)},
          {"arrayWithObject:", M("pp", array_of)}, {"processInfo", M("p", process_info)}}},
        {"NSURL", {}},
        {"NSProcessInfo", {{"operatingSystemVersionString", M("p", system_version)}}},
        {"MTLBinaryArchiveDescriptor", {{"init", M("p", init<archive_descriptor>)}, {"setUrl:", M("vp", set_url)}}},
        {"MTLComputePipelineDescriptor",
         {{"init", M("p", init<pipeline_descriptor>)}, {"setComputeFunction:", M("vp", set_function_of)},
          {"setBinaryArchives:", M("vp", set_archives)}}},
        {"MTLBinaryArchive",
         {{"addComputePipelineFunctionsWithDescriptor:error:", M("bpe", add_pipeline)},
          {"serializeToURL:error:", M("bpe", serialize)}}},
        {"NSString", {{"UTF8String", M("s", utf8)}}},
        {"NSArray",
         {{"init", M("p", init_array)}, {"count", M("u", count)}, {"objectAtIndex:", M("pu", at)}, {"addObject:", M("vp", add_object)}}},
        {"NSError", {{"localizedDescription", M("p", description)}, {"code", M("i", code)}}},
        {"MTLArchitecture", {{"name", M("p", architecture_name)}}},
        {"MTLDevice",
         {{"name", M("p", device_name)}, {"architecture", M("p", architecture_of)}, {"registryID", M("u", registry_id)},
          {"isHeadless", M("b", no)}, {"isLowPower", M("b", no)}, {"hasUnifiedMemory", M("b", yes)},
          {"supportsFamily:", M("bi", supports)}, {"maxThreadgroupMemoryLength", M("u", tg_bytes)},
          {"maxBufferLength", M("u", max_buffer)}, {"recommendedMaxWorkingSetSize", M("u", working_set)},
          {"newCommandQueue", M("p", plain_queue)}, {"newCommandQueueWithMaxCommandBufferCount:", M("pu", new_queue)},
          {"newLibraryWithSource:options:error:", M("pppe", new_library)},
          {"newComputePipelineStateWithFunction:error:", M("ppe", new_pipeline)},
          {"newBinaryArchiveWithDescriptor:error:", M("ppe", new_archive)},
          {"newComputePipelineStateWithDescriptor:options:reflection:error:", M("ppupe", described_pipeline)},
          {"newBufferWithLength:options:", M("puu", new_buffer)},
          {"newBufferWithBytesNoCopy:length:options:deallocator:", M("ppuup", wrap_buffer)}}},
        {"MTLCompileOptions",
         {{"init", M("p", init<compile_options>)}, {"setLanguageVersion:", M("vu", set_version)}, {"setMathMode:", M("vi", set_math)},
          {"setMathFloatingPointFunctions:", M("vi", set_functions)}, {"setFastMathEnabled:", M("vb", set_fast)}}},
        {"MTLLibrary", {{"newFunctionWithName:", M("pp", new_function)}, {"functionNames", M("p", function_names)}}},
        {"MTLFunction", {}},
        {"MTLEvent", {}},
        {"MTLComputePipelineState",
         {{"maxTotalThreadsPerThreadgroup", M("u", max_threads)}, {"threadExecutionWidth", M("u", simd_width)},
          {"staticThreadgroupMemoryLength", M("u", static_bytes)}}},
        {"MTLBuffer", {{"contents", M("p", contents)}, {"length", M("u", length)}, {"gpuAddress", M("u", address)}}},
        {"MTLCommandQueue", {{"commandBuffer", M("p", new_command_buffer)}}},
        {"MTLCommandBuffer",
         {{"computeCommandEncoder", M("p", new_encoder)}, {"setLabel:", M("vp", set_label)},
          {"encodeWaitForEvent:value:", M("vpu", wait_event)}, {"encodeSignalEvent:value:", M("vpu", signal_event)},
          {"commit", M("v", commit)}, {"waitUntilCompleted", M("v", wait)}, {"status", M("u", status)},
          {"error", M("p", error_of)}, {"GPUStartTime", M("d", gpu_start)}, {"GPUEndTime", M("d", gpu_end)}}},
        {"MTLComputeCommandEncoder",
         {{"setComputePipelineState:", M("vp", set_pipeline)}, {"setBuffer:offset:atIndex:", M("vpuu", set_buffer)},
          {"setBytes:length:atIndex:", M("vpuu", set_bytes)}, {"useResource:usage:", M("vpu", use)},
          {"dispatchThreadgroups:threadsPerThreadgroup:", M("vzz", dispatch_it)},
          {"memoryBarrierWithScope:", M("vu", barrier)}, {"endEncoding", M("v", end_encoding)}}},
    };
    return all;
}
const table &every_class() {
    static const table all = {{"retain", M("p", retain)}, {"release", M("v", release_it)}, {"respondsToSelector:", M("bp", responds)}};
    return all;
}
#undef M

const std::set<std::string> &since_macos_14() {
    static const std::set<std::string> all = {"architecture", "setMathMode:", "setMathFloatingPointFunctions:"};
    return all;
}

const described *find(object *o, const std::string &s) {
    if (now.old_system && since_macos_14().count(s)) return nullptr;
    if (now.lacks.count(s)) return nullptr;
    if (now.no_archives && s == "newBinaryArchiveWithDescriptor:error:") return nullptr;
    auto common = every_class().find(s);
    if (common != every_class().end()) return &common->second;
    const table &t = classes().at(o->kind);
    auto         at = t.find(s);
    return at == t.end() ? nullptr : &at->second;
}

signed char responds(object *o, sel, sel s) { return find(o, s) != nullptr; }

/* What a message to nil or to nothing gives. */
uint64_t nothing(void) { return 0; }

} // namespace

extern "C" method standin_find(object *o, sel s);
extern "C" method standin_find(object *o, sel s) {
    if (!o) return as_method(nothing);
    /* how long a lookup takes is not the launcher's: the runtime keeps what it found */
    static thread_local std::map<std::pair<const char *, sel>, method> known;
    if (!now.runs) {
        auto at = known.find({o->kind, s});
        if (at != known.end()) return at->second;
    } else {
        std::lock_guard<std::recursive_mutex> held(lock);
        if (!living.count(o)) {
            note(std::string(s) + " is sent to what was released");
            return as_method(nothing);
        }
    }
    const described *d = find(o, s);
    if (!d) {
        note(std::string("a ") + o->kind + " does not know " + s + ", which throws");
        return as_method(nothing);
    }
    if (is_silent(s)) return as_method(nothing);
    if (!now.runs) known[{o->kind, s}] = d->call;
    return d->call;
}

/* As objc_msgSend: find the method, leave every argument where it is, and go there. */
#if defined(__x86_64__)
asm(".text\n.globl standin_send\nstandin_send:\n"
    "  push %rbp\n  mov %rsp, %rbp\n  sub $192, %rsp\n"
    "  mov %rdi, -8(%rbp)\n  mov %rsi, -16(%rbp)\n  mov %rdx, -24(%rbp)\n  mov %rcx, -32(%rbp)\n"
    "  mov %r8, -40(%rbp)\n  mov %r9, -48(%rbp)\n"
    "  movups %xmm0, -64(%rbp)\n  movups %xmm1, -80(%rbp)\n  movups %xmm2, -96(%rbp)\n  movups %xmm3, -112(%rbp)\n"
    "  movups %xmm4, -128(%rbp)\n  movups %xmm5, -144(%rbp)\n  movups %xmm6, -160(%rbp)\n  movups %xmm7, -176(%rbp)\n"
    "  call standin_find\n  mov %rax, %r11\n"
    "  mov -8(%rbp), %rdi\n  mov -16(%rbp), %rsi\n  mov -24(%rbp), %rdx\n  mov -32(%rbp), %rcx\n"
    "  mov -40(%rbp), %r8\n  mov -48(%rbp), %r9\n"
    "  movups -64(%rbp), %xmm0\n  movups -80(%rbp), %xmm1\n  movups -96(%rbp), %xmm2\n  movups -112(%rbp), %xmm3\n"
    "  movups -128(%rbp), %xmm4\n  movups -144(%rbp), %xmm5\n  movups -160(%rbp), %xmm6\n  movups -176(%rbp), %xmm7\n"
    "  leave\n  jmp *%r11\n");
#elif defined(__aarch64__)
asm(".text\n.globl standin_send\nstandin_send:\n"
    "  stp x29, x30, [sp, #-208]!\n  mov x29, sp\n"
    "  stp x0, x1, [sp, #16]\n  stp x2, x3, [sp, #32]\n  stp x4, x5, [sp, #48]\n  stp x6, x7, [sp, #64]\n"
    "  str x8, [sp, #80]\n  stp q0, q1, [sp, #96]\n  stp q2, q3, [sp, #128]\n"
    "  bl standin_find\n  mov x16, x0\n"
    "  ldp x0, x1, [sp, #16]\n  ldp x2, x3, [sp, #32]\n  ldp x4, x5, [sp, #48]\n  ldp x6, x7, [sp, #64]\n"
    "  ldr x8, [sp, #80]\n  ldp q0, q1, [sp, #96]\n  ldp q2, q3, [sp, #128]\n"
    "  ldp x29, x30, [sp], #208\n  br x16\n");
#endif
extern "C" void standin_send(void);

namespace {

sel register_name(const char *name) {
    static std::set<std::string>          names;
    std::lock_guard<std::recursive_mutex> held(lock);
    return names.insert(name).first->c_str();
}

object *class_named(const char *name) {
    if (now.lacks.count(name)) return nullptr;
    static auto                          &all = *new std::map<std::string, class_object *>;
    std::lock_guard<std::recursive_mutex> held(lock);
    class_object *&c = all[name];
    if (!c) {
        const bool was = now.runs;
        now.runs = true;
        c = make<class_object>(name);
        now.runs = was;
    }
    return c;
}

void *pool_push() {
    pools.emplace_back();
    return reinterpret_cast<void *>(pools.size());
}
void pool_pop(void *pool) {
    if (reinterpret_cast<size_t>(pool) != pools.size()) note("pools are emptied in another order than they were made");
    if (pools.empty()) return;
    std::vector<object *> last = std::move(pools.back());
    pools.pop_back();
    for (object *o : last) release(o);
}

object *default_device() { return now.has_default_device ? make<device>(0u) : nullptr; }
object *all_devices() {
    auto *a = make<array>();
    for (unsigned i = 0; i < now.devices; i++) {
        auto *d = make<device>(i);
        a->items.push_back(d);
    }
    return a;
}

/* -- IOKit and CoreFoundation: one accelerator, with its number of cores ------------------------------- */

struct number : object {
    number() : object("CFNumber") {}
};
struct matching : object {
    explicit matching(uint64_t i) : object("CFDictionary"), id(i) {}
    uint64_t id;
};
std::atomic<int> entries{0}; /* of the registry, held */

void *entry_matching(uint64_t id) { return make<matching>(id); }
unsigned entry_of(unsigned port, object *o) {
    auto      *m = checked<matching>(o, "CFDictionary", "IOServiceGetMatchingService");
    const bool is_here = m && m->id >= 4294968001ul && m->id < 4294968001ul + now.devices;
    if (port) note("a port that is not the main one");
    if (m) release(m); /* it is consumed */
    entries += is_here;
    return is_here ? 77 : 0;
}
object *property_of(unsigned entry, const char *plane, object *key, void *, uint32_t how) {
    auto *s = checked<string>(key, "NSString", "IORegistryEntrySearchCFProperty");
    if (entry != 77 || std::strcmp(plane, "IOService") != 0 || how != 3) note("IORegistryEntrySearchCFProperty of what is not there");
    if (!s || s->text != "gpu-core-count" || !now.cores) return nullptr;
    return now.cores_are_text ? static_cast<object *>(make<string>("ten")) : make<number>();
}
int release_entry(unsigned entry) {
    if (entry != 77 || entries-- <= 0) note("IOObjectRelease of what is not held");
    return 0;
}
object *make_string(void *, const char *s, uint32_t encoding) {
    if (encoding != 0x08000100) note("a string that is not UTF-8");
    if (is_silent("CFStringCreateWithCString")) return nullptr;
    return make<string>(s);
}
unsigned long type_of(object *o) { return dynamic_cast<number *>(o) ? 22 : 7; }
unsigned long number_type() { return 22; }
unsigned char value_of(object *o, long kind, int32_t *n) {
    if (!checked<number>(o, "CFNumber", "CFNumberGetValue") || kind != 3) note("CFNumberGetValue of no 32-bit number");
    *n = now.cores;
    return !is_silent("CFNumberGetValue"); /* as of what an int cannot hold: it is cut then */
}
void release_any(object *o) { release(o); }

/* One lock for all objects, which tells an exit that nothing was entered for. */
std::recursive_mutex     synced;
thread_local int         entered = 0;
int sync_enter(object *) {
    synced.lock();
    entered++;
    return 0;
}
int sync_exit(object *) {
    if (entered-- <= 0) note("objc_sync_exit of what was not entered");
    else synced.unlock();
    return 0;
}

uint64_t clock_ns(int) {
    static std::atomic<uint64_t> t{0};
    return t += now.tick;
}
int sleep_us(unsigned us) {
    if (!shortest_sleep || us < shortest_sleep) shortest_sleep = us;
    if (us > longest_sleep) longest_sleep = us;
    return 0;
}

} // namespace

void (*symbol(void *, const char *name))(void) {
    static const std::map<std::string, method> all = {
        {"objc_msgSend", standin_send},
        {"sel_registerName", as_method(register_name)},
        {"objc_getClass", as_method(class_named)},
        {"objc_autoreleasePoolPush", as_method(pool_push)},
        {"objc_autoreleasePoolPop", as_method(pool_pop)},
        {"MTLCreateSystemDefaultDevice", as_method(default_device)},
        {"MTLCopyAllDevices", as_method(all_devices)},
        {"usleep", as_method(sleep_us)},
        {"IORegistryEntryIDMatching", as_method(entry_matching)},
        {"IOServiceGetMatchingService", as_method(entry_of)},
        {"IORegistryEntrySearchCFProperty", as_method(property_of)},
        {"IOObjectRelease", as_method(release_entry)},
        {"CFStringCreateWithCString", as_method(make_string)},
        {"CFGetTypeID", as_method(type_of)},
        {"CFNumberGetTypeID", as_method(number_type)},
        {"CFNumberGetValue", as_method(value_of)},
        {"CFRelease", as_method(release_any)},
        {"clock_gettime_nsec_np", as_method(clock_ns)},
        {"objc_sync_enter", as_method(sync_enter)},
        {"objc_sync_exit", as_method(sync_exit)},
    };
    auto at = all.find(name);
    if (at == all.end()) note(std::string("the symbol ") + name + " is asked for, which does not exist");
    if (now.lacks.count(name)) return nullptr;
    if (!now.has_registry && std::strncmp(name, "IO", 2) == 0) return nullptr;
    return at == all.end() || !now.has_metal ? nullptr : at->second;
}

std::vector<std::string> complaints(bool leaks) {
    std::lock_guard<std::recursive_mutex> held(lock);
    std::vector<std::string>              all;
    all.swap(noted);
    if (entries.exchange(0)) all.push_back("an entry of the registry was never released");
    if (leaks)
        for (object *o : living)
            if (std::strcmp(o->kind, "class") != 0) all.push_back(std::string("a ") + o->kind + " was never released");
    return all;
}

size_t alive() {
    std::lock_guard<std::recursive_mutex> held(lock);
    return living.size();
}
size_t in_memory() { return n_objects; }

void prepare(const std::vector<sim::source> &texts) {
    std::lock_guard<std::recursive_mutex> held(lock);
    std::shared_ptr<sim::module>          m = sim::build(texts);
    for (const sim::source &s : texts) prepared[s.text] = {m, s.name};
}

std::string shape_of(const std::string &selector) {
    auto common = every_class().find(selector);
    if (common != every_class().end()) return common->second.shape;
    for (const auto &c : classes()) {
        auto at = c.second.find(selector);
        if (at != c.second.end()) return at->second.shape;
    }
    return "";
}

std::vector<sim::violation> violations() {
    std::lock_guard<std::recursive_mutex> held(lock);
    std::vector<sim::violation>           all;
    all.swap(seen_violations);
    return all;
}

size_t committed() { return n_committed.exchange(0); }

void *new_event() { return make<event>(); }
void *new_queue_of(void *) { return make<queue>(); }
void *last_pipeline() { return newest_pipeline; }

} // namespace standin
