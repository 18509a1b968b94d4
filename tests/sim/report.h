/* Violations as they are noted while a kernel runs: plain records in memory that the parent process
 * shares, so that they survive a crash of the child. */
#ifndef SIM_REPORT_H
#define SIM_REPORT_H

#include "machine.h"

namespace sim {

struct violation_record {
    violation_kind kind;
    uint32_t       launch, thread, at;
    uint32_t       program[3];
    uint64_t       pc; /* offset in the module, or 0 */
    uint64_t       times;
    char           text[256];
};

struct violation_log {
    static constexpr unsigned capacity = 64;

    uint32_t count;
    uint32_t launch;  /* running now */
    uint64_t dropped; /* did not fit */
    /* Where a fatal signal struck: written by its handler. */
    int32_t          signal;
    uint64_t         signal_pc, signal_address;
    uint32_t         signal_thread, signal_program[3];
    violation_record record[capacity];
};

void set_violation_log(violation_log *log);

} // namespace sim

#endif
