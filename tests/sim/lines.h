/* From an instruction of a shared object to the line of source it came from. */
#ifndef SIM_LINES_H
#define SIM_LINES_H

#include <cstdint>
#include <string>
#include <vector>

namespace sim {

/* Reads .debug_line of an ELF file, DWARF version 4, as clang writes it with -gline-tables-only. A
 * file that cannot be read gives an empty table: a place is a comfort, never a condition. */
class line_table {
public:
    explicit line_table(const std::string &elf_path);
    bool find(uint64_t address, std::string &file, unsigned &line) const;

private:
    struct row {
        uint64_t address;
        uint32_t file, line;
        bool     end;
    };
    std::vector<row>         rows_;
    std::vector<std::string> files_;

    void read_program(const uint8_t *p, const uint8_t *end);
};

} // namespace sim

#endif
