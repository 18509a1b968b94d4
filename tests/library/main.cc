/* Tests of the Metal library functions, run on this machine through the simulator's headers.
 *
 *     test-library [--thorough] [NAME]     NAME: only functions with that in their name
 *
 * Prints a table: what is promised, what was measured, and on how many inputs. Exit status 1 when a
 * promise is broken. */
#include "harness.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <csignal>
#include <mutex>
#include <thread>
#include <unistd.h>

using namespace library;

namespace {

thread_local const char *current = "";

/* Undefined arithmetic in the Metal text ends in a trap. */
void trapped(int number) {
    char      text[160];
    const int n = snprintf(text, sizeof text, "library: %s: signal %d, undefined arithmetic\n", current, number);
    if (write(2, text, static_cast<size_t>(n)) < 0) _exit(2);
    _exit(1);
}

std::vector<result> run_all(const std::vector<task> &tasks) {
    std::vector<result>      results(tasks.size());
    std::atomic<size_t>      next(0);
    std::vector<std::thread> threads;
    const unsigned           n = std::max(1u, std::thread::hardware_concurrency());
    for (unsigned i = 0; i < n; i++)
        threads.emplace_back([&] {
            for (size_t k; (k = next++) < tasks.size();) {
                current = tasks[k].name.c_str();
                results[k] = tasks[k].run();
            }
        });
    for (std::thread &t : threads) t.join();
    return results;
}

} // namespace

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (std::string(argv[i]) == "--thorough") options.thorough = true;
        else options.only = argv[i];
    }
    std::signal(SIGILL, trapped);
    std::signal(SIGTRAP, trapped);
    std::signal(SIGFPE, trapped);

    std::vector<task> tasks;
    for (const auto &list : {exact_tasks(), accuracy_tasks()})
        for (const task &t : list)
            if (t.name.find(options.only) != std::string::npos) tasks.push_back(t);
    int wrong = 0;
    printf("%-28s %-24s %-14s %12s  %s\n", "function", "promised", "measured", "inputs", "worst at");
    for (const result &r : run_all(tasks)) {
        printf("%-28s %-24s %-14s %12llu  %s%s\n", r.name.c_str(), r.promised.c_str(), r.measured.c_str(),
               static_cast<unsigned long long>(r.inputs), r.wrong ? "WRONG: " : "", r.worst.c_str());
        wrong |= r.wrong;
    }
    if (!has_references) printf("library: no MPFR (libmpfr-dev), so functions that are right to a few units are left out\n");
    if (options.only.empty() && has_references)
        for (const call &c : all_calls()) {
            bool tested = false;
            for (const task &t : tasks) tested |= t.name == c.name;
            if (!tested) printf("%-28s not tested\n", c.name), wrong = 1;
        }
    printf(wrong ? "library: WRONG\n" : "library: right\n");
    return wrong;
}
