/* The device program: what was asked for, what a worker does and tells, what the report says. */
#ifndef METAL_DEVICE_H
#define METAL_DEVICE_H

#include "case.h"
#include "shares.h"

#include <csignal>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace device {

struct settings {
    std::vector<std::string> paths; /* of cases */
    std::string              state, report, facts, commit, filter, pretend;
    std::string              layouts, alias; /* of the compiler */
    tmetal_options           compile{};
    unsigned                 programs_per_part = 0;
    share_options            shares;
    uint64_t                 milliseconds = 20000;
    unsigned                 jobs = 1;
    bool                     fresh = false, again = false, json = false, timed = false, is_bench = false;
    int                      worker = -1; /* 0 to jobs - 1: this process does the work; jobs: it measures shares */
    size_t                   from = 0;    /* of its cases, the first that is not done */
};

/* What a line between two processes or in a file holds: words set apart by tabs. */
std::string              join(const std::vector<std::string> &words);
std::vector<std::string> split(const std::string &line);

std::string to_line(const outcome &o);
bool        from_line(const std::string &line, outcome &o); /* false when it is not one */

/* How many signals asked for an end: behind the case that is under way, at once. */
extern volatile std::sig_atomic_t asked_to_stop;

/* The work of one process, told on standard output: a line for each thing that it begins and ends. The exit code. */
enum { DONE = 0, NO_DEVICE = 3, STUCK = 4 };
int work(const settings &s);

struct row {
    std::string path, name; /* folder/file */
    outcome     o;
    bool        is_done = false;
};

struct results {
    std::vector<row>                   rows;
    std::vector<share>                 shares;
    std::map<std::string, std::string> device; /* what a worker said of it */
    std::vector<std::pair<std::string, std::string>> facts; /* what `tmetal check --record` said of the machine */
    std::string                        commit;
    bool                               is_stopped = false; /* before every case was tried */

    size_t count(verdict v) const;
    size_t left() const;
};

std::string report_text(const results &r);
std::string report_json(const results &r);
std::string shares_table(const results &r); /* for a terminal */

} // namespace device

#endif
