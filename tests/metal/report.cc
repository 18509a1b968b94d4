/* The report: Markdown to paste, and the same as JSON. */
#include "device.h"

#include <algorithm>
#include <cstdio>

namespace device {

size_t results::count(verdict v) const {
    return static_cast<size_t>(std::count_if(rows.begin(), rows.end(), [&](const row &r) { return r.is_done && r.o.what == v; }));
}
size_t results::left() const {
    return static_cast<size_t>(std::count_if(rows.begin(), rows.end(), [](const row &r) { return !r.is_done; }));
}

namespace {

std::string value(const std::map<std::string, std::string> &m, const char *key) {
    const auto at = m.find(key);
    return at == m.end() ? "" : at->second;
}
std::string fact(const results &r, const char *key) {
    for (const auto &f : r.facts)
        if (f.first == key) return f.second;
    return "";
}
std::string number(double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", x);
    return text;
}

/* As the title says it: "Apple M3 Max, macOS 15.1 (24B83)" */
std::string place(const results &r) {
    if (!host::is_device) return "stand-in, not a device";
    const std::string macos = fact(r, "macos"), build = fact(r, "build");
    return value(r.device, "name") + (macos.empty() ? "" : ", macOS " + macos) + (build.empty() ? "" : " (" + build + ")");
}

std::string families(const results &r) {
    std::string all = "Apple" + value(r.device, "apple_family");
    for (const auto &f : {std::make_pair("mac2", "Mac2"), std::make_pair("metal3", "Metal3"), std::make_pair("metal4", "Metal4")})
        if (value(r.device, f.first) == "1") all += std::string(", ") + f.second;
    return all;
}

/* The letter of UTF-8 that begins at a byte, which is moved behind it; "?" for a byte that is none. */
std::string letter(const std::string &text, size_t &at) {
    const auto   c = static_cast<unsigned char>(text[at]);
    const size_t n = c < 0xc2 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 1, from = at;
    bool         good = (c < 0x80 || n > 1) && from + n <= text.size();
    for (size_t i = 1; i < n && good; i++) good = (static_cast<unsigned char>(text[from + i]) & 0xc0) == 0x80;
    at += good ? n : 1;
    return good ? text.substr(from, n) : "?";
}

/* Cell or line of Markdown: no line ends, no columns, no HTML. */
std::string cell(const std::string &text, size_t most) {
    std::string out;
    for (size_t at = 0; at < text.size();) {
        const std::string c = letter(text, at);
        if (at > most) return out + " ...";
        out += c == "\n" || c == "\r" || c == "\t" ? " " : c == "|" ? "\\|" : c == "<" ? "&lt;" : c;
    }
    return out;
}

/* Distinct warnings of the compiler, by how many cases got them. */
std::vector<std::pair<std::string, size_t>> warnings(const results &r) {
    std::map<std::string, size_t> all;
    for (const row &x : r.rows)
        if (x.is_done && !x.o.warning.empty()) all[x.o.warning]++;
    std::vector<std::pair<std::string, size_t>> sorted(all.begin(), all.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) { return a.second > b.second; });
    return sorted;
}

void put_counts(const results &r, std::string &out) {
    out += "| cases | number | |\n|---|---:|---|\n";
    for (int v = 0; v < VERDICTS; v++)
        if (r.count(static_cast<verdict>(v)) || v == RIGHT || v == WRONG)
            out += std::string("| ") + verdicts[v].word + " | " + std::to_string(r.count(static_cast<verdict>(v))) + " | " + verdicts[v].meaning + " |\n";
    if (r.left()) out += "| not tried | " + std::to_string(r.left()) + " | the run ended before |\n";
    out += "\n";
}

/* The cases of one verdict, folded. */
void put_cases(const results &r, verdict v, std::string &out) {
    const size_t most = 200; /* an issue holds 65,536 characters */
    size_t       n = 0;
    if (!r.count(v) || v == RIGHT || v == LOADED) return;
    out += "<details><summary>" + std::to_string(r.count(v)) + " " + verdicts[v].word + "</summary>\n\n";
    for (const row &x : r.rows)
        if (x.is_done && x.o.what == v && n++ < most)
            out += "- `" + x.name + "`: " + cell(x.o.why, verdicts[v].is_bad ? 240 : 100) + "\n";
    if (n > most) out += "- and " + std::to_string(n - most) + " more: see the JSON\n";
    out += "\n</details>\n\n";
}

void put_shares(const results &r, std::string &out) {
    if (r.shares.empty()) return;
    if (!host::has_clock()) {
        out += "Times: not measured, a stand-in has none.\n\n";
        return;
    }
    out += "Time of a copy of the same bytes over the time of the kernel, on the GPU, in the same run: 1.00 is as fast as a copy.\n"
           "Median of the runs, quartiles in brackets. The copy is a kernel of tmetal's too.\n\n"
           "| kernel | layout | size | share |\n|---|---|---|---|\n";
    for (const share &s : r.shares)
        out += "| " + s.kernel + " | " + (s.layout.empty() ? "own choice" : s.layout) + " | " + s.size + " | " +
               (s.is_measured ? number(s.middle) + " (" + number(s.low) + " to " + number(s.high) + ")" : cell(s.why, 120)) + " |\n";
    out += "\n";
}

/* -- JSON ---------------------------------------------------------------------------------- */

std::string quoted(const std::string &text) {
    std::string out = "\"";
    for (size_t at = 0; at < text.size();) {
        const std::string c = letter(text, at);
        char              code[8];
        std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned char>(c[0]));
        if (c == "\"" || c == "\\") out += "\\" + c;
        else if (static_cast<unsigned char>(c[0]) < 32 || c[0] == 127) out += code;
        else out += c;
    }
    return out + "\"";
}

template <typename T> std::string json_object(const T &pairs) {
    std::string out;
    for (const auto &p : pairs) out += (out.empty() ? "" : ", ") + quoted(p.first) + ": " + quoted(p.second);
    return "{" + out + "}";
}

std::string json_rows(const std::vector<std::string> &rows) {
    std::string out;
    for (const std::string &r : rows) out += (out.empty() ? "\n  " : ",\n  ") + r;
    return "[" + out + "]";
}

std::string json_share(const share &s) {
    std::string out = "{\"kernel\": " + quoted(s.kernel) + ", \"layout\": " + quoted(s.layout) + ", \"size\": " + quoted(s.size);
    if (s.is_measured) out += ", \"share\": " + number(s.middle) + ", \"quartiles\": [" + number(s.low) + ", " + number(s.high) + "]";
    else out += ", \"share\": null, \"why\": " + quoted(s.why);
    return out + "}";
}

} // namespace

std::string report_text(const results &r) {
    const auto  seen = warnings(r);
    std::string out = "# Device report: " + place(r) + "\n\n";
    out += "tmetal " TMETAL_VERSION ", commit " + (r.commit.empty() ? "unknown" : r.commit) + "; " +
           (host::is_device ? families(r) + (value(r.device, "architecture").empty() ? "" : ", " + value(r.device, "architecture"))
                            : "kernels ran in the simulator, so this says nothing about a GPU") + ".\n\n";
    if (r.is_stopped) out += "**Not complete:** the run stopped before every case was tried.\n\n";
    put_counts(r, out);
    put_shares(r, out);
    for (int v = VERDICTS - 1; v >= 0; v--) put_cases(r, static_cast<verdict>(v), out);
    if (!seen.empty()) {
        out += "<details><summary>" + std::to_string(seen.size()) + " different warnings of Apple's compiler</summary>\n\n";
        for (size_t i = 0; i < std::min<size_t>(seen.size(), 20); i++)
            out += "- " + std::to_string(seen[i].second) + " cases: " + cell(seen[i].first, 240) + "\n";
        out += "\n</details>\n\n";
    }
    out += "<details><summary>the machine</summary>\n\n";
    for (const auto &f : r.facts)
        if (!f.second.empty()) out += "- " + f.first + ": " + cell(f.second, 120) + "\n";
    for (const auto &d : host::is_device ? r.device : std::map<std::string, std::string>()) out += "- " + d.first + ": " + cell(d.second, 120) + "\n";
    return out + "\n</details>\n";
}

std::string report_json(const results &r) {
    std::vector<std::string>                         cases, shares, said;
    std::string                                      counts;
    for (int v = 0; v < VERDICTS; v++)
        counts += (v ? ", " : "") + quoted(verdicts[v].word) + ": " + std::to_string(r.count(static_cast<verdict>(v)));
    counts += ", \"not tried\": " + std::to_string(r.left());
    for (const row &x : r.rows)
        if (x.is_done)
            cases.push_back("{\"name\": " + quoted(x.name) + ", \"verdict\": " + quoted(verdicts[x.o.what].word) +
                            (x.o.why.empty() ? "" : ", \"why\": " + quoted(x.o.why)) + "}");
    for (const share &s : r.shares) shares.push_back(json_share(s));
    for (const auto &w : warnings(r)) said.push_back("{\"cases\": " + std::to_string(w.second) + ", \"text\": " + quoted(w.first) + "}");
    return "{\"tmetal_device_report\": 1, \"stand_in\": " + std::string(host::is_device ? "false" : "true") +
           ",\n \"title\": " + quoted(place(r)) + ", \"version\": \"" TMETAL_VERSION "\", \"commit\": " + quoted(r.commit) +
           ", \"complete\": " + (r.is_stopped ? "false" : "true") + ",\n \"device\": " + json_object(r.device) +
           ",\n \"facts\": " + json_object(r.facts) + ",\n \"counts\": {" + counts + "},\n \"shares\": " + json_rows(shares) +
           ",\n \"warnings\": " + json_rows(said) + ",\n \"cases\": " + json_rows(cases) + "}\n";
}

std::string shares_table(const results &r) {
    std::string out;
    char        line[256];
    std::snprintf(line, sizeof line, "%-12s %-14s %-12s %s\n", "kernel", "layout", "size", "share of a copy of the same bytes");
    out = line;
    for (const share &s : r.shares) {
        const std::string text = s.is_measured ? number(s.middle) + " (" + number(s.low) + " to " + number(s.high) + ")" : s.why;
        std::snprintf(line, sizeof line, "%-12s %-14s %-12s %.180s\n", s.kernel.c_str(), s.layout.empty() ? "own choice" : s.layout.c_str(),
                      s.size.c_str(), text.c_str());
        out += line;
    }
    return out;
}

} // namespace device
