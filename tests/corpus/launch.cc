#include "launch.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>

namespace corpus {

namespace {

/* Turns plan and case into launches: buffers get their contents, arguments their places. */
class binder {
public:
    binder(const sim::module &m, const std::string &unit, const sim::launch_plan &plan,
           const recorded_case &c, sim::memory &mem)
        : module_(m), unit_(unit), plan_(plan), case_(c), memory_(mem) {}

    std::vector<sim::launch> run() {
        add_buffers();
        const size_t programs = size_t{case_.grid[0]} * case_.grid[1] * case_.grid[2];
        for (const auto &s : plan_.scratch)
            scratch_[s.id] = add_scratch("scratch " + std::to_string(s.id),
                                         s.bytes + programs * s.program_bytes, s.zero);
        std::vector<sim::launch> launches;
        for (const sim::plan_kernel &k : plan_.kernels) launches.push_back(launch_of(k));
        return launches;
    }

    unsigned                     buffer(unsigned of_case) const { return buffers_[of_case]; }
    const std::vector<unsigned> &debug() const { return debug_; }
    const std::string           &name(unsigned of_case) const { return names_[of_case]; }

private:
    const sim::module           &module_;
    const std::string           &unit_;
    const sim::launch_plan      &plan_;
    const recorded_case         &case_;
    sim::memory                 &memory_;
    std::vector<unsigned>        buffers_, debug_;
    std::vector<std::string>     names_;
    std::map<unsigned, unsigned> scratch_;

    [[noreturn]] static void bad(const std::string &what) { throw std::runtime_error(what); }

    const recorded_parameter &parameter(const sim::plan_kernel   &k,
                                        const sim::plan_argument &a) const {
        if (a.param >= case_.parameters.size())
            bad(k.name + ": argument '" + a.name + "' is parameter " + std::to_string(a.param) +
                ", the case has " + std::to_string(case_.parameters.size()));
        return case_.parameters[a.param];
    }

    const recorded_parameter &pointer(const sim::plan_kernel   &k,
                                      const sim::plan_argument &a) const {
        const recorded_parameter &p = parameter(k, a);
        if (!p.is_buffer)
            bad(k.name + ": argument '" + a.name +
                "' is a buffer in the plan, a scalar in the case");
        return p;
    }

    /* The alignment that the plan's arguments claim for a buffer, and no more. Where several arguments
     * stand on one buffer, what satisfies all of them. */
    unsigned claimed_alignment(unsigned buffer) const {
        unsigned align = 0;
        for (const sim::plan_kernel &k : plan_.kernels)
            for (const sim::plan_argument &a : k.arguments)
                if ((a.kind == sim::plan_argument_kind::buffer ||
                     a.kind == sim::plan_argument_kind::address) &&
                    a.param < case_.parameters.size() && case_.parameters[a.param].is_buffer &&
                    case_.parameters[a.param].buffer == buffer)
                    align = std::max(align, std::max(1u, a.align));
        return align ? align : 128;
    }

    std::string name_of(unsigned buffer) const {
        for (const sim::plan_kernel &k : plan_.kernels)
            for (const sim::plan_argument &a : k.arguments)
                if (a.kind == sim::plan_argument_kind::buffer &&
                    a.param < case_.parameters.size() && case_.parameters[a.param].is_buffer &&
                    case_.parameters[a.param].buffer == buffer && !a.name.empty())
                    return a.name;
        return "buffer " + std::to_string(buffer);
    }

    void add_buffers() {
        for (unsigned i = 0; i < case_.buffers.size(); i++) {
            const recorded_buffer &b = case_.buffers[i];
            names_.push_back(name_of(i));
            buffers_.push_back(memory_.add(names_[i], b.size,
                                           b.has_in ? case_.bytes.data() + b.in : nullptr,
                                           claimed_alignment(i)));
        }
    }

    unsigned add_scratch(const std::string &name, size_t bytes, bool zero) {
        const std::vector<uint8_t> zeros(zero ? bytes : 0);
        return memory_.add(name, bytes, zero ? zeros.data() : nullptr);
    }

    /* Was the kernel compiled for these arguments? */
    void check_specialized(const sim::plan_kernel &k) const {
        for (const sim::plan_specialization &s : k.specialized) {
            if (s.param >= case_.parameters.size() || !s.multiple) continue;
            const recorded_parameter &p = case_.parameters[s.param];
            if (p.is_buffer != s.is_pointer) continue; /* bind() says what is wrong with it */
            const bool fits = p.is_buffer
                                  ? p.offset % s.multiple == 0
                                  : std::strtoull(p.text.c_str(), nullptr, 0) % s.multiple == 0;
            if (!fits)
                bad("`" + s.name + "` is " +
                    (p.is_buffer ? "at byte " + std::to_string(p.offset) + " of its buffer"
                                 : p.text) +
                    ", but this kernel was compiled for a multiple of " +
                    std::to_string(s.multiple));
        }
    }

    sim::launch launch_of(const sim::plan_kernel &k) {
        check_specialized(k);
        sim::launch l;
        l.kernel = module_.find(unit_, k.entry);
        if (!l.kernel) bad("the Metal text has no kernel '" + k.entry + "'");
        l.grid = k.per_program ? case_.grid : k.grid;
        l.grid[0] = (l.grid[0] + k.programs - 1) / k.programs;
        for (unsigned i = 0; i < 3; i++) {
            if (k.times[i] > 1 && l.grid[i] != 1)
                bad(k.name + ": parts along an axis of the grid that is in use");
            l.grid[i] *= k.times[i];
        }
        l.threads = k.threads;
        for (const auto &d : k.dynamic)
            l.threadgroup.push_back({static_cast<unsigned>(d[0]), d[1]});
        for (const sim::plan_argument &a : k.arguments) bind(k, a, l);
        return l;
    }

    void bind(const sim::plan_kernel &k, const sim::plan_argument &a, sim::launch &l) {
        switch (a.kind) {
        case sim::plan_argument_kind::buffer: {
            const recorded_parameter &p = pointer(k, a);
            l.buffers.push_back({a.index, buffers_[p.buffer], p.offset, a.writes});
            return;
        }
        case sim::plan_argument_kind::scratch: {
            if (!scratch_.count(a.id))
                bad(k.name + ": scratch " + std::to_string(a.id) + " is not in the plan's list");
            l.buffers.push_back({a.index, scratch_[a.id], 0, a.writes});
            return;
        }
        case sim::plan_argument_kind::debug: {
            debug_.push_back(add_scratch("debug", a.size, true));
            l.buffers.push_back({a.index, debug_.back(), 0, true});
            return;
        }
        case sim::plan_argument_kind::bytes: return put(l, a, scalar(k, a));
        case sim::plan_argument_kind::programs:
            if (a.param > 2) bad(k.name + ": programs along axis " + std::to_string(a.param));
            return put(l, a, bytes_of(case_.grid[a.param]));
        case sim::plan_argument_kind::padding: return put(l, a, bytes_of(uint32_t{pointer(k, a).pads_nan}));
        case sim::plan_argument_kind::length: {
            const recorded_parameter &p = pointer(k, a);
            return put(l, a, bytes_of(uint64_t{case_.buffers[p.buffer].size - p.offset}));
        }
        case sim::plan_argument_kind::address: {
            const recorded_parameter &p = pointer(k, a);
            put(l, a, std::vector<uint8_t>(8));
            l.addresses.push_back({a.index, a.offset, buffers_[p.buffer], p.offset, a.writes});
            return;
        }
        }
    }

    std::vector<uint8_t> scalar(const sim::plan_kernel &k, const sim::plan_argument &a) const {
        const recorded_parameter &p = parameter(k, a);
        if (p.is_buffer)
            bad(k.name + ": argument '" + a.name +
                "' is a scalar in the plan, a buffer in the case");
        return encode_scalar(p, a.type, a.size);
    }

    template <typename number> static std::vector<uint8_t> bytes_of(number v) {
        const auto *p = reinterpret_cast<const uint8_t *>(&v);
        return {p, p + sizeof v};
    }

    static void put(sim::launch &l, const sim::plan_argument &a,
                    const std::vector<uint8_t> &bytes) {
        auto packed = std::find_if(l.bytes.begin(), l.bytes.end(),
                                   [&](const sim::bytes_binding &b) { return b.index == a.index; });
        if (packed == l.bytes.end()) {
            l.bytes.push_back({a.index, {}});
            packed = l.bytes.end() - 1;
        }
        /* a struct ends at a multiple of 8 bytes, the largest alignment in it */
        const size_t end = a.offset ? (a.offset + bytes.size() + 7) / 8 * 8 : bytes.size();
        if (packed->bytes.size() < end) packed->bytes.resize(end);
        std::copy(bytes.begin(), bytes.end(), packed->bytes.begin() + static_cast<long>(a.offset));
    }
};

bool bound_for_writing(const sim::launch_plan &plan, const recorded_case &c, unsigned buffer) {
    for (const sim::plan_kernel &k : plan.kernels)
        for (const sim::plan_argument &a : k.arguments)
            if (a.writes && a.kind != sim::plan_argument_kind::bytes &&
                a.param < c.parameters.size() && c.parameters[a.param].is_buffer &&
                c.parameters[a.param].buffer == buffer)
                return true;
    return false;
}

buffer_result check_buffer(const recorded_case &c, unsigned i, const precision &p, bool written,
                           const uint8_t *got) {
    buffer_result r;
    r.buffer = i;
    r.recorded = c.buffers[i].has_out;
    r.result = compare_buffer(c, i, p, written, got);
    return r;
}

} // namespace

bool case_result::right() const { return why().empty(); }

std::string case_result::why() const {
    if (!plan_error.empty()) return plan_error;
    if (!report.ok()) return report.violations.front().str();
    for (const buffer_result &b : buffers)
        if (!b.result.right)
            return b.name + (b.recorded ? ": " : ", which the launch must not change: ") +
                   b.result.why;
    return "";
}

case_result run_case(const sim::module &m, const std::string &unit, const sim::launch_plan &plan,
                     const recorded_case &c, const precision &p, const sim::run_options &options) {
    case_result r;
    try {
        sim::memory                    mem;
        binder                         b(m, unit, plan, c, mem);
        const std::vector<sim::launch> launches = b.run();
        r.report = sim::run(m, launches, mem, options);
        for (unsigned i = 0; i < c.buffers.size(); i++) {
            r.buffers.push_back(
                check_buffer(c, i, p, bound_for_writing(plan, c, i), mem.data(b.buffer(i))));
            r.buffers.back().name = b.name(i);
            const uint8_t *left = mem.data(b.buffer(i));
            r.after.emplace_back(left, left + c.buffers[i].size);
        }
        for (unsigned d : b.debug())
            r.debug.insert(r.debug.end(), mem.data(d), mem.data(d) + mem.bytes(d));
    } catch (const std::exception &e) {
        r.plan_error = e.what();
    }
    return r;
}

} // namespace corpus
