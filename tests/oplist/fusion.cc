#include "fusion.h"

#include <nlohmann/json.hpp>

#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

namespace oplist {

using nlohmann::json;

namespace {

std::string trimmed(const std::string &s) {
    const size_t a = s.find_first_not_of(" \t\r"), b = s.find_last_not_of(" \t\r");
    return a == std::string::npos ? "" : s.substr(a, b - a + 1);
}

std::vector<std::string> parts_of(const std::string &s, char at) {
    std::vector<std::string> out;
    std::istringstream       in(s);
    for (std::string part; std::getline(in, part, at);) out.push_back(trimmed(part));
    return out;
}

bool is_number(const std::string &s) { return s.find_first_not_of("+-.0123456789e") == std::string::npos && s.find_first_of("0123456789") == 0; }

struct declared {
    json        shape;
    std::string type, how;
};

/* "x[30,201]:bool ~share:0.5" */
void declare(const std::string &s, std::map<std::string, declared> &inputs) {
    const size_t open = s.find('['), close = s.find(']'), tilde = s.find('~');
    declared     d;
    d.shape = json::parse(s.substr(open, close - open + 1));
    const std::string rest = trimmed(s.substr(close + 1, tilde == std::string::npos ? std::string::npos : tilde - close - 1));
    if (!rest.empty()) d.type = rest.substr(1);
    if (tilde != std::string::npos) d.how = s.substr(tilde + 1);
    inputs[trimmed(s.substr(0, open))] = d;
}

json value_of(const std::string &s) {
    try {
        return json::parse(s);
    } catch (const json::exception &) {
        return s;
    }
}

/* "y = op x z axis=1 keepdims 0.5" */
json op_of(const std::string &s, std::map<std::string, declared> &inputs, const std::string &type, std::set<std::string> &made) {
    const size_t       equals = s.find('=');
    std::istringstream in(s.substr(equals + 1));
    json               op, shapes = json::array(), types = json::array(), hows = json::array();
    std::string        word;
    in >> word;
    op["type"] = word;
    op["id"] = trimmed(s.substr(0, equals));
    op["dtype"] = type;
    op["inputs"] = json::array();
    while (in >> word) {
        const size_t is = word.find('=');
        if (is != std::string::npos) op["args"][word.substr(0, is)] = value_of(word.substr(is + 1));
        else if (is_number(word)) op["args"]["value"] = json::parse(word);
        else if (made.count(word) || inputs.count(word)) {
            const bool given = !made.count(word);
            op["inputs"].push_back(word);
            shapes.push_back(given ? inputs[word].shape : json());
            types.push_back(given && !inputs[word].type.empty() ? json(inputs[word].type) : json());
            hows.push_back(given ? inputs[word].how : "");
        } else op["args"][word] = true;
    }
    op["input_shapes"] = shapes;
    op["input_dtypes"] = types;
    op["test_inputs"] = hows;
    made.insert(op["id"].get<std::string>());
    return op;
}

struct row {
    std::string           name, what, reason;
    bool                  takes = false;
    size_t                kernels = 0;
    std::map<std::string, uint64_t> times; /* that an input is read, or one of a type: q:f32 */
    std::string           list;
};

row row_of(const std::string &line) {
    const std::vector<std::string> part = parts_of(line, '|');
    row                            r;
    if (part.size() != 5) throw std::runtime_error("fusion.rows: not five columns: " + line);
    r.name = part[0];
    r.takes = part[1].rfind("takes ", 0) == 0;
    const size_t colon = part[1].find(':');
    if (part[1] != "-") r.what = r.takes ? part[1].substr(6) : part[1].substr(4, colon - 4);
    if (!r.takes && part[1] != "-") r.reason = trimmed(part[1].substr(colon + 1));
    r.kernels = std::stoul(part[2]);
    std::istringstream once(part[3]);
    for (std::string w; once >> w;)
        if (w != "-") r.times[w.substr(0, w.find('*'))] = w.find('*') == std::string::npos ? 1 : std::stoul(w.substr(w.find('*') + 1));
    r.list = part[4];
    return r;
}

/* What the summary and the remarks say of it. */
std::string said(const row &r, const compiled &c) {
    bool applied = false, missed = false;
    for (const fusion &f : c.fusions) {
        if (f.what != r.what) continue;
        (f.applied ? applied : missed) = true;
        if (!f.applied && !r.takes && r.reason != "-" && f.reason.find(r.reason) == std::string::npos) return "is none because " + f.reason;
    }
    if (applied != r.takes) return r.takes ? "is no " + r.what : "is taken for " + r.what;
    if (!r.takes && missed != (r.reason != "-")) return missed ? "is called almost " + r.what : "gives no reason why it is no " + r.what;
    size_t remarks = 0;
    for (const std::string &s : c.remarks) remarks += s.rfind("fusion: ", 0) == 0;
    return remarks == c.fusions.size() ? "" : "has " + std::to_string(remarks) + " remarks for " + std::to_string(c.fusions.size()) + " lines of the summary";
}

/* Bytes of inputs that are to be read once, and of all results. */
std::string moved(const row &r, const compiled &c, const sim::report &report) {
    const json                plan = json::parse(c.plan);
    std::map<std::string, uint64_t> read, written;
    for (const sim::kernel_counters &k : report.counters)
        for (const sim::buffer_traffic &b : k.buffers) read[b.name] += b.read_evenly, written[b.name] += b.bytes_written;
    size_t at = 0;
    for (const json &p : plan["params"]) {
        uint64_t bytes = bytes_of(p["type"].get<std::string>());
        for (const json &d : p["shape"]) bytes *= d.get<uint64_t>();
        const std::string name = p["name"];
        const bool        is_result = p["kind"] == "result";
        const std::string buffer = (is_result ? "result " : "input ") + std::to_string(at++);
        if (is_result && written[buffer] != bytes) return name + " of " + std::to_string(bytes) + " bytes is written " + std::to_string(written[buffer]);
        auto times = r.times.find(name + ":" + p["type"].get<std::string>());
        if (times == r.times.end()) times = r.times.find(name);
        if (times != r.times.end() && read[buffer] != bytes * times->second) return name + " of " + std::to_string(bytes) + " bytes is read " + std::to_string(read[buffer]);
    }
    return "";
}

std::string planned(const row &r, const compiled &c) {
    const json plan = json::parse(c.plan);
    if (plan["kernels"].size() != r.kernels) return "takes " + std::to_string(plan["kernels"].size()) + " kernels, wanted " + std::to_string(r.kernels);
    if (c.kernels != r.kernels) return "takes other numbers of kernels in plan and summary";
    if (r.kernels == 1 && !plan["scratch"].empty()) return "wants scratch";
    return r.what.empty() ? "" : said(r, c);
}

} // namespace

std::vector<test_case> fusion_cases(const std::string &file, bool quick, bool all) {
    static const char *const types[] = {"f32", "f16", "bf16"};
    std::vector<test_case>   cases;
    std::ifstream            in(file);
    unsigned                 turn = 0;
    if (!in) throw std::runtime_error("no file " + file);
    for (std::string line; std::getline(in, line);) {
        if (trimmed(line).empty() || line[0] == '#') continue;
        const row r = row_of(line);
        turn++;
        for (unsigned t = 0; t < 3; t++) {
            if (quick && (all ? t != turn % 3 : turn % 2 || t != turn / 2 % 3)) continue;
            std::map<std::string, declared> inputs;
            std::set<std::string>           made;
            json                            ops = json::array();
            for (const std::string &s : parts_of(r.list, ';')) {
                const size_t open = s.find('['), equals = s.find('=');
                if (open != std::string::npos && equals == std::string::npos) declare(s, inputs);
                else ops.push_back(op_of(s, inputs, types[t], made));
            }
            test_case c;
            const size_t at = r.name.find_first_of("@%");
            c.name = "fusion-" + r.name.substr(0, at) + "-" + types[t];
            if (at != std::string::npos) (r.name[at] == '@' ? c.options.gpu : c.options.layouts) = r.name.substr(at + (r.name[at] == '@'));
            c.list = json{{"ops", ops}}.dump();
            c.counters = true;
            c.told = quick && all && !r.takes && !r.what.empty();
            c.more = [r, told = c.told](const compiled &m, const sim::report &report) {
                const std::string why = planned(r, m);
                return why.empty() && !told ? moved(r, m, report) : why;
            };
            cases.push_back(c);
        }
    }
    return cases;
}

} // namespace oplist
