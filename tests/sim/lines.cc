#include "lines.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <iterator>

namespace sim {

namespace {

/* A cursor over DWARF data that stops at the end instead of running past it. */
struct cursor {
    const uint8_t *at, *end;

    bool     more() const { return at < end; }
    uint64_t fixed(unsigned bytes) {
        uint64_t v = 0;
        for (unsigned i = 0; i < bytes && at < end; i++)
            v |= static_cast<uint64_t>(*at++) << (8 * i);
        return v;
    }
    uint64_t unsigned_leb() {
        uint64_t v = 0;
        for (unsigned shift = 0; at < end; shift += 7) {
            const uint8_t b = *at++;
            v |= static_cast<uint64_t>(b & 0x7f) << shift;
            if (!(b & 0x80)) break;
        }
        return v;
    }
    int64_t signed_leb() {
        int64_t  v = 0;
        unsigned shift = 0;
        while (at < end) {
            const uint8_t b = *at++;
            v |= static_cast<int64_t>(b & 0x7f) << shift;
            shift += 7;
            if (!(b & 0x80)) {
                if (shift < 64 && (b & 0x40)) v |= -(int64_t{1} << shift);
                break;
            }
        }
        return v;
    }
    std::string text() {
        const uint8_t *begin = at;
        while (at < end && *at) at++;
        std::string s(begin, at);
        if (at < end) at++;
        return s;
    }
};

std::vector<uint8_t> read_section(const std::string &path, const char *name) {
    std::ifstream              in(path, std::ios::binary);
    const std::vector<uint8_t> file((std::istreambuf_iterator<char>(in)), {});
    Elf64_Ehdr                 h;
    if (file.size() < sizeof h) return {};
    std::memcpy(&h, file.data(), sizeof h);
    if (h.e_shoff + static_cast<uint64_t>(h.e_shnum) * sizeof(Elf64_Shdr) > file.size()) return {};
    std::vector<Elf64_Shdr> sections(h.e_shnum);
    std::memcpy(sections.data(), file.data() + h.e_shoff, sections.size() * sizeof(Elf64_Shdr));
    if (h.e_shstrndx >= sections.size()) return {};
    for (const Elf64_Shdr &s : sections) {
        const char *section_name = reinterpret_cast<const char *>(file.data()) +
                                   sections[h.e_shstrndx].sh_offset + s.sh_name;
        if (std::strcmp(section_name, name) == 0 && s.sh_offset + s.sh_size <= file.size())
            return {file.begin() + static_cast<long>(s.sh_offset),
                    file.begin() + static_cast<long>(s.sh_offset + s.sh_size)};
    }
    return {};
}

} // namespace

line_table::line_table(const std::string &elf_path) {
    const std::vector<uint8_t> section = read_section(elf_path, ".debug_line");
    cursor                     all{section.data(), section.data() + section.size()};
    while (all.more()) {
        const uint64_t length = all.fixed(4);
        const uint8_t *end = std::min(all.end, all.at + length);
        read_program(all.at, end);
        all.at = end;
    }
    std::stable_sort(rows_.begin(), rows_.end(), [](const row &a, const row &b) {
        return a.address != b.address ? a.address < b.address : a.end > b.end;
    });
}

/* DWARF 4, section 6.2: a header with file names, then a program for a small machine. */
void line_table::read_program(const uint8_t *p, const uint8_t *end) {
    cursor c{p, end};
    if (c.fixed(2) != 4) return;
    const uint64_t header_length = c.fixed(4);
    const uint8_t *program = c.at + header_length;
    const uint64_t min_length = c.fixed(1);
    c.fixed(1); /* operations per instruction: 1 outside VLIW machines */
    c.fixed(1); /* default of is_stmt */
    const int      line_base = static_cast<int8_t>(c.fixed(1));
    const unsigned line_range = static_cast<unsigned>(c.fixed(1)),
                   opcode_base = static_cast<unsigned>(c.fixed(1));
    std::vector<unsigned> operands(opcode_base, 0);
    for (unsigned i = 1; i < opcode_base; i++) operands[i] = static_cast<unsigned>(c.fixed(1));
    while (c.more() && *c.at) c.text(); /* directories */
    c.fixed(1);
    const size_t first_file = files_.size();
    while (c.more() && *c.at) {
        files_.push_back(c.text());
        for (int i = 0; i < 3; i++) c.unsigned_leb();
    }
    if (program > end || line_range == 0) return;

    c.at = program;
    row        r{0, 1, 1, false};
    const auto emit = [&](bool end_of_sequence) {
        rows_.push_back(
            {r.address, static_cast<uint32_t>(first_file + r.file - 1), r.line, end_of_sequence});
        if (end_of_sequence) r = {0, 1, 1, false};
    };
    while (c.more()) {
        const unsigned op = static_cast<unsigned>(c.fixed(1));
        if (op >= opcode_base) {
            r.address += (op - opcode_base) / line_range * min_length;
            r.line = static_cast<uint32_t>(static_cast<int>(r.line) + line_base +
                                           static_cast<int>((op - opcode_base) % line_range));
            emit(false);
        } else if (op == 0) {
            const uint64_t length = c.unsigned_leb();
            const uint8_t *next = c.at + length;
            const unsigned extended = static_cast<unsigned>(c.fixed(1));
            if (extended == 1) emit(true);
            if (extended == 2) r.address = c.fixed(8);
            c.at = std::min(next, end);
        } else if (op == 1) {
            emit(false);
        } else if (op == 2) {
            r.address += c.unsigned_leb() * min_length;
        } else if (op == 3) {
            r.line = static_cast<uint32_t>(static_cast<int64_t>(r.line) + c.signed_leb());
        } else if (op == 4) {
            r.file = static_cast<uint32_t>(c.unsigned_leb());
        } else if (op == 8) {
            r.address += (255 - opcode_base) / line_range * min_length;
        } else if (op == 9) {
            r.address += c.fixed(2);
        } else {
            for (unsigned i = 0; i < operands[op]; i++) c.unsigned_leb();
        }
    }
}

bool line_table::find(uint64_t address, std::string &file, unsigned &line) const {
    auto after = std::upper_bound(rows_.begin(), rows_.end(), address,
                                  [](uint64_t a, const row &r) { return a < r.address; });
    while (after != rows_.begin()) {
        const row &r = *--after;
        if (r.end) return false;
        if (r.line == 0 || r.file >= files_.size()) continue; /* made by the compiler */
        file = files_[r.file];
        line = r.line;
        return true;
    }
    return false;
}

} // namespace sim
