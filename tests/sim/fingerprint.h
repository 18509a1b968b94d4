#ifndef SIM_FINGERPRINT_H
#define SIM_FINGERPRINT_H

namespace sim {

/* A hash of everything that the judge is made of. */
const char *judge_sources();

} // namespace sim

#endif
