#include "jobs.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace corpus {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

namespace {

/* Whole lines go out at once, so that those of several processes do not mix. */
void work_through(const job_options &o, uint64_t *next, double begin, int to, const std::function<void(uint64_t, uint64_t, FILE *)> &work) {
    static char room[1 << 16];
    FILE       *out = fdopen(to, "w");
    std::setvbuf(out, room, _IOLBF, sizeof room);
    while (!o.seconds || now() - begin < o.seconds) {
        const uint64_t first = __sync_fetch_and_add(next, o.at_once);
        if (first >= o.count) break;
        work(first, std::min(o.count, first + o.at_once), out);
        std::fflush(out);
    }
}

pid_t start(const job_options &o, uint64_t *next, double begin, const int *ends, const std::function<void(uint64_t, uint64_t, FILE *)> &work) {
    std::fflush(stdout);
    const pid_t pid = fork();
    if (pid) return pid;
    close(ends[0]);
    work_through(o, next, begin, ends[1], work);
    _exit(0);
}

} // namespace

uint64_t run_jobs(const job_options &o, const std::function<void(uint64_t, uint64_t, FILE *)> &work, const std::function<void(const std::string &)> &take) {
    uint64_t    *next = static_cast<uint64_t *>(mmap(nullptr, sizeof *next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    const double begin = now();
    int          ends[2];
    if (pipe(ends)) throw std::runtime_error("no pipe");
    const pid_t watch = fork(); /* starts the others again where one dies */
    if (watch == 0) {
        close(ends[0]);
        for (unsigned k = 0; k < o.jobs; k++) start(o, next, begin, ends, work);
        for (int status; wait(&status) > 0;)
            if (status) start(o, next, begin, ends, work);
        _exit(0);
    }
    close(ends[1]);
    FILE  *in = fdopen(ends[0], "r");
    char  *line = nullptr;
    size_t room = 0;
    for (ssize_t n; (n = getline(&line, &room, in)) > 0;) take(std::string(line, static_cast<size_t>(n) - (line[n - 1] == '\n')));
    std::free(line);
    std::fclose(in);
    waitpid(watch, nullptr, 0);
    const uint64_t begun = std::min(*next, o.count);
    munmap(next, sizeof *next);
    return begun;
}

} // namespace corpus
