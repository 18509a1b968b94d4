/* Clang speaks of OpenCL's address spaces and of the simulator's types; this says it in Metal's
 * words. */
#ifndef SIM_WORDS_H
#define SIM_WORDS_H

#include <string>

namespace sim {

std::string metal_words(std::string message);

} // namespace sim

#endif
