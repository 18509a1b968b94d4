#include "files.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <poll.h>
#include <stdexcept>
#include <sys/stat.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __APPLE__
#    include <mach-o/dyld.h>
#endif

namespace sim {

std::string program_directory() {
    char path[4096] = "";
#ifdef __APPLE__
    uint32_t      room = sizeof path;
    const ssize_t n = _NSGetExecutablePath(path, &room) ? 0 : static_cast<ssize_t>(std::strlen(path));
#else
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
#endif
    const std::string s(path, n > 0 ? static_cast<size_t>(n) : 0);
    return s.substr(0, s.rfind('/'));
}

std::string tests_directory() {
    const std::string beside = program_directory() + "/../tests";
    return exists(beside + "/sim/include") ? beside : SIM_TESTS;
}

std::string read_file(const std::string &path) {
    struct stat about;
    if (stat(path.c_str(), &about) || S_ISDIR(about.st_mode)) return "";
    std::ifstream in(path, std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(in)), {});
}

/* Written beside and renamed, so that nobody sees half a file. */
bool write_file(const std::string &path, const std::string &bytes) {
    const std::string beside = path + "." + std::to_string(getpid());
    {
        std::ofstream out(beside, std::ios::binary);
        out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        if (!out) return false;
    }
    return std::rename(beside.c_str(), path.c_str()) == 0;
}

bool exists(const std::string &path) { return access(path.c_str(), F_OK) == 0; }

void make_directories(const std::string &path) {
    for (size_t i = 1; i <= path.size(); i++)
        if (i == path.size() || path[i] == '/') mkdir(path.substr(0, i).c_str(), 0777);
}

std::string make_temporary_directory() {
    const char *base = std::getenv("TMPDIR");
    std::string path = std::string(base && *base ? base : "/tmp") + "/metal-sim-XXXXXX";
    if (!mkdtemp(path.data()))
        throw std::runtime_error("cannot make a temporary directory in " + path);
    return path;
}

std::vector<std::string> list_directory(const std::string &path) {
    std::vector<std::string> names;
    if (DIR *d = opendir(path.c_str())) {
        while (const dirent *e = readdir(d))
            if (e->d_name[0] != '.') names.emplace_back(e->d_name);
        closedir(d);
    }
    std::sort(names.begin(), names.end());
    return names;
}

void remove_directory(const std::string &path) {
    for (const std::string &name : list_directory(path)) unlink((path + "/" + name).c_str());
    rmdir(path.c_str());
}

hasher &hasher::add(const void *bytes, size_t count) {
    const unsigned char *p = static_cast<const unsigned char *>(bytes);
    for (size_t i = 0; i < count; i++) state_ = (state_ ^ p[i]) * 0x100000001b3ull;
    return *this;
}
/* The length goes in too, so that ("ab", "c") and ("a", "bc") differ. */
hasher &hasher::add(const std::string &s) {
    const uint64_t n = s.size();
    return add(&n, sizeof n).add(s.data(), s.size());
}
std::string hasher::hex() const {
    char text[17];
    snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(state_));
    return text;
}

namespace {

/* Both pipes at once, so that neither can fill up and stop the child. */
void drain(int out_fd, int err_fd, process_result &r) {
    pollfd fds[2] = {{out_fd, POLLIN, 0}, {err_fd, POLLIN, 0}};
    int    open_count = 2;
    char   buffer[65536];
    while (open_count && poll(fds, 2, -1) >= 0)
        for (int i = 0; i < 2; i++) {
            if (fds[i].fd < 0 || !fds[i].revents) continue;
            const ssize_t n = read(fds[i].fd, buffer, sizeof buffer);
            if (n > 0) {
                (i ? r.err : r.out).append(buffer, static_cast<size_t>(n));
                continue;
            }
            close(fds[i].fd);
            fds[i].fd = -1;
            open_count--;
        }
}

/* pipe2 is not everywhere. */
bool open_pipe(int ends[2]) {
    return pipe(ends) == 0 && fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0 && fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0;
}

} // namespace

process_result run_process(const std::vector<std::string> &arguments, unsigned seconds) {
    process_result      r;
    std::vector<char *> argv;
    for (const std::string &a : arguments) argv.push_back(const_cast<char *>(a.c_str()));
    argv.push_back(nullptr);
    int out[2], err[2];
    if (!open_pipe(out) || !open_pipe(err)) return r;
    const pid_t child = fork();
    if (child == 0) {
        dup2(out[1], 1);
        dup2(err[1], 2);
        const rlimit most{seconds, RLIM_INFINITY};
        if (seconds) setrlimit(RLIMIT_CPU, &most);
        execvp(argv[0], argv.data());
        _exit(127);
    }
    close(out[1]);
    close(err[1]);
    if (child < 0) return r;
    drain(out[0], err[0], r);
    int status = 0;
    waitpid(child, &status, 0);
    r.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return r;
}

} // namespace sim
