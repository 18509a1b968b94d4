#include "report.h"

#include <cstdio>
#include <cstring>

namespace sim {

namespace {

violation_log *violations;

const char *const kind_names[] = {
#define X(id, text) text,
    SIM_VIOLATIONS(X)
#undef X
};

violation_record *same_as(violation_kind kind, uint64_t pc, unsigned at) {
    for (unsigned i = 0; i < violations->count; i++) {
        violation_record &r = violations->record[i];
        if (r.kind == kind && r.launch == violations->launch && r.pc == pc && r.at == at) return &r;
    }
    return nullptr;
}

void note(violation_kind kind, uint64_t pc, unsigned at, const char *format, va_list args) {
    if (violation_record *seen = same_as(kind, pc, at)) {
        seen->times++;
        return;
    }
    if (violations->count == violation_log::capacity) {
        violations->dropped++;
        return;
    }
    violation_record &r = violations->record[violations->count];
    std::memset(&r, 0, sizeof r);
    r.kind = kind;
    r.launch = violations->launch;
    r.thread = M.current ? M.current->index : 0;
    std::memcpy(r.program, M.program, sizeof r.program);
    r.pc = pc;
    r.at = at;
    r.times = 1;
    vsnprintf(r.text, sizeof r.text, format, args);
    violations->count++;
}

std::string line; /* of os_log, being built */
std::string format_left;

} // namespace

void set_violation_log(violation_log *log) { violations = log; }

void violate_pc(violation_kind kind, uint64_t pc, const char *format, ...) {
    va_list args;
    va_start(args, format);
    note(kind, pc ? pc - M.text_base : 0, 0, format, args);
    va_end(args);
}

void violate_at(violation_kind kind, unsigned at, const char *format, ...) {
    va_list args;
    va_start(args, format);
    note(kind, 0, at, format, args);
    va_end(args);
}

std::string violation::str() const {
    std::string s = file.empty() ? kernel : file;
    if (line) s += ":" + std::to_string(line);
    s += ": " + std::string(kind_names[static_cast<int>(kind)]) + ": " + text;
    s += " (kernel " + kernel + ", program " + std::to_string(program[0]) + " " +
         std::to_string(program[1]) + " " + std::to_string(program[2]) + ", thread " +
         std::to_string(thread) + ")";
    if (times > 1) s += " and " + std::to_string(times - 1) + " more";
    return s;
}

uint64_t kernel_counters::sum(space where, bool write, uint64_t access_site::*field) const {
    uint64_t total = 0;
    for (const access_site &s : sites)
        if (s.where == where && s.write == write) total += s.*field;
    return total;
}

} // namespace sim

/* -- os_log ------------------------------------------------------------------------------------ */

using sim::M;

namespace {

/* Copies the format up to the next conversion; gives that conversion without length letters. */
std::string next_conversion(std::string &format, std::string &out) {
    for (size_t i = 0; i < format.size(); i++) {
        if (format[i] != '%') {
            out += format[i];
            continue;
        }
        if (i + 1 < format.size() && format[i + 1] == '%') {
            out += '%';
            i++;
            continue;
        }
        std::string c = "%";
        while (++i < format.size()) {
            if (!std::strchr("hlqjzt", format[i])) c += format[i];
            if (std::strchr("diouxXcfFeEgGasp", format[i])) break;
        }
        format.erase(0, i + 1);
        return c;
    }
    format.clear();
    return "";
}

} // namespace

extern "C" {

void sim_log_begin(unsigned long format) {
    sim::line.clear();
    sim::format_left = reinterpret_cast<const char *>(format);
}
void sim_log_integer(long value) {
    std::string c = next_conversion(sim::format_left, sim::line);
    char        text[64] = "";
    if (!c.empty()) {
        c.insert(c.size() - 1, "l");
        if (c.back() == 'c') c = "%c";
        snprintf(text, sizeof text, c.c_str(), value);
    }
    sim::line += text;
}
void sim_log_float(float value) {
    const std::string c = next_conversion(sim::format_left, sim::line);
    char              text[64] = "";
    if (!c.empty()) snprintf(text, sizeof text, c.c_str(), static_cast<double>(value));
    sim::line += text;
}
void sim_log_end(void) {
    next_conversion(sim::format_left, sim::line);
    M.out->log.push_back(sim::line);
}
}
