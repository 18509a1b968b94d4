/* The Metal that the device program runs on: the system's own, or the stand-in, whichever is linked. */
#ifndef METAL_HOST_H
#define METAL_HOST_H

#define TMETAL_METAL
#include "../../tmetal.h"

#include <string>
#include <vector>

namespace host {

extern const bool     is_device; /* false: a stand-in */
extern const unsigned batch;     /* texts that are best made known at once */

tmetal_symbol symbol(); /* for tmetal_metal_options */

struct text {
    std::string msl;
    unsigned    version;
};
void prepare(const std::vector<text> &texts);

/* Do its times mean anything? */
bool has_clock();

/* Before a case begins. */
void begin(const std::string &name);
/* What was seen since then that Metal would not tell; "" on a device. */
std::string complaint();

/* What a test wants to go wrong: "hang", "die", "stop" (the process, for good), "refuse", "fault" or "flip", a colon, and a
 * part of the names of the cases for which it does; "none:" is no Metal at all, "clock:" times that count. False where nothing can be made up. */
bool pretend(const std::string &what);

} // namespace host

#endif
