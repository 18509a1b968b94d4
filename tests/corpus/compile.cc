#include "compile.h"

#include "../sim/files.h"

#include <csignal>
#include <cstdlib>
#include <regex>
#include <sstream>
#include <unistd.h>

namespace corpus {

namespace {

std::string compiler() {
    const char *given = std::getenv("TMETAL");
    return given && *given ? given : sim::program_directory() + "/tmetal";
}

/* The arguments that say what to compile; tests/record_call.py describes the lines of a .call. */
std::vector<std::string> read_call(const std::string &path) {
    const std::string        folder = path.substr(0, path.rfind('/') + 1);
    std::vector<std::string> c;
    std::istringstream       in(sim::read_file(path + ".call"));
    bool                     has_version = false;
    for (std::string line; std::getline(in, line);) {
        const size_t      blank = line.find(' ');
        const std::string word = line.substr(0, blank),
                          rest = blank == std::string::npos ? "" : line.substr(blank + 1);
        if (word == "file") c.insert(c.begin(), folder + rest);
        else if (word == "module") {
            const size_t equals = rest.find('=') + 1;
            c.insert(c.end(), {"--module", rest.substr(0, equals) + folder + rest.substr(equals)});
        } else if (!word.empty()) c.insert(c.end(), {"--" + word, rest});
        has_version |= word == "triton";
    }
    if (!has_version) c.insert(c.end(), {"--triton", "3.6"}); /* what the older ones were recorded with */
    return c;
}

std::vector<std::string> command(const std::vector<std::string> &input, const compile_options &o,
                                 const char *what) {
    std::vector<std::string> c = {compiler(), "compile"};
    c.insert(c.end(), input.begin(), input.end());
    c.insert(c.end(), {"--emit", what});
    if (!o.gpu.empty()) c.insert(c.end(), {"--gpu", o.gpu});
    if (o.threads) c.insert(c.end(), {"--threads", std::to_string(o.threads)});
    if (o.two_stage) c.insert(c.end(), {"--two-stage", std::to_string(o.two_stage)});
    if (!o.operands.empty()) c.insert(c.end(), {"--operands", o.operands});
    if (o.plain) c.push_back("--plain");
    if (o.bounds) c.push_back("--bounds");
    if (!o.has.empty()) c.insert(c.end(), {"--has", o.has});
    if (!o.lacks.empty()) c.insert(c.end(), {"--lacks", o.lacks});
    c.insert(c.end(), o.more.begin(), o.more.end());
    return c;
}

/* Lines such as `file:line:col: error[TM301]: text`; others belong to the one before. */
std::vector<diag> read_diagnostics(const std::string &text) {
    static const std::regex form("^(.*?):? ?error\\[(TM[0-9]+)\\]: (.*)$");
    std::vector<diag>       all;
    std::istringstream      in(text);
    for (std::string line; std::getline(in, line);) {
        std::smatch m;
        if (std::regex_match(line, m, form)) all.push_back({m[2], m[1], m[3]});
    }
    return all;
}

compiled compile(const std::vector<std::string> &input, const compile_options &options) {
    compiled                  r;
    const std::string        &path = input.front();
    const sim::process_result msl = sim::run_process(command(input, options, "msl"), options.seconds);
    r.diags = read_diagnostics(msl.err);
    r.late = msl.status == 128 + SIGXCPU;
    if (msl.status != 0) {
        if (r.diags.empty())
            r.diags.push_back(
                {"", path,
                 "exit status " + std::to_string(msl.status) + ": " + msl.err.substr(0, 300)});
        return r;
    }
    const sim::process_result plan = sim::run_process(command(input, options, "plan"), options.seconds);
    if (plan.status != 0) {
        r.diags.push_back(
            {"", path, "the plan was refused after the text was not: " + plan.err.substr(0, 300)});
        return r;
    }
    r.msl = msl.out;
    r.plan = plan.out;
    r.ok = true;
    return r;
}

} // namespace

compiled compile_ttir(const std::string &path, const compile_options &options) {
    return compile({path}, options);
}

compiled compile_case(const std::string &path, const compile_options &options) {
    return compile(options.sources ? read_call(path) : std::vector<std::string>{path + ".ttir"},
                   options);
}

std::string compiler_problem() {
    return access(compiler().c_str(), X_OK) == 0 ? "" : "no compiler at " + compiler();
}

} // namespace corpus
