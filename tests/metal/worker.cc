/* The process that touches Metal. The one that started it sees its lines, its end and how long it has been silent. */
#include "device.h"

#include "../sim/files.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <unistd.h>

namespace device {

namespace {

/* The bytes of the launcher and of what judges, as the build saw them. */
const char judge[] = DEVICE_JUDGE;

void tell(const std::vector<std::string> &words) {
    std::printf("%s\n", join(words).c_str());
    std::fflush(stdout);
}

/* Compile for the chip that is here, where the table of GPUs has it, with the limits that Metal gives. */
void aim(settings &s, const tmetal_device &d, tmetal_gpu_limits &live) {
    static const char  key[] = "gpu-cores: ";
    const std::string  facts = sim::read_file(s.facts);
    const size_t       at = facts.find(key);
    live = d.live;
    if (at != std::string::npos) live.cores = static_cast<uint32_t>(std::strtoul(facts.c_str() + at + sizeof key - 1, nullptr, 10));
    const tmetal_gpu *row = tmetal_gpu_find(d.name, live.cores);
    if (row) s.compile.gpu = row->name;
    s.compile.live = &live;
    s.shares.compile = s.compile;
    if (!s.layouts.empty()) s.compile.layouts = s.layouts.c_str();
    if (!s.alias.empty()) s.compile.alias = s.alias.c_str();
}

void tell_device(const tmetal_device &d, const char *gpu) {
    const std::pair<const char *, std::string> rows[] = {
        {"compiled_for", gpu ? gpu : "a chip that the table of GPUs does not have"},
        {"name", d.name}, {"architecture", d.arch}, {"apple_family", std::to_string(d.family)},
        {"mac2", std::to_string(d.mac2)}, {"metal3", std::to_string(d.metal3)}, {"metal4", std::to_string(d.metal4)},
        {"unified_memory", std::to_string(d.unified)}, {"threadgroup_bytes", std::to_string(d.tg_bytes)},
        {"max_buffer", std::to_string(d.max_buffer)}, {"working_set", std::to_string(d.working_set)}};
    for (const auto &r : rows) tell({"device", r.first, r.second});
}

/* One of this worker's cases on its way. */
struct job {
    size_t                    index = 0;
    std::string               path;
    std::unique_ptr<compiled> p; /* NULL: `o` says what became of it already */
    outcome                   o;
    std::string               file; /* of its state; "" for none */
};

/* Everything that decides what comes out: text, plan, case, bytes, device, system, who judges. */
std::string key_of(const settings &s, const tmetal_device &d, compiled &p) {
    const tmetal_arena before = p.arena;
    const char        *plan = tmetal_plan_json(&p.result, &p.arena);
    const std::string  text = plan ? plan : "";
    p.arena = before;
    return sim::hasher().add(p.c.path).add(p.result.msl).add(text).add(sim::read_file(p.c.path + ".case")).add(p.c.bytes)
        .add(d.name).add(d.arch).add(sim::read_file(s.facts)).add(std::to_string(s.programs_per_part)).add(judge).hex();
}

job open_job(const settings &s, const tmetal_device &d, size_t index) {
    job j;
    j.index = index;
    j.path = s.paths[index];
    try {
        j.p = compile(j.path, s.compile);
        j.p->programs_per_part = s.programs_per_part;
        if (j.p->result.code != TMETAL_OK) {
            j.o.what = REFUSED;
            j.o.why = "TM" + std::to_string(j.p->result.code) + ": " + (j.p->result.n_diags ? j.p->result.diags[0].message : "");
            j.p.reset();
        }
    } catch (const std::exception &e) {
        j.o.what = FAILED;
        j.o.why = e.what();
        j.p.reset();
    }
    if (!j.p || s.state.empty()) return j;
    j.file = s.state + "/" + key_of(s, d, *j.p);
    if (from_line(sim::read_file(j.file), j.o)) j.p.reset();
    return j;
}

/* On a device the state must be there even when the system goes down with the launch. */
void keep(const std::string &file, const outcome &o) {
    if (file.empty()) return;
    sim::write_file(file, to_line(o));
    for (const std::string &path : {file, file.substr(0, file.rfind('/'))}) {
        const int fd = host::is_device ? open(path.c_str(), O_RDONLY) : -1;
        if (fd < 0) continue;
        fsync(fd);
        close(fd);
    }
}

/* Its state says "hung" until it is done: whatever ends this process before, the next run knows. */
void run(tmetal_metal *metal, const settings &s, job &j) {
    tell({"begin", std::to_string(j.index)});
    if (j.p) {
        outcome pending;
        pending.why = "the process ended while it was under way";
        keep(j.file, pending);
        j.o = launch(metal, *j.p, s.milliseconds);
        keep(j.file, j.o);
    }
    tell({"end", std::to_string(j.index), to_line(j.o)});
}

/* False: one hung, in this run. */
bool run_cases(tmetal_metal *metal, const settings &s) {
    const tmetal_device &d = *tmetal_metal_device(metal);
    std::vector<size_t>  mine;
    for (size_t i = s.from; i < s.paths.size(); i++)
        if (i % s.jobs == static_cast<size_t>(s.worker)) mine.push_back(i);
    for (size_t from = 0; from < mine.size(); from += host::batch) {
        std::vector<job>        jobs;
        std::vector<host::text> texts;
        for (size_t i = from; i < std::min(mine.size(), from + host::batch); i++) {
            tell({"compile", std::to_string(mine[i])});
            jobs.push_back(open_job(s, d, mine[i]));
            if (jobs.back().p) texts.push_back({jobs.back().p->result.msl, jobs.back().p->version()});
        }
        host::prepare(texts);
        for (job &j : jobs) {
            if (asked_to_stop) return true;
            const bool is_new = j.p != nullptr;
            run(metal, s, j);
            if (is_new && j.o.what == HUNG) return false;
            j.p.reset();
        }
    }
    return true;
}

bool run_shares(tmetal_metal *metal, const settings &s) {
    return measure(metal, s.shares, [](const share &x) {
        tell({"share", x.kernel, x.layout, x.size, x.is_measured ? "1" : "0", std::to_string(x.middle), std::to_string(x.low),
              std::to_string(x.high), x.why});
    });
}

} // namespace

int work(const settings &given) {
    std::vector<char>    memory(1 << 20);
    tmetal_arena         arena = tmetal_arena_on(memory.data(), memory.size());
    tmetal_metal_options o{};
    tmetal_problem       problem{};
    tmetal_metal        *metal = nullptr;
    tmetal_gpu_limits    live{};
    settings             s = given;
    o.symbol = host::symbol();
    if (tmetal_metal_open(&o, &arena, &metal, &problem) != TMETAL_OK) {
        tell({"problem", "TM" + std::to_string(problem.code) + ": " + problem.text});
        return NO_DEVICE;
    }
    aim(s, *tmetal_metal_device(metal), live);
    tell_device(*tmetal_metal_device(metal), s.compile.gpu);
    const bool ended = s.worker == static_cast<int>(s.jobs) ? run_shares(metal, s) : run_cases(metal, s);
    if (!ended) {
        std::fflush(stdout);
        std::_Exit(STUCK); /* whatever is given back now would wait for the GPU */
    }
    tmetal_metal_close(metal);
    return DONE;
}

} // namespace device
