/* Runs launches in a child process: maps buffers, binds arguments, dispatches threadgroups. */
#include "lines.h"
#include "report.h"
#include "sim.h"
#include "words.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <map>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace sim {

/* -- Buffers that both processes see ----------------------------------------------------------- */

namespace {

size_t page_size() {
    static const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    return bytes;
}
size_t up(size_t n, size_t to) { return (n + to - 1) / to * to; }

void *map_or_throw(void *where, size_t bytes, int protection, int flags, int fd, size_t offset) {
    void *p = mmap(where, bytes, protection, flags, fd, static_cast<off_t>(offset));
    if (p == MAP_FAILED) throw std::bad_alloc();
    return p;
}

} // namespace

memory::memory() {
    file_ = memfd_create("metal-sim", MFD_CLOEXEC);
    if (file_ < 0) throw std::runtime_error("cannot make shared memory");
}

memory::~memory() {
    for (buffer &b : buffers_)
        munmap(b.pages, up(b.lead + std::max<size_t>(b.bytes, 1), page_size()));
    close(file_);
}

unsigned memory::add(const std::string &name, size_t bytes, const void *initial, unsigned align) {
    buffer       b{name, bytes, file_bytes_, align < 16 ? align : 0, nullptr, initial != nullptr};
    const size_t pages = up(b.lead + std::max<size_t>(bytes, 1), page_size());
    file_bytes_ += pages;
    if (ftruncate(file_, static_cast<off_t>(file_bytes_))) throw std::bad_alloc();
    b.pages = static_cast<uint8_t *>(
        map_or_throw(nullptr, pages, PROT_READ | PROT_WRITE, MAP_SHARED, file_, b.file_page));
    if (initial) std::memcpy(b.pages + b.lead, initial, bytes);
    else std::memset(b.pages + b.lead, 0xa5, bytes);
    buffers_.push_back(b);
    return count() - 1;
}

uint8_t *memory::data(unsigned id) { return buffers_[id].pages + buffers_[id].lead; }

/* -- Where bindings lie in the address space of kernels ---------------------------------------- */

/* One region for all bindings of a launch, each between two guards. A buffer bound twice is mapped
 * twice, so that an address tells through which argument it was reached. */
class placement {
public:
    explicit placement(memory &m) : memory_(m) {
        M.device_base = reinterpret_cast<uintptr_t>(
            map_or_throw(nullptr, device_bytes + page_bytes, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        M.device_base = up(M.device_base, page_bytes);
        M.arena_base = reinterpret_cast<uintptr_t>(map_or_throw(
            nullptr, arena_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        M.device_page = static_cast<view **>(map_or_throw(
            nullptr, device_bytes / page_bytes * sizeof(view *), PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        tracked_.resize(m.count());
        for (unsigned i = 0; i < m.count(); i++) {
            track_init(tracked_[i], m.bytes(i), 2);
            tracked_[i].needs_init = !m.buffers_[i].defined;
            tracked_[i].name = m.buffers_[i].name.c_str();
        }
    }

    void clear() {
        mmap(reinterpret_cast<void *>(M.device_base), next_, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
        std::fill(M.device_page, M.device_page + next_ / page_bytes, nullptr);
        next_ = 0;
        for (view *v : views_) delete v;
        views_.clear();
        for (tracked &t : tracked_) {
            t.bytes_read = t.bytes_written = 0;
            t.reads.clear();
            t.shared = false;
        }
    }

    /* The address of byte `offset` of a buffer; 0 when the region is full. What lies before that byte is
     * the buffer's too: strides may be negative. */
    uintptr_t bind(unsigned id, size_t offset, bool writable, bool uniform,
                   const std::string &name) {
        const memory::buffer &b = memory_.buffers_[id];
        uint8_t *pages = take(up(b.lead + std::max<size_t>(b.bytes, 1), page_size()), memory_.file_,
                              b.file_page);
        if (!pages) return 0;
        view &v = *views_.back();
        v.base = reinterpret_cast<uintptr_t>(pages) + b.lead;
        v.bytes = b.bytes;
        v.track = &tracked_[id];
        v.offset = 0;
        v.writable = writable;
        v.uniform = uniform;
        snprintf(v.name, sizeof v.name, "buffer '%s'", name.c_str());
        note_sharing(id);
        return v.base + offset;
    }

    uintptr_t bind_bytes(const std::vector<uint8_t> &bytes, const std::string &name) {
        uint8_t *pages = take(up(std::max<size_t>(bytes.size(), 1), page_size()), -1, 0);
        if (!pages) return 0;
        std::memcpy(pages, bytes.data(), bytes.size());
        view &v = *views_.back();
        v.base = reinterpret_cast<uintptr_t>(pages);
        v.bytes = bytes.size();
        v.writable = false;
        v.uniform = true;
        snprintf(v.name, sizeof v.name, "bytes '%s'", name.c_str());
        return v.base;
    }

    tracked &track(unsigned id) { return tracked_[id]; }

private:
    memory              &memory_;
    std::vector<tracked> tracked_;
    std::vector<view *>  views_;
    size_t               next_ = 0;

    uint8_t *take(size_t bytes, int file, size_t file_offset) {
        const size_t whole = up(bytes, page_bytes) + 2 * page_bytes;
        if (next_ + whole > device_bytes) return nullptr;
        uint8_t *guard = reinterpret_cast<uint8_t *>(M.device_base + next_);
        map_or_throw(guard, whole, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
        if (file >= 0)
            map_or_throw(guard + page_bytes, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                         file, file_offset);
        views_.push_back(new view());
        views_.back()->number = static_cast<uint8_t>(views_.size());
        std::fill(M.device_page + next_ / page_bytes, M.device_page + (next_ + whole) / page_bytes,
                  views_.back());
        next_ += whole;
        return guard + page_bytes;
    }

    void note_sharing(unsigned id) {
        tracked   &t = tracked_[id];
        const auto times = std::count_if(views_.begin(), views_.end(),
                                         [&](const view *v) { return v->track == &t; });
        if (times < 2) return;
        t.shared = true;
        delete[] t.owner;
        t.owner = new uint8_t[t.bytes + 1]();
    }
};

/* -- The child --------------------------------------------------------------------------------- */

namespace {

violation_log *shared_log;

/* Only what a signal handler may do: write into shared memory and leave. */
void on_signal(int number, siginfo_t *info, void *context) {
    shared_log->signal = number;
    shared_log->signal_address = reinterpret_cast<uint64_t>(info->si_addr);
#if defined(__x86_64__)
    shared_log->signal_pc =
        static_cast<uint64_t>(static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_RIP]) -
        M.text_base;
#elif defined(__aarch64__)
    shared_log->signal_pc = static_cast<ucontext_t *>(context)->uc_mcontext.pc - M.text_base;
#else
    (void)context;
#endif
    shared_log->signal_thread = M.current ? M.current->index : 0;
    std::memcpy(shared_log->signal_program, M.program, sizeof M.program);
    _exit(3);
}

void catch_signals(double seconds) {
    static char stack[65536];
    stack_t     s{};
    s.ss_sp = stack;
    s.ss_size = sizeof stack;
    sigaltstack(&s, nullptr);
    struct sigaction a{};
    a.sa_sigaction = on_signal;
    a.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGTRAP})
        sigaction(number, &a, nullptr);
    itimerval t{};
    t.it_value.tv_sec = static_cast<time_t>(seconds);
    t.it_value.tv_usec = static_cast<suseconds_t>(std::fmod(seconds, 1.0) * 1e6) + 1;
    setitimer(ITIMER_REAL, &t, nullptr);
}

/* f32 denormals are zero, as operands and as results; conversions of half do not care. */
void flush_denormals() {
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040);
#elif defined(__aarch64__)
    uint64_t fpcr;
    asm volatile("mrs %0, fpcr" : "=r"(fpcr));
    asm volatile("msr fpcr, %0" : : "r"(fpcr | uint64_t{1} << 24));
#endif
}

/* Of sim.h, read_evenly: places that are read more often than most count as most do, if they are few. */
uint64_t read_evenly(const tracked &t) {
    std::map<uint32_t, size_t> places; /* by the bytes that each is read */
    size_t                     all = 0, most = 0, above = 0;
    uint32_t                   usual = 0;
    for (uint32_t bytes : t.reads)
        if (bytes) places[bytes]++, all++;
    for (const auto &[bytes, n] : places)
        if (n > most) most = n, usual = bytes;
    uint64_t sum = 0;
    for (const auto &[bytes, n] : places) {
        if (bytes > usual) above += n;
        sum += uint64_t{std::min(bytes, usual)} * n;
    }
    return above * 8 <= all ? sum : t.bytes_read;
}

class child {
public:
    child(const module &m, memory &mem, const run_options &o, report &out)
        : place_(mem), out_(out) {
        M.out = &out_;
        M.checks = o.checks;
        M.counting = o.counters;
        M.seed = o.seed;
        M.random.state = o.seed * 0x2545f4914f6cdd1dull + 1;
        load(m.path());
    }

    void run(const std::vector<launch> &launches) {
        for (const launch &l : launches) {
            out_.counters.emplace_back();
            kernel_counters &k = out_.counters.back();
            count_start(k, M.image_high - M.image_low);
            begin(l);
            if (bind(l) && limits(l)) dispatch(l);
            if (M.counting) finish_counters(l);
            forget_group_memory();
            place_.clear();
            shared_log->launch++;
            if (shared_log->count && M.stopped) break;
        }
    }

private:
    placement place_;
    report   &out_;
    void     *library_ = nullptr;

    void load(const std::string &path) {
        library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library_) throw std::runtime_error(std::string("cannot load kernels: ") + dlerror());
        link_map *map = nullptr;
        dlinfo(library_, RTLD_DI_LINKMAP, &map);
        M.text_base = map->l_addr;
        dl_iterate_phdr(
            [](dl_phdr_info *info, size_t, void *) {
                if (info->dlpi_addr != M.text_base) return 0;
                M.image_low = M.image_high = info->dlpi_addr;
                for (int i = 0; i < info->dlpi_phnum; i++)
                    if (info->dlpi_phdr[i].p_type == PT_LOAD)
                        M.image_high = std::max<uintptr_t>(
                            M.image_high, info->dlpi_addr + info->dlpi_phdr[i].p_vaddr +
                                              info->dlpi_phdr[i].p_memsz);
                return 1;
            },
            nullptr);
    }

    void begin(const launch &l) {
        M.stopped = false;
        M.current = nullptr;
        M.dispatch_start = M.group_start = ++M.stamp;
        std::memset(M.program, 0, sizeof M.program);
        for (int i = 0; i < 3; i++) M.grid[i] = l.grid[i], M.local_size[i] = l.threads[i];
        std::fill(std::begin(M.arg_address), std::end(M.arg_address), 0ul);
        std::fill(std::begin(M.group_address), std::end(M.group_address), 0ul);
        M.tally->kernel = l.kernel->name;
        sync_start_dispatch();
    }

    /* -- Arguments ----------------------------------------------------------------------------- */

    static const argument *declared(const kernel &k, unsigned index, bool group) {
        for (const argument &a : k.arguments)
            if (a.index == index && (a.where == space::threadgroup) == group) return &a;
        return nullptr;
    }

    bool fail(const char *format, const std::string &name, size_t a = 0, size_t b = 0) {
        violate_at(violation_kind::BINDING, 0, format, name.c_str(), a, b);
        return false;
    }

    bool bind(const launch &l) {
        bool ok = true;
        for (const buffer_binding &b : l.buffers) ok &= bind_buffer(*l.kernel, b);
        for (bytes_binding b : l.bytes) ok &= bind_bytes(l, b);
        for (const threadgroup_binding &t : l.threadgroup) ok &= bind_group(*l.kernel, t);
        for (const argument &a : l.kernel->arguments)
            if (!(a.where == space::threadgroup ? M.group_address : M.arg_address)[a.index])
                ok = fail("argument '%s' at index %zu has nothing bound", a.name, a.index);
        return ok && elements(*l.kernel);
    }

    bool bind_buffer(const kernel &k, const buffer_binding &b) {
        const argument *a = declared(k, b.index, false);
        if (!a)
            return fail("%s: a buffer is bound at index %zu, which the kernel does not declare",
                        k.name, b.index);
        const bool writable = b.writable && !a->read_only;
        M.arg_address[b.index] =
            place_.bind(b.buffer, b.offset, writable, a->where == space::constant, a->name);
        return M.arg_address[b.index] != 0 || fail("no room to bind '%s'", a->name);
    }

    bool bind_bytes(const launch &l, bytes_binding &b) {
        const argument *a = declared(*l.kernel, b.index, false);
        if (!a)
            return fail("%s: bytes are bound at index %zu, which the kernel does not declare",
                        l.kernel->name, b.index);
        if (b.bytes.size() > 4096)
            return fail("'%s': length(%zu) must be <= 4096", a->name, b.bytes.size());
        for (const address_binding &p : l.addresses) {
            if (p.index != b.index) continue;
            const uint64_t address = place_.bind(p.buffer, p.offset, p.writable, false,
                                                 a->name + "[" + std::to_string(p.at) + "]");
            if (p.at + 8 > b.bytes.size())
                return fail("'%s': an address at byte %zu does not fit into %zu bytes", a->name,
                            p.at, b.bytes.size());
            std::memcpy(b.bytes.data() + p.at, &address, 8);
        }
        M.arg_address[b.index] = place_.bind_bytes(b.bytes, a->name);
        return true;
    }

    bool bind_group(const kernel &k, const threadgroup_binding &t) {
        if (!declared(k, t.index, true))
            return fail(
                "%s: threadgroup memory is bound at index %zu, which the kernel does not declare",
                k.name, t.index);
        if (t.bytes % 16)
            return fail("%s: length(%zu) must be a multiple of 16 bytes", k.name, t.bytes);
        if (t.bytes > max_group_bytes)
            return fail("%s: threadgroup memory of %zu bytes exceeds the maximum of %zu", k.name,
                        t.bytes, max_group_bytes);
        M.group_address[t.index] = add_group_argument(t.index, t.bytes);
        return true;
    }

    /* Sizes and alignments that only clang knew. */
    bool elements(const kernel &k) {
        typedef unsigned long (*info)(unsigned);
        const info about = reinterpret_cast<info>(dlsym(library_, (k.symbol + "_info").c_str()));
        bool       ok = true;
        for (unsigned i = 0; about && i < k.arguments.size(); i++) {
            const argument     &a = k.arguments[i];
            const unsigned long word = about(i);
            const size_t        bytes = word & 0xffffffff, align = word >> 32;
            if (a.where == space::threadgroup) continue;
            const uintptr_t address = M.arg_address[a.index];
            const view     *v = M.device_page[(address - M.device_base) / page_bytes];
            if (align && address % align)
                ok =
                    fail("'%s' is bound at an address that is not a multiple of %zu, the alignment "
                         "of its type",
                         a.name, align);
            if (a.reference && v && v->bytes < bytes)
                ok = fail("'%s' needs %zu bytes, %zu are bound", a.name, bytes, v->bytes);
        }
        return ok;
    }

    bool limits(const launch &l) {
        const uint64_t n = uint64_t{l.threads[0]} * l.threads[1] * l.threads[2];
        const unsigned declared_max = l.kernel->max_threads;
        M.thread_count = static_cast<unsigned>(n);
        if (n == 0 || n > max_group_threads)
            violate_at(violation_kind::LIMIT, 0,
                       "%llu threads per threadgroup; the device takes 1 to %u",
                       static_cast<unsigned long long>(n), max_group_threads);
        else if (declared_max && n > declared_max)
            violate_at(violation_kind::LIMIT, 0,
                       "%llu threads per threadgroup, but max_total_threads_per_threadgroup is %u",
                       static_cast<unsigned long long>(n), declared_max);
        else if (n % simd_width)
            violate_at(violation_kind::LIMIT, 0,
                       "%llu threads per threadgroup is not a multiple of %u",
                       static_cast<unsigned long long>(n), simd_width);
        return n > 0 && n <= max_group_threads;
    }

    /* -- Threadgroups -------------------------------------------------------------------------- */

    void dispatch(const launch &l) {
        const auto entry = reinterpret_cast<void (*)()>(dlsym(library_, l.kernel->symbol.c_str()));
        const uint64_t n = uint64_t{l.grid[0]} * l.grid[1] * l.grid[2];
        if (!entry) throw std::runtime_error("no entry " + l.kernel->symbol);
        std::vector<uint32_t> order(n);
        for (uint32_t i = 0; i < n; i++) order[i] = i;
        for (uint32_t i = static_cast<uint32_t>(n); i > 1; i--)
            std::swap(order[i - 1], order[M.random.below(i)]);
        for (uint32_t g : order) {
            M.program[0] = g % l.grid[0];
            M.program[1] = g / l.grid[0] % l.grid[1];
            M.program[2] = g / l.grid[0] / l.grid[1];
            run_threadgroup(entry);
            if (M.stopped) break;
        }
        M.tally->threadgroups = n;
        M.tally->threads = n * M.thread_count;
    }

    void finish_counters(const launch &l) {
        count_finish();
        std::vector<unsigned> done;
        for (const buffer_binding &b : l.buffers) {
            if (std::find(done.begin(), done.end(), b.buffer) != done.end()) continue;
            done.push_back(b.buffer);
            const tracked &t = place_.track(b.buffer);
            buffer_traffic traffic{t.name, t.bytes_read, t.bytes_written, 0, 0, read_evenly(t)};
            for (size_t i = 0; i < t.bytes >> t.shift; i++) {
                const cell &c = t.cells[i];
                if (std::max(c.read, c.read_elsewhere) >= M.dispatch_start)
                    traffic.distinct_read += size_t{1} << t.shift;
                if (c.written >= M.dispatch_start) traffic.distinct_written += size_t{1} << t.shift;
            }
            M.tally->buffers.push_back(traffic);
        }
    }
};

/* -- From the child to the parent -------------------------------------------------------------- */

nlohmann::json site_to_json(const access_site &s) {
    return {s.line,  static_cast<int>(s.where), s.write, s.simd_accesses, s.bytes, s.touched,
            s.fewest};
}
access_site site_from_json(const nlohmann::json &j) {
    access_site s;
    s.line = j[0], s.where = static_cast<space>(j[1].get<int>()), s.write = j[2];
    s.simd_accesses = j[3], s.bytes = j[4], s.touched = j[5], s.fewest = j[6];
    return s;
}

nlohmann::json counters_to_json(const kernel_counters &k) {
    nlohmann::json j = {{"kernel", k.kernel},
                        {"n",
                         {k.threadgroups, k.threads, k.barriers, k.simd_ops, k.atomics, k.accesses,
                          k.threadgroup_bytes}}};
    j["sites"] = j["buffers"] = nlohmann::json::array();
    for (const access_site &s : k.sites) j["sites"].push_back(site_to_json(s));
    for (const buffer_traffic &b : k.buffers)
        j["buffers"].push_back(
            {b.name, b.bytes_read, b.bytes_written, b.distinct_read, b.distinct_written,
             b.read_evenly});
    return j;
}
kernel_counters counters_from_json(const nlohmann::json &j) {
    kernel_counters k;
    k.kernel = j["kernel"];
    const nlohmann::json &n = j["n"];
    k.threadgroups = n[0], k.threads = n[1], k.barriers = n[2], k.simd_ops = n[3], k.atomics = n[4],
    k.accesses = n[5], k.threadgroup_bytes = n[6];
    for (const auto &s : j["sites"]) k.sites.push_back(site_from_json(s));
    for (const auto &b : j["buffers"]) k.buffers.push_back({b[0], b[1], b[2], b[3], b[4], b[5]});
    return k;
}

std::string pack(const report &r) {
    nlohmann::json j = {{"log", r.log}, {"n", {r.benign_races, r.aliased, r.zero_divisions}}};
    j["counters"] = nlohmann::json::array();
    for (const kernel_counters &k : r.counters) j["counters"].push_back(counters_to_json(k));
    return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}
void unpack(const std::string &text, report &r) {
    const nlohmann::json j = nlohmann::json::parse(text, nullptr, false);
    if (j.is_discarded()) return;
    r.log = j["log"].get<std::vector<std::string>>();
    r.benign_races = j["n"][0], r.aliased = j["n"][1], r.zero_divisions = j["n"][2];
    for (const auto &k : j["counters"]) r.counters.push_back(counters_from_json(k));
}

/* Instruction offsets become lines; sites of one line and kind become one. */
void resolve_sites(const module &m, kernel_counters &k) {
    std::vector<access_site> merged;
    for (access_site s : k.sites) {
        std::string file;
        unsigned    line = 0;
        m.locate(s.line - 1, file, line);
        s.line = line;
        const auto same = std::find_if(merged.begin(), merged.end(), [&](const access_site &o) {
            return o.line == s.line && o.where == s.where && o.write == s.write;
        });
        if (same == merged.end()) {
            merged.push_back(s);
            continue;
        }
        same->simd_accesses += s.simd_accesses, same->bytes += s.bytes, same->touched += s.touched,
            same->fewest += s.fewest;
    }
    std::sort(merged.begin(), merged.end(),
              [](const access_site &a, const access_site &b) { return a.line < b.line; });
    k.sites = merged;
}

violation resolve(const module &m, const std::vector<launch> &launches, const violation_record &r) {
    violation v;
    v.kind = r.kind;
    v.text = metal_words(r.text);
    v.thread = r.thread;
    v.times = r.times;
    std::copy(r.program, r.program + 3, v.program.begin());
    if (r.launch < launches.size()) {
        const kernel &k = *launches[r.launch].kernel;
        v.kernel = k.name;
        v.file = m.units()[k.unit].name;
    }
    std::string file;
    v.line = r.at >> 12;
    if (r.pc && m.locate(r.pc - 1, file, v.line)) v.file = file;
    return v;
}

/* How the child died, as a record. Not when it had just reported the access that killed it. */
bool fatal_record(const violation_log &log, int status, double seconds, violation_record &r) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return false;
    std::memset(&r, 0, sizeof r);
    r.times = 1;
    r.launch = log.launch;
    r.thread = log.signal_thread;
    std::memcpy(r.program, log.signal_program, sizeof r.program);
    r.pc = log.signal ? log.signal_pc + 1 : 0;
    const bool late = log.signal == SIGALRM || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    r.kind = late ? violation_kind::TIME : violation_kind::CRASH;
    if (late) snprintf(r.text, sizeof r.text, "still running after %.1f seconds", seconds);
    else if (log.signal == SIGFPE) snprintf(r.text, sizeof r.text, "integer division trapped");
    else if (log.signal)
        snprintf(r.text, sizeof r.text, "signal %d at address %#llx", log.signal,
                 static_cast<unsigned long long>(log.signal_address));
    else
        snprintf(r.text, sizeof r.text, "the simulator's child ended with status %d",
                 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    return true;
}

[[noreturn]] void child_main(const module &m, const std::vector<launch> &launches, memory &mem,
                             const run_options &o, int out) {
    report r;
    int    status = 0;
    try {
        set_violation_log(shared_log);
        catch_signals(o.seconds);
        child c(m, mem, o, r);
        if (o.flush) flush_denormals();
        c.run(launches);
    } catch (const std::exception &e) {
        violate_at(violation_kind::CRASH, 0, "%s", e.what());
    }
    const itimerval off{};
    setitimer(ITIMER_REAL, &off, nullptr);
    const std::string text = pack(r);
    for (size_t at = 0; at < text.size();) {
        const ssize_t n = write(out, text.data() + at, text.size() - at);
        if (n <= 0) status = 1;
        if (n <= 0) break;
        at += static_cast<size_t>(n);
    }
    _exit(status);
}

/* Reads until the child closes its end; kills it when it is far too late. */
std::string collect(int in, pid_t child_id, double seconds) {
    std::string text;
    char        buffer[65536];
    fd_set      set;
    while (true) {
        FD_ZERO(&set);
        FD_SET(in, &set);
        timeval   wait{static_cast<time_t>(seconds) + 5, 0};
        const int ready = select(in + 1, &set, nullptr, nullptr, &wait);
        if (ready == 0) kill(child_id, SIGKILL);
        const ssize_t n = read(in, buffer, sizeof buffer);
        if (n <= 0) return text;
        text.append(buffer, static_cast<size_t>(n));
    }
}

} // namespace

report run(const module &m, const std::vector<launch> &launches, memory &mem,
           const run_options &options) {
    const auto began = std::chrono::steady_clock::now();
    for (const launch &l : launches) make_stacks(l.threads[0] * l.threads[1] * l.threads[2]); /* once for all children */
    shared_log = static_cast<violation_log *>(map_or_throw(
        nullptr, sizeof(violation_log), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    int pipe_ends[2];
    if (pipe(pipe_ends)) throw std::runtime_error("cannot make a pipe");
    const pid_t id = fork();
    if (id == 0) {
        close(pipe_ends[0]);
        child_main(m, launches, mem, options, pipe_ends[1]);
    }
    close(pipe_ends[1]);
    if (id < 0) throw std::runtime_error("cannot fork");
    const std::string text = collect(pipe_ends[0], id, options.seconds);
    close(pipe_ends[0]);
    int status = 0;
    waitpid(id, &status, 0);

    report r;
    unpack(text, r);
    for (kernel_counters &k : r.counters) resolve_sites(m, k);
    for (unsigned i = 0; i < shared_log->count; i++)
        r.violations.push_back(resolve(m, launches, shared_log->record[i]));
    violation_record fatal;
    if (fatal_record(*shared_log, status, options.seconds, fatal))
        r.violations.push_back(resolve(m, launches, fatal));
    munmap(shared_log, sizeof(violation_log));
    r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return r;
}

} // namespace sim
