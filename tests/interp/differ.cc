#include "differ.h"
#include "../corpus/jobs.h"
#include "../corpus/launch.h"
#include "../sim/files.h"
#include "interp.h"
#include "maker.h"
#include "mutate.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace made {

const char *name_of(verdict v) {
    static const char *const names[] = {"agrees", "DISAGREES", "refused", "VIOLATION", "FAULTY", "left open"};
    return names[static_cast<int>(v)];
}

/* -- Where modules come from ------------------------------------------------------------------------- */

static bool ends_with(const std::string &s, const std::string &end) { return s.size() >= end.size() && s.compare(s.size() - end.size(), end.size(), end) == 0; }

/* The type that a parameter points to, or its own, as the module's text has it. */
static launch launch_of(const corpus::recorded_case &c, const std::string &ttir) {
    launch l;
    char   why[400];
    l.kernel = c.kernel;
    l.grid = c.grid;
    for (const corpus::recorded_buffer &b : c.buffers) {
        std::vector<uint8_t> bytes(b.size, 0x55);
        if (b.has_in) std::copy_n(c.bytes.begin() + static_cast<long>(b.in), b.size, bytes.begin());
        l.buffers.push_back(bytes);
        l.types.push_back("i8");
        l.within.push_back(0);
    }
    ti_module *m = ti_read(ttir.data(), ttir.size(), why, sizeof why);
    if (!m) throw std::runtime_error(why);
    for (unsigned i = 0; i < c.parameters.size(); i++) {
        const corpus::recorded_parameter &p = c.parameters[i];
        if (p.pads_nan || ti_descriptor_rank(m, c.kernel.c_str(), i)) throw std::runtime_error("a descriptor is passed");
        if (p.is_buffer) {
            const std::string type = ti_pointee(m, c.kernel.c_str(), i);
            l.add_pointer(type, p.buffer, p.offset);
            l.types[p.buffer] = type == "i1" ? "i8" : type;
        } else {
            l.add_scalar(ti_scalar_type(m, c.kernel.c_str(), i), p.text);
        }
    }
    ti_free(m);
    return l;
}

static source unchanged(const std::string &name, const std::set<std::string> &without) {
    source s;
    s.name = name;
    if (!ends_with(name, ".ttir")) {
        s.ttir = maker(std::strtoull(name.c_str(), nullptr, 10), without).run();
        s.l = read_head(s.ttir);
        s.certain = true;
        return s;
    }
    const std::string beside = name.substr(0, name.size() - 5) + ".case";
    s.ttir = sim::read_file(name);
    s.certain = s.ttir.find("//! ") != std::string::npos && !sim::exists(beside);
    s.l = s.certain ? read_head(s.ttir) : launch_of(corpus::read_case(beside), s.ttir);
    return s;
}

source source_of(const std::string &name, const std::set<std::string> &without) {
    const size_t mark = name.rfind('~');
    source       s = unchanged(name.substr(0, mark), without);
    s.name = name;
    if (mark == std::string::npos) return s;
    numbers rng(std::strtoull(name.c_str() + mark + 1, nullptr, 10));
    s.certain = false;
    mutate(s.ttir, s.l, rng, s.said);
    return s;
}

static std::string file_name(const std::string &name) {
    std::string s = ends_with(name, ".ttir") ? name.substr(0, name.size() - 5) : name;
    for (char &c : s)
        if (c == '/' || c == '~') c = '_';
    return s;
}

std::string write_module(const source &s, const std::string &directory) {
    const std::string path = directory + "/" + file_name(s.name);
    sim::write_file(path + ".ttir", s.ttir);
    if (s.ttir.find("//! ") == std::string::npos) write_case(path, s.l, s.l.buffers, "random", s.name);
    return path + ".ttir";
}

void remove_module(const source &s, const std::string &directory) {
    for (const char *end : {".ttir", ".case", ".bin"}) std::remove((directory + "/" + file_name(s.name) + end).c_str());
}

/* -- One module ---------------------------------------------------------------------------------- */

namespace {

const unsigned a_minute = 60;

struct text { /* of Metal, made in some way */
    std::string      way, unit;
    corpus::compiled metal;
    sim::launch_plan plan;
};

struct work {
    const source                     *of;
    judged                            j;
    std::vector<std::vector<uint8_t>> want;
    std::vector<text>                 texts;
    bool                              races = false, orders = false;
    double                            seconds = 0; /* that the interpreter took */

    bool end(verdict v, const std::string &why, const std::string &way = "") {
        if (j.what == verdict::agrees) j.what = v, j.why = why, j.way = way;
        return false;
    }
    bool leave_open(reason r, const std::string &why, const std::string &way = "") {
        if (j.what == verdict::agrees) j.open = r;
        return end(verdict::left_open, why, way);
    }
};

bool interpret(work &w) {
    char          why[400];
    const source &s = *w.of;
    if (!ti_round_trip(s.ttir.data(), s.ttir.size(), why, sizeof why)) return w.end(verdict::faulty, why);
    const double  begin = corpus::now();
    try {
        w.want = run(s.ttir, s.l, 4000000);
        w.seconds = corpus::now() - begin;
        if (s.certain) return true;
        const allowed a = tolerances(s.ttir, s.l, w.want, 4);
        w.races = a.why & TI_RACE;
        w.orders = a.why & TI_ORDER;
        if (a.all_open()) return w.leave_open(a.first(), "all is open");
    } catch (const stopped &e) {
        return s.certain ? w.end(verdict::faulty, e.what()) : w.leave_open(e.why, e.what());
    } catch (const std::exception &e) { /* pointers in memory */
        return s.certain ? w.end(verdict::faulty, e.what()) : w.leave_open(reason::unknown, e.what());
    }
    return true;
}

/* Each module the first way, and some of the others. Bounds leave out what a changed module does in front of its parameters. */
std::vector<std::string> ways_for(const source &s, const differ_options &o) {
    std::vector<std::string> rest(o.ways.begin() + 1, o.ways.end()), all = {o.ways.front()};
    numbers                  rng(std::hash<std::string>()(s.name));
    if (!s.certain)
        rest.erase(std::remove_if(rest.begin(), rest.end(), [](const std::string &w) { return w.find("--bounds") != std::string::npos; }), rest.end());
    while (all.size() < o.ways_each && !rest.empty()) {
        const size_t k = rng.below(rest.size());
        all.push_back(rest[k]);
        rest.erase(rest.begin() + static_cast<long>(k));
    }
    return all;
}

/* Parameters on one buffer, as --alias takes them: "a=b,c=d". */
std::string aliases_of(const source &s) {
    const size_t             at = s.ttir.find("tt.func public @"), end = s.ttir.find('\n', at);
    std::vector<std::string> names;
    std::string              all;
    for (const word &w : words_of(s.ttir.substr(at, end - at)))
        if (w.text[0] == '%') names.push_back(w.text.substr(1));
    for (size_t i = 0; i < s.l.parameters.size() && names.size() == s.l.parameters.size(); i++)
        for (size_t k = 0; k < i; k++)
            if (s.l.parameters[i].is_pointer && s.l.parameters[k].is_pointer && s.l.parameters[i].buffer == s.l.parameters[k].buffer)
                all += (all.empty() ? "" : ",") + names[k] + "=" + names[i];
    return all;
}

/* Refused with a reason that a user can act on; a crash or an internal error is none. */
bool is_refusal(const corpus::diag &d) { return !d.code.empty() && d.code.compare(0, 3, "TM9") != 0; }

bool compile_one_way(work &w, const std::string &path, const std::string &way, const differ_options &o) {
    text                    t;
    corpus::compile_options c = o.compile;
    c.seconds = a_minute;
    const std::string       shared = aliases_of(*w.of);
    if (!shared.empty()) c.more = {"--alias", shared};
    std::istringstream      in(way);
    for (std::string s; in >> s;) c.more.push_back(s);
    t.way = way;
    t.metal = corpus::compile_ttir(path, c);
    if (t.metal.late) return w.leave_open(reason::slow, "the compiler", way);
    if (!t.metal.ok) {
        const corpus::diag d = t.metal.diags.empty() ? corpus::diag() : t.metal.diags.front();
        if (is_refusal(d) && !w.texts.empty()) return true; /* what the GPU or the options do not allow */
        const std::string  why = d.code + " " + d.place + " " + d.text;
        if (is_refusal(d) && !w.of->certain) return w.leave_open(reason::module, why, way);
        return w.end(is_refusal(d) ? verdict::refused : verdict::violation, why, way);
    }
    try {
        t.plan = sim::parse_plan(t.metal.plan);
    } catch (const std::exception &e) {
        return w.end(verdict::violation, e.what(), way);
    }
    for (const text &x : w.texts)
        if (x.metal.msl == t.metal.msl && x.metal.plan == t.metal.plan) return true;
    t.unit = w.of->name + " " + way;
    w.texts.push_back(t);
    return true;
}

void compile(work &w, const differ_options &o) {
    const std::string path = write_module(*w.of, o.directory);
    for (const std::string &way : ways_for(*w.of, o))
        if (!compile_one_way(w, path, way, o)) break;
    w.j.texts = static_cast<unsigned>(w.texts.size());
}

corpus::recorded_case case_of(const source &s) {
    corpus::recorded_case c;
    c.name = s.name;
    c.kernel = s.l.kernel;
    c.grid = s.l.grid;
    for (const auto &bytes : s.l.buffers) {
        corpus::recorded_buffer b;
        b.size = bytes.size();
        b.has_in = true;
        b.in = c.bytes.size();
        c.bytes.append(bytes.begin(), bytes.end());
        c.buffers.push_back(b);
    }
    for (const parameter &p : s.l.parameters) {
        corpus::recorded_parameter r;
        r.is_buffer = p.is_pointer;
        r.buffer = p.buffer;
        r.offset = p.offset;
        if (p.is_pointer) r.type = corpus::parse_element(p.type == "i1" ? "i8" : p.type);
        r.text = p.text;
        c.parameters.push_back(r);
    }
    return c;
}

/* Many runs of the interpreter tell better what is open than the few at first. */
std::string compare(work &w, const std::vector<std::vector<uint8_t>> &got) {
    const source &s = *w.of;
    if (s.certain) return difference(s.l, w.want, got, allowed());
    std::string why;
    for (const unsigned runs : {4u, 40u, 200u}) { /* the last for what an open value leads to: one of many bins */
        const allowed a = tolerances(s.ttir, s.l, w.want, runs);
        why = difference(s.l, w.want, got, a);
        if (why.empty() || (runs == 40 && !(a.why & (TI_ORDER | TI_VALUE)))) break;
    }
    return why;
}

bool is_race(const sim::report &r) {
    return !r.ok() && (r.violations.front().kind == sim::violation_kind::RACE || r.violations.front().kind == sim::violation_kind::GRID_RACE);
}

/* Threads of a reduction that has no one result may decide differently where all must the same. */
bool threads_part(const sim::report &r) {
    const sim::violation_kind k = r.ok() ? sim::violation_kind::RACE : r.violations.front().kind;
    return k == sim::violation_kind::BARRIER || k == sim::violation_kind::SIMD;
}

void simulate(const sim::module &m, work &w, const text &t, const differ_options &o) {
    for (const sim::unit &u : m.units())
        if (u.name == t.unit && !u.errors.empty()) {
            if (u.late) w.leave_open(reason::slow, u.errors.front().str(), t.way);
            else w.end(verdict::violation, "Metal text: " + u.errors.front().str(), t.way);
            return;
        }
    sim::run_options options;
    options.seed = o.schedule;
    options.seconds = a_minute;
    const corpus::case_result r = corpus::run_case(m, t.unit, t.plan, case_of(*w.of), corpus::precision(), options);
    std::string               why;
    /* A thousand threads take every step of a scalar loop: what the interpreter did in no time does not end. */
    const bool late = !r.report.ok() && r.report.violations.front().kind == sim::violation_kind::TIME;
    if (!r.plan_error.empty()) w.end(verdict::violation, r.plan_error, t.way);
    else if (w.races && is_race(r.report)) w.leave_open(reason::race, r.report.violations.front().str(), t.way);
    else if (w.orders && threads_part(r.report)) w.leave_open(reason::order, r.report.violations.front().str(), t.way);
    else if (late && w.seconds > a_minute / 2000.0) w.leave_open(reason::slow, r.report.violations.front().str(), t.way);
    else if (!r.report.ok()) w.end(verdict::violation, r.report.violations.front().str(), t.way);
    else if ((why = compare(w, r.after)).empty()) return;
    else if (w.races) w.leave_open(reason::race, why, t.way);
    else w.end(verdict::disagrees, why, t.way);
}

} // namespace

std::vector<judged> judge_together(const std::vector<source> &modules, const differ_options &o) {
    std::vector<work>           all(modules.size());
    std::vector<sim::source>    sources;
    std::shared_ptr<sim::module> m;
    std::vector<judged>         out;
    for (size_t i = 0; i < modules.size(); i++) {
        all[i].of = &modules[i];
        all[i].j.module = modules[i].name;
        all[i].j.said = modules[i].said;
        if (interpret(all[i])) compile(all[i], o);
        for (const text &t : all[i].texts) sources.push_back({t.unit, t.metal.msl, t.plan.version});
    }
    sim::build_options built;
    built.seconds = a_minute;
    if (!sources.empty()) m = sim::build(sources, built);
    for (work &w : all) {
        for (const text &t : w.texts)
            if (w.j.what == verdict::agrees) simulate(*m, w, t, o);
        out.push_back(w.j);
    }
    return out;
}

} // namespace made
