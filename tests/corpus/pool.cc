#include "pool.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <poll.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace corpus {

namespace {

struct worker {
    pid_t               id = 0;
    int                 from = -1; /* its results, a line each: index, blank, JSON */
    std::string         unread;
    std::vector<size_t> left; /* cases not reported yet */
};

class pool {
public:
    pool(const std::vector<std::string> &paths, const pool_options &options)
        : paths_(paths), options_(options), results_(paths.size()), have_(paths.size()) {
        for (size_t i = 0; i < paths.size(); i += options.batch) {
            queue_.emplace_back();
            for (size_t k = i; k < std::min(paths.size(), i + options.batch); k++)
                queue_.back().push_back(k);
        }
    }

    std::vector<outcome> run() {
        while (!queue_.empty() || !workers_.empty()) {
            while (!queue_.empty() && workers_.size() < options_.jobs) start();
            wait();
            bar();
        }
        if (options_.progress) fprintf(stderr, "\r\033[K");
        return std::move(results_);
    }

private:
    const std::vector<std::string> &paths_;
    const pool_options             &options_;
    std::vector<outcome>            results_;
    std::vector<bool>               have_;
    std::deque<std::vector<size_t>> queue_;
    std::vector<worker>             workers_;
    size_t                          done_ = 0, bad_ = 0;

    void start() {
        worker w;
        w.left = queue_.front();
        queue_.pop_front();
        int ends[2];
        if (pipe(ends)) throw std::runtime_error("cannot make a pipe");
        fflush(nullptr);
        w.id = fork();
        if (w.id < 0) throw std::runtime_error("cannot fork");
        if (w.id == 0) {
            close(ends[0]);
            work(w.left, ends[1]);
        }
        close(ends[1]);
        w.from = ends[0];
        workers_.push_back(w);
    }

    [[noreturn]] void work(const std::vector<size_t> &cases, int out) const {
        std::vector<std::string>      paths;
        std::map<std::string, size_t> index;
        for (size_t i : cases) paths.push_back(paths_[i]);
        for (size_t i : cases) index[tail(paths_[i])] = i;
        FILE *f = fdopen(out, "w");
        int   status = 0;
        try {
            judge(paths, options_.judge, [&](const outcome &o) {
                fprintf(f, "%zu %s\n", index[tail(o.name)], to_json(o).c_str());
                fflush(f);
            });
        } catch (const std::exception &e) {
            fprintf(stderr, "\n%s\n", e.what());
            status = 1;
        }
        fclose(f);
        _exit(status);
    }

    /* An outcome is named suite/file, or by its path when it could not be read. */
    static std::string tail(const std::string &path) {
        const size_t slash = path.rfind('/'),
                     dot = path.size() > 5 && path.compare(path.size() - 5, 5, ".case") == 0
                               ? path.size() - 5
                               : path.size();
        return path.substr(slash == std::string::npos ? 0 : slash + 1,
                           dot - (slash == std::string::npos ? 0 : slash + 1));
    }

    static std::string suite_of(const std::string &path) {
        const size_t slash = path.rfind('/');
        if (slash == std::string::npos) return "";
        const size_t before = slash ? path.rfind('/', slash - 1) : std::string::npos;
        return path.substr(before == std::string::npos ? 0 : before + 1,
                           slash - (before == std::string::npos ? 0 : before + 1));
    }

    void wait() {
        std::vector<pollfd> fds;
        for (const worker &w : workers_) fds.push_back({w.from, POLLIN, 0});
        poll(fds.data(), fds.size(), 1000);
        for (size_t i = fds.size(); i-- > 0;)
            if (fds[i].revents && !read_from(workers_[i])) {
                finish(workers_[i]);
                workers_.erase(workers_.begin() + static_cast<long>(i));
            }
    }

    bool read_from(worker &w) {
        char          buffer[65536];
        const ssize_t n = read(w.from, buffer, sizeof buffer);
        if (n <= 0) return false;
        w.unread.append(buffer, static_cast<size_t>(n));
        for (size_t end; (end = w.unread.find('\n')) != std::string::npos;
             w.unread.erase(0, end + 1))
            take(w, w.unread.substr(0, end));
        return true;
    }

    void take(worker &w, const std::string &line) {
        const size_t i = std::strtoul(line.c_str(), nullptr, 10);
        outcome      o;
        if (i >= results_.size() || !from_json(line.substr(line.find(' ') + 1), o)) return;
        w.left.erase(std::remove(w.left.begin(), w.left.end(), i), w.left.end());
        put(i, o);
    }

    void put(size_t i, const outcome &o) {
        if (have_[i]) return;
        have_[i] = true;
        results_[i] = o;
        done_++;
        bad_ += o.what == verdict::wrong || o.what == verdict::violation;
    }

    void finish(worker &w) {
        int status = 0;
        close(w.from);
        waitpid(w.id, &status, 0);
        if (w.left.size() == 1) {
            outcome o;
            o.suite = suite_of(paths_[w.left[0]]);
            o.name = o.suite + "/" + tail(paths_[w.left[0]]);
            o.what = verdict::violation;
            o.why =
                "the process that compiled and ran it ended with status " +
                std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
            return put(w.left[0], o);
        }
        for (size_t i : w.left) queue_.push_front({i});
    }

    void bar() const {
        if (!options_.progress || paths_.empty()) return;
        const size_t width = 40, full = done_ * width / paths_.size();
        fprintf(stderr, "\r[%s%s] %zu/%zu, %zu wrong\033[K", std::string(full, '#').c_str(),
                std::string(width - full, ' ').c_str(), done_, paths_.size(), bad_);
    }
};

} // namespace

std::vector<outcome> judge_all(const std::vector<std::string> &case_paths,
                               const pool_options             &options) {
    return pool(case_paths, options).run();
}

} // namespace corpus
