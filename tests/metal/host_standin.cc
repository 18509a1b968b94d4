/* The stand-in as a host: kernels run in the simulator. */
#include "host.h"
#include "standin.h"

#include <csignal>

namespace host {

const bool     is_device = false;
const unsigned batch = 24; /* one run of clang for so many texts */

namespace {

std::string wrong, whose; /* see pretend */
size_t      alive_before;

} // namespace

tmetal_symbol symbol() { return standin::symbol; }

void prepare(const std::vector<text> &texts) {
    std::vector<sim::source> sources;
    for (const text &t : texts)
        sources.push_back({"case" + std::to_string(sources.size()), t.msl, static_cast<int>(t.version)});
    if (!sources.empty()) standin::prepare(sources);
}

bool has_clock() { return wrong == "clock"; }

void begin(const std::string &name) {
    const bool now = !wrong.empty() && name.find(whose) != std::string::npos;
    standin::complaints(false);
    standin::violations();
    alive_before = standin::alive();
    standin::now = standin::machine();
    if (!now) return;
    if (wrong == "die") std::raise(SIGKILL);
    if (wrong == "stop") std::raise(SIGSTOP);
    standin::now.hangs = wrong == "hang";
    standin::now.flips = wrong == "flip";
    standin::now.fault = wrong == "fault" ? 3 : 0;
    if (wrong == "refuse") standin::now.compiler_says = "program_source:7:5: error: made up by a test";
}

std::string complaint() {
    for (const sim::violation &v : standin::violations()) return v.str();
    for (const std::string &s : standin::complaints(false)) return s;
    return standin::alive() > alive_before ? std::to_string(standin::alive() - alive_before) + " objects were never released" : "";
}

bool pretend(const std::string &what) {
    const size_t colon = what.find(':');
    if (colon == std::string::npos) return false;
    wrong = what.substr(0, colon);
    whose = what.substr(colon + 1);
    standin::now.has_metal = wrong != "none";
    for (const char *known : {"hang", "die", "stop", "refuse", "fault", "flip", "none", "clock"})
        if (wrong == known) return true;
    return false;
}

} // namespace host
