/* Small functions over files, directories and child processes. */
#ifndef SIM_FILES_H
#define SIM_FILES_H

#include <cstdint>
#include <string>
#include <vector>

namespace sim {

std::string program_directory();                /* where this program's binary lies */
std::string tests_directory();                  /* tests/ of this project: beside that, or where it was built from */
std::string read_file(const std::string &path); /* empty when it cannot be read */
bool        write_file(const std::string &path, const std::string &bytes);
bool        exists(const std::string &path);
void        make_directories(const std::string &path);
std::string make_temporary_directory();
void        remove_directory(const std::string &path); /* with the files in it, not deeper */
std::vector<std::string> list_directory(const std::string &path); /* names, sorted */

/* FNV-1a, 64 bits. Good enough for the keys of a cache on one's own disk. */
class hasher {
public:
    hasher     &add(const std::string &s);
    hasher     &add(const void *bytes, size_t count);
    std::string hex() const;

private:
    uint64_t state_ = 0xcbf29ce484222325ull;
};

struct process_result {
    int         status = -1; /* exit status; 128 + signal; -1: could not start */
    std::string out, err;
};
/* `seconds`: of a core's time that the process may take; then it ends with status 128 + SIGXCPU. 0: any. */
process_result run_process(const std::vector<std::string> &arguments, unsigned seconds = 0);

} // namespace sim

#endif
