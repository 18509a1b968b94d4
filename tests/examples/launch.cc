/* Runs a recorded case in the simulator and writes the debug buffer that the launch left to a file:
 *   launch KERNEL.metal PLAN.json CASE.case BUFFER */
#include "../corpus/launch.h"
#include "../sim/files.h"
#include "../sim/plan.h"
#include "../sim/sim.h"

#include <cstdio>
#include <stdexcept>

static int run(char **argv) {
    const sim::launch_plan      plan = sim::parse_plan(sim::read_file(argv[2]));
    const corpus::recorded_case c = corpus::read_case(argv[3]);
    const sim::build_options    options;
    const auto                  m = sim::build({{argv[1], sim::read_file(argv[1]), plan.version}}, options);
    for (const sim::unit &u : m->units())
        for (const sim::diagnostic &d : u.errors) throw std::runtime_error(d.str());
    sim::run_options launch;
    launch.seconds = 60;
    const corpus::case_result r =
        corpus::run_case(*m, argv[1], plan, c, corpus::read_precision(sim::read_file(c.path + ".ttir")), launch);
    if (!r.right()) throw std::runtime_error(c.name + " is not right");
    FILE *file = std::fopen(argv[4], "wb");
    if (!file) throw std::runtime_error(std::string("cannot write ") + argv[4]);
    const bool whole = std::fwrite(r.debug.data(), 1, r.debug.size(), file) == r.debug.size();
    if (std::fclose(file) != 0 || !whole) throw std::runtime_error(std::string("cannot write ") + argv[4]);
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 5) {
        std::fprintf(stderr, "usage: launch KERNEL.metal PLAN.json CASE.case BUFFER\n");
        return 2;
    }
    try {
        return run(argv);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "launch: %s\n", e.what());
        return 1;
    }
}
