#include "graphs.h"
#include "../corpus/jobs.h"
#include "../sim/sim.h"
#include "fusion.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

namespace oplist {

using nlohmann::json;
using shape = std::vector<int64_t>;

namespace {

struct numbers { /* splitmix64 */
    uint64_t state;
    uint64_t next() {
        uint64_t z = state += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    uint64_t below(uint64_t n) { return n ? next() % n : 0; }
    bool     chance(unsigned percent) { return below(100) < percent; }
    template <typename T> const T &any(const std::vector<T> &all) { return all[below(all.size())]; }
};

const size_t most_elements = 6000;

const std::vector<std::string> &unary_ops() {
    static const std::vector<std::string> all = {"exp", "exp2", "expm1", "log", "log2", "log1p", "sqrt", "rsqrt", "sin", "cos", "tanh", "erf", "floor", "ceil", "round", "sigmoid",
                                                 "gelu", "silu", "hardswish", "reciprocal", "neg", "abs", "relu", "relu6", "square"};
    return all;
}
const std::vector<std::string> &binary_ops() {
    static const std::vector<std::string> all = {"add", "sub", "mul", "div", "maximum", "minimum", "add", "sub", "mul", "floordiv", "mod", "pow",
                                                 "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "xor"};
    return all;
}
const std::vector<std::string> &reductions() {
    static const std::vector<std::string> all = {"sum", "mean", "max", "min", "sum", "prod", "argmax", "argmin", "any", "all"};
    return all;
}

/* -- Made from nothing ---------------------------------------------------------------------------------- */

struct value {
    std::string name, type;
    shape       dims;
    bool        given = false; /* an input of the graph */
};

class maker {
public:
    explicit maker(uint64_t seed) : rng_{seed * 2654435761u + 17} {}

    std::string run() {
        static const std::vector<std::string> floats = {"f32", "f32", "f16", "bf16"};
        type_ = rng_.any(floats);
        (void)input(random_dims(), type_);
        for (uint64_t left = 1 + rng_.below(10), tries = 0; left && tries < 100; tries++)
            if (one()) left--;
        return json{{"ops", ops_}}.dump();
    }

private:
    numbers            rng_;
    std::string        type_;
    json               ops_ = json::array();
    std::vector<value> pool_;
    unsigned           names_ = 0;

    static size_t count_of(const shape &s) {
        size_t n = 1;
        for (int64_t d : s) n *= static_cast<size_t>(d);
        return n;
    }
    shape random_dims() {
        static const std::vector<int64_t> extents = {1, 1, 2, 3, 4, 5, 7, 8, 16, 17, 31, 32, 33, 40, 64, 65, 100, 128, 129, 257, 1000};
        shape                             s(1 + rng_.below(4));
        for (int64_t &d : s) d = rng_.any(extents);
        while (count_of(s) > most_elements) *std::max_element(s.begin(), s.end()) /= 2;
        return s;
    }
    const value &input(const shape &s, const std::string &type) {
        pool_.push_back({"x" + std::to_string(names_++), type, s, true});
        return pool_.back();
    }
    value pick() { return pool_[std::max(rng_.below(pool_.size()), rng_.below(pool_.size()))]; }
    value pick_real() {
        for (unsigned tries = 0; tries < 20; tries++) {
            const value v = pick();
            if (v.type[0] == 'f' || v.type == "bf16") return v;
        }
        return input(random_dims(), type_);
    }
    /* A shape that stretches to `s`, or to which it stretches. */
    shape stretching(shape s) {
        while (s.size() > 1 && rng_.chance(25)) s.erase(s.begin());
        for (int64_t &d : s)
            if (rng_.chance(25)) d = 1;
        return s;
    }
    static bool stretch(const shape &a, const shape &b, shape &r) {
        r.assign(std::max(a.size(), b.size()), 1);
        for (size_t i = 0; i < r.size(); i++) {
            const int64_t x = i + a.size() < r.size() ? 1 : a[i + a.size() - r.size()], y = i + b.size() < r.size() ? 1 : b[i + b.size() - r.size()];
            if (x != y && x != 1 && y != 1) return false;
            r[i] = std::max(x, y);
        }
        return count_of(r) <= most_elements;
    }
    value other(const value &a) {
        shape r;
        for (unsigned tries = 0; tries < 6; tries++) {
            const value b = pick();
            if (stretch(a.dims, b.dims, r)) return b;
        }
        return input(stretching(a.dims), rng_.chance(85) ? a.type : type_);
    }

    /* An op; `type` of its result, where it is not known to the reader of this code: "" asks none to read it. */
    bool add(const std::string &op, const std::vector<value> &in, const json &args, const shape &dims, const std::string &type, const std::vector<std::string> &how = {}) {
        json shapes = json::array(), types = json::array(), names = json::array(), hows = json::array();
        for (size_t i = 0; i < in.size(); i++) {
            names.push_back(in[i].name);
            shapes.push_back(in[i].given ? json(in[i].dims) : json());
            types.push_back(in[i].given ? json(in[i].type) : json());
            hows.push_back(i < how.size() ? how[i] : "");
        }
        json o = {{"type", "tt." + op}, {"id", "v" + std::to_string(names_++)}, {"inputs", names}, {"input_shapes", shapes}, {"input_dtypes", types}, {"test_inputs", hows}, {"dtype", type_}};
        if (!args.empty()) o["args"] = args;
        ops_.push_back(o);
        pool_.push_back({o["id"], type, dims, false});
        return true;
    }

    bool one() {
        static const struct {
            unsigned weight;
            bool (maker::*make)();
        } all[] = {{22, &maker::unary}, {26, &maker::binary}, {14, &maker::reduce}, {8, &maker::rows}, {7, &maker::product}, {3, &maker::attend}, {2, &maker::convolve},
                   {4, &maker::running}, {10, &maker::move}, {5, &maker::choose}, {5, &maker::index}, {4, &maker::cast}, {6, &maker::spelt}, {14, &maker::more}};
        unsigned total = 0;
        for (const auto &m : all) total += m.weight;
        uint64_t dice = rng_.below(total);
        size_t   i = 0;
        for (; dice >= all[i].weight; i++) dice -= all[i].weight;
        return (this->*all[i].make)();
    }

    bool unary() {
        const value a = pick_real();
        json        args;
        const std::string op = rng_.any(unary_ops());
        if (op == "gelu" && rng_.chance(50)) args["approximate"] = "tanh";
        if (rng_.chance(8)) return add("clamp", {a}, {{"min", -0.5}, {"max", 1}}, a.dims, a.type);
        if (rng_.chance(4)) return add("dropout", {a}, {{"p", 0.25}, {"seed", 1 + rng_.below(1000)}}, a.dims, a.type);
        return add(op, {a}, args, a.dims, a.type);
    }
    bool binary() {
        const value       a = rng_.chance(85) ? pick_real() : pick();
        const std::string op = rng_.any(binary_ops());
        const bool        truth = op.size() == 2 && op != "or";
        if (rng_.chance(20) && op != "and" && op != "or" && op != "xor") return add(op, {a}, {{"value", 0.25 * static_cast<double>(1 + rng_.below(9))}}, a.dims, truth ? "bool" : a.type);
        const value b = other(a);
        shape       r;
        if (!stretch(a.dims, b.dims, r)) return false;
        return add(op, rng_.chance(30) ? std::vector<value>{b, a} : std::vector<value>{a, b}, json::object(), r, truth ? "bool" : a.type == b.type ? a.type : "");
    }
    bool reduce() {
        const value       a = rng_.chance(85) ? pick_real() : pick();
        if (a.dims.empty()) return false;
        const std::string op = rng_.any(reductions());
        const bool        keep = rng_.chance(50);
        std::set<size_t>  axes;
        json              args = {{"keepdims", keep}};
        shape             out;
        const uint64_t    dice = rng_.below(10);
        if (dice < 6) {
            const int64_t axis = static_cast<int64_t>(rng_.below(a.dims.size()));
            axes.insert(static_cast<size_t>(axis));
            args["axis"] = rng_.chance(30) ? axis - static_cast<int64_t>(a.dims.size()) : axis;
        } else if (dice < 9) {
            json list = json::array();
            for (size_t d = 0; d < a.dims.size(); d++)
                if (rng_.chance(50)) axes.insert(d), list.push_back(d);
            if (list.empty()) return false;
            args["axis"] = list;
        } else {
            for (size_t d = 0; d < a.dims.size(); d++) axes.insert(d);
            args["axis"] = nullptr;
        }
        for (size_t d = 0; d < a.dims.size(); d++) {
            if (!axes.count(d)) out.push_back(a.dims[d]);
            else if (keep) out.push_back(1);
        }
        if (op == "prod" && count_of(a.dims) / std::max<size_t>(1, count_of(out)) > 300) return false;
        return add(op, {a}, args, out, op[0] == 'a' ? (op == "any" || op == "all" ? "bool" : "i32") : a.type[0] == 'f' || a.type == "bf16" ? a.type : "");
    }
    bool rows() {
        static const std::vector<std::string> all = {"softmax", "log_softmax", "layer_norm", "rms_norm"};
        const value                           a = pick_real();
        if (a.dims.empty()) return false;
        const std::string                     op = rng_.any(all);
        const int64_t                         axis = static_cast<int64_t>(rng_.below(a.dims.size()));
        std::vector<value>                    in = {a};
        const bool                            norm = op == "layer_norm" || op == "rms_norm", last = axis + 1 == static_cast<int64_t>(a.dims.size());
        json                                  args = {{"axis", axis}};
        if (norm && last && rng_.chance(60)) in.push_back(input({a.dims.back()}, a.type));
        if (norm && in.size() == 2 && op == "layer_norm" && rng_.chance(60)) in.push_back(input({a.dims.back()}, a.type));
        if (norm) args["eps"] = 0.001;
        return add(op, in, args, a.dims, a.type);
    }
    bool product() {
        const value a = pick_real();
        if (a.dims.size() < 2 || count_of(a.dims) > 4000) return false;
        const bool    ta = rng_.chance(20), tb = rng_.chance(40);
        const int64_t m = ta ? a.dims.back() : a.dims[a.dims.size() - 2], k = ta ? a.dims[a.dims.size() - 2] : a.dims.back(), n = 1 + static_cast<int64_t>(rng_.below(40));
        shape         out(a.dims.begin(), a.dims.end() - 2), b = rng_.chance(30) ? out : shape();
        if (count_of(out) * static_cast<size_t>(m * n) > most_elements) return false;
        b.push_back(tb ? n : k), b.push_back(tb ? k : n);
        out.push_back(m), out.push_back(n);
        std::vector<value> in = {a, input(b, a.type)};
        if (rng_.chance(30)) in.push_back(input({n}, a.type));
        return add("matmul", in, {{"transpose_a", ta}, {"transpose_b", tb}}, out, a.type);
    }
    bool attend() {
        const int64_t      heads = 1 + static_cast<int64_t>(rng_.below(3)), q = 1 + static_cast<int64_t>(rng_.below(40)), k = 1 + static_cast<int64_t>(rng_.below(50)), size = 8 << rng_.below(3);
        const bool         causal = rng_.chance(30);
        std::vector<value> in = {input({heads, q, size}, type_), input({heads, k, size}, type_), input({heads, k, size}, type_)};
        if (!causal && rng_.chance(30)) in.push_back(input({q, k}, type_));
        json args = {{"causal", causal}};
        if (causal && rng_.chance(50)) args["causal"] = rng_.chance(80) ? "bottom_right" : "top_left";
        else if (causal) args["causal_offset"] = static_cast<int64_t>(rng_.below(60)) - 20;
        return add("attention", in, args, {heads, q, size}, type_);
    }
    bool convolve() {
        const int64_t c = 1 + static_cast<int64_t>(rng_.below(6)), o = 1 + static_cast<int64_t>(rng_.below(6)), h = 3 + static_cast<int64_t>(rng_.below(9)), w = 3 + static_cast<int64_t>(rng_.below(9)),
                      kernel = 1 + static_cast<int64_t>(rng_.below(3)), padding = static_cast<int64_t>(rng_.below(2));
        return add("conv2d", {input({2, c, h, w}, type_), input({o, c, kernel, kernel}, type_)}, {{"padding", padding}}, {2, o, h + 2 * padding - kernel + 1, w + 2 * padding - kernel + 1}, type_);
    }
    /* Slices, edges, rotations, pooling, norms by channel. */
    bool more() {
        const value    a = pick_real();
        const size_t   rank = a.dims.size();
        const uint64_t dice = rng_.below(8);
        shape          to = a.dims;
        if (rank == 0) return false;
        const size_t axis = rng_.below(rank);
        if (dice == 0) {
            const int64_t size = to[axis], start = static_cast<int64_t>(rng_.below(static_cast<uint64_t>(size))), step = 1 + static_cast<int64_t>(rng_.below(3));
            const bool    back = rng_.chance(30);
            to[axis] = back ? start / step + 1 : (size - start - 1) / step + 1;
            return add("slice", {a}, {{"axis", static_cast<int64_t>(axis) - (rng_.chance(50) ? static_cast<int64_t>(rank) : 0)}, {"start", start}, {"step", back ? -step : step}}, to, a.type);
        }
        if (dice == 1) {
            json widths = json::array();
            for (int64_t &d : to) {
                const int64_t before = rng_.chance(40) ? static_cast<int64_t>(rng_.below(4)) : 0, after = rng_.chance(40) ? static_cast<int64_t>(rng_.below(4)) : 0;
                widths.push_back({before, after}), d += before + after;
            }
            return count_of(to) <= most_elements && add("pad", {a}, {{"pad_width", widths}, {"value", 0.5 * static_cast<double>(rng_.below(3))}}, to, a.type);
        }
        if (dice == 2) {
            if (rank < 2 || to.back() < 2) return false;
            const int64_t dims = 2 + 2 * static_cast<int64_t>(rng_.below(static_cast<uint64_t>(to.back() / 2)));
            return add("rope", {a}, {{"dims", dims}, {"traditional", rng_.chance(50)}, {"offset", rng_.below(40)}, {"base", 100}}, to, a.type);
        }
        if (dice == 3) { /* two parts, of which others read or none does */
            if (to[axis] < 2) return false;
            const int64_t      first = 1 + static_cast<int64_t>(rng_.below(static_cast<uint64_t>(to[axis] - 1))), all = to[axis];
            const std::string  one = "v" + std::to_string(names_) + ".a", two = "v" + std::to_string(names_) + ".b";
            to[axis] = first;
            if (!add("split", {a}, {{"axis", axis}, {"sizes", {first, all - first}}}, to, a.type)) return false;
            ops_.back()["outputs"] = {one, two};
            ops_.back().erase("id");
            pool_.back().name = one;
            to[axis] = all - first;
            pool_.push_back({two, a.type, to, false});
            return true;
        }
        if (dice == 4) {
            const std::string op = rng_.chance(50) ? "max_pool2d" : "avg_pool2d";
            const shape       s = {1 + static_cast<int64_t>(rng_.below(2)), 1 + static_cast<int64_t>(rng_.below(4)), 4 + static_cast<int64_t>(rng_.below(12)), 4 + static_cast<int64_t>(rng_.below(12))};
            const int64_t     kernel = 1 + static_cast<int64_t>(rng_.below(4)), stride = 1 + static_cast<int64_t>(rng_.below(3)), pad = static_cast<int64_t>(rng_.below(static_cast<uint64_t>(kernel / 2 + 1)));
            to = s;
            for (size_t i = 2; i < 4; i++) to[i] = (s[i] + 2 * pad - kernel) / stride + 1;
            json args = {{"kernel_size", kernel}, {"stride", stride}, {"padding", pad}};
            if (op[0] == 'a') args["count_include_pad"] = rng_.chance(50);
            value x = input(s, type_);
            if (rng_.chance(50) && add(rng_.any(unary_ops()), {x}, json::object(), s, type_)) x = pool_.back();
            return add(op, {x}, args, to, type_);
        }
        if (dice == 5) {
            if (rank < 2) return false;
            const value w = input({to[1]}, a.type), b = input({to[1]}, a.type);
            if (rng_.chance(50)) return add("group_norm", {a, w, b}, {{"groups", to[1] % 2 ? 1 : 2}, {"eps", 0.01}}, to, a.type);
            return add("batch_norm", {a, w, b, input({to[1]}, a.type), input({to[1]}, a.type)}, json::object(), to, a.type, {"", "", "", "", "positive"});
        }
        if (dice == 6) {
            if (rank < 3) return false;
            const int64_t times = 1 + static_cast<int64_t>(rng_.below(3));
            for (size_t d = 2; d < rank; d++) to[d] *= times;
            return count_of(to) <= most_elements && add("upsample_nearest", {a}, {{"scale_factor", times}}, to, a.type);
        }
        const int64_t size = to[axis];
        const shape   s(rng_.below(3), 1 + static_cast<int64_t>(rng_.below(5)));
        if (rank + s.size() > 8) return false;
        to.erase(to.begin() + static_cast<long>(axis));
        to.insert(to.begin() + static_cast<long>(axis), s.begin(), s.end());
        return count_of(to) <= most_elements && add("take", {a, input(s, "i32")}, {{"axis", axis}}, to, a.type, {"", "index:" + std::to_string(size + 1)});
    }

    bool running() {
        const value a = pick_real();
        if (a.dims.empty()) return false;
        return add("cumsum", {a}, {{"axis", rng_.below(a.dims.size())}, {"reverse", rng_.chance(40)}, {"exclusive", rng_.chance(30)}}, a.dims, a.type);
    }
    bool move() {
        const value    a = pick();
        if (a.dims.empty()) return false;
        const uint64_t dice = rng_.below(4);
        shape          to = a.dims;
        if (dice == 0) { /* transposed */
            std::vector<int64_t> perm(a.dims.size());
            for (size_t i = 0; i < perm.size(); i++) perm[i] = static_cast<int64_t>(i);
            for (size_t i = perm.size(); i-- > 1;) std::swap(perm[i], perm[rng_.below(i + 1)]);
            for (size_t i = 0; i < perm.size(); i++) to[i] = a.dims[static_cast<size_t>(perm[i])];
            return add("transpose", {a}, {{"perm", perm}}, to, a.type);
        }
        if (dice == 1) { /* other extents: neighbours multiplied, or one split */
            const size_t at = rng_.below(to.size());
            if (at + 1 < to.size() && rng_.chance(60)) to[at] *= to[at + 1], to.erase(to.begin() + static_cast<long>(at) + 1);
            else if (to[at] % 2 == 0) to[at] /= 2, to.insert(to.begin() + static_cast<long>(at), 2);
            else to.insert(to.begin() + static_cast<long>(at), 1);
            return add("reshape", {a}, {{"shape", to}}, to, a.type);
        }
        if (dice == 2) {
            for (int64_t &d : to)
                if (d == 1 && rng_.chance(60)) d = 1 + static_cast<int64_t>(rng_.below(20));
            if (rng_.chance(50)) to.insert(to.begin(), 1 + static_cast<int64_t>(rng_.below(4)));
            return count_of(to) <= most_elements && add("broadcast", {a}, {{"shape", to}}, to, a.type);
        }
        const size_t axis = rng_.below(to.size());
        value        b = a;
        if (rng_.chance(60)) {
            shape s = to;
            s[axis] = 1 + static_cast<int64_t>(rng_.below(9));
            b = input(s, a.type);
        }
        to[axis] += b.dims[axis];
        return count_of(to) <= most_elements && add("concat", rng_.chance(50) ? std::vector<value>{a, b} : std::vector<value>{b, a}, {{"axis", axis}}, to, a.type);
    }
    bool choose() {
        const value a = pick_real(), b = other(a);
        shape       r, s;
        if (rng_.chance(30)) {
            const value c = other(a);
            return stretch(a.dims, b.dims, r) && stretch(r, c.dims, s) && add("fma", {a, b, c}, json::object(), s, a.type == b.type && a.type == c.type ? a.type : "");
        }
        value c = input(stretching(a.dims), "bool");
        for (const value &v : pool_)
            if (v.type == "bool" && stretch(v.dims, a.dims, r) && rng_.chance(50)) c = v;
        return stretch(a.dims, b.dims, r) && stretch(r, c.dims, s) && add("where", {c, a, b}, json::object(), s, a.type == b.type ? a.type : "");
    }
    bool index() {
        const value    a = pick_real();
        if (a.dims.empty()) return false;
        const size_t   axis = rng_.below(a.dims.size());
        const uint64_t dice = rng_.below(4);
        shape          to = a.dims;
        const std::string within = "index:" + std::to_string(a.dims[axis] + (rng_.chance(20) ? 2 : 0));
        to[axis] = 1 + static_cast<int64_t>(rng_.below(20));
        if (count_of(to) > most_elements) return false;
        if (dice == 0) return add("gather", {a, input(to, "i32")}, {{"axis", axis}}, to, a.type, {"", within});
        if (dice == 1) return add("scatter_add", {a, input(to, "i32"), input(to, a.type)}, {{"axis", axis}}, a.dims, a.type, {"", within, ""});
        if (dice == 2 && a.given) { /* ranks are certain of what no rounding has touched */
            const bool indices = rng_.chance(40);
            return add("sort", {a}, {{"axis", axis}, {"descending", rng_.chance(50)}, {"indices", indices}}, a.dims, indices ? "i32" : a.type);
        }
        if (dice == 3 && a.given) {
            to[axis] = 1 + static_cast<int64_t>(rng_.below(static_cast<uint64_t>(a.dims[axis])));
            return add("topk", {a}, {{"axis", axis}, {"k", to[axis]}, {"largest", rng_.chance(60)}}, to, a.type);
        }
        const value table = input({9, 7}, type_);
        to = {static_cast<int64_t>(1 + rng_.below(30)), 7};
        return add("embedding", {input({to[0]}, "i32"), table}, json::object(), to, type_, {"index:9", ""});
    }
    bool cast() {
        static const std::vector<std::string> all = {"f32", "f16", "bf16", "i32", "bool"};
        const value                           a = pick();
        const std::string                     to = rng_.any(all);
        return to != a.type && add("cast", {a}, {{"dtype", to}}, a.dims, to);
    }
    /* Softmax or a norm in smaller ops, now and then with one of them another. */
    bool spelt() {
        const value   a = pick_real();
        if (a.dims.empty()) return false;
        const int64_t axis = static_cast<int64_t>(rng_.below(a.dims.size()));
        const auto    other_axis = [&]() { return rng_.chance(6) ? static_cast<int64_t>(rng_.below(a.dims.size())) : axis; };
        const auto    fold = [&](const char *op, const value &x) {
            const int64_t at = other_axis();
            shape         s = x.dims;
            s[static_cast<size_t>(at)] = 1;
            add(op, {x}, {{"axis", at}, {"keepdims", true}}, s, x.type);
            return pool_.back();
        };
        const auto each = [&](const char *op, const value &x, const value &y) {
            shape r;
            if (!stretch(x.dims, y.dims, r)) r = x.dims;
            add(rng_.chance(4) ? rng_.any(binary_ops()) : op, {x, rng_.chance(4) ? a : y}, json::object(), r, x.type);
            return pool_.back();
        };
        const auto alone = [&](const char *op, const value &x) {
            add(rng_.chance(4) ? rng_.any(unary_ops()) : op, {x}, json::object(), x.dims, x.type);
            return pool_.back();
        };
        if (rng_.chance(50)) {
            const value e = alone("exp", each("sub", a, fold("max", a)));
            (void)each("div", e, fold("sum", e));
            return true;
        }
        const value d = each("sub", a, fold("mean", a)), m = fold("mean", alone("square", d));
        add("add", {m}, {{"value", 0.01}}, m.dims, m.type);
        (void)each("mul", d, alone("rsqrt", pool_.back()));
        return true;
    }
};

/* -- Made from others --------------------------------------------------------------------------------------- */

bool replace_type(json &op, numbers &rng) {
    std::string type = op["type"];
    const bool  prefixed = type.rfind("tt.", 0) == 0;
    if (prefixed) type = type.substr(3);
    for (const auto *group : {&unary_ops(), &binary_ops(), &reductions()})
        if (std::count(group->begin(), group->end(), type)) {
            op["type"] = (prefixed ? "tt." : "") + rng.any(*group);
            return true;
        }
    return false;
}

/* One change; what it makes may be refused. */
bool change(json &ops, numbers &rng) {
    json                    &op = ops[rng.below(ops.size())];
    std::vector<std::string> names;
    json                     given; /* name: {shape, type, how} */
    for (const json &o : ops) {
        names.push_back(o["id"]);
        for (size_t i = 0; i < o["inputs"].size(); i++)
            if (!o["input_shapes"][i].is_null()) given[o["inputs"][i].get<std::string>()] = {o["input_shapes"][i], o["input_dtypes"][i], o["test_inputs"][i]}, names.push_back(o["inputs"][i]);
    }
    switch (rng.below(7)) {
    case 0: case 1: return replace_type(op, rng);
    case 2: { /* another input */
        const size_t      i = rng.below(op["inputs"].size());
        const std::string by = rng.any(names);
        if (op["inputs"].empty() || by == op["id"]) return false;
        op["inputs"][i] = by;
        for (unsigned k = 0; k < 3; k++) op[k == 0 ? "input_shapes" : k == 1 ? "input_dtypes" : "test_inputs"][i] = given.contains(by) ? given[by][k] : k == 2 ? json("") : json();
        return true;
    }
    case 3: /* the other way round */
        if (op["inputs"].size() < 2) return false;
        for (const char *key : {"inputs", "input_shapes", "input_dtypes", "test_inputs"}) std::swap(op[key][0], op[key][1]);
        return true;
    case 4: /* another axis, kept or not, another number */
        if (!op.contains("args")) return false;
        if (op["args"].contains("axis") && rng.chance(60)) op["args"]["axis"] = static_cast<int64_t>(rng.below(3)) - 1;
        else if (op["args"].contains("keepdims")) op["args"]["keepdims"] = !op["args"]["keepdims"].get<bool>();
        else if (op["args"].contains("value")) op["args"]["value"] = static_cast<double>(rng.below(9)) * 0.5;
        else return false;
        return true;
    case 5: { /* one more reader */
        const std::string of = op["id"];
        ops.push_back({{"type", rng.any(unary_ops())}, {"id", "more" + std::to_string(ops.size())}, {"inputs", {of}}, {"input_shapes", {nullptr}}, {"input_dtypes", {nullptr}}, {"test_inputs", {""}}, {"dtype", op["dtype"]}});
        return true;
    }
    default: { /* an op between this one and one that reads it */
        const std::string of = op["id"], id = "between" + std::to_string(ops.size());
        const json        dtype = op["dtype"];
        for (json &o : ops)
            for (json &in : o["inputs"])
                if (in == of) {
                    in = id;
                    ops.push_back({{"type", rng.any(unary_ops())}, {"id", id}, {"inputs", {of}}, {"input_shapes", {nullptr}}, {"input_dtypes", {nullptr}}, {"test_inputs", {""}}, {"dtype", dtype}});
                    return true;
                }
        return false;
    }
    }
}

std::vector<how> all_ways() {
    std::vector<how> all(8);
    all[1].gpu = "apple-m3-max";
    all[2].plain = true;
    all[3].tensors = true;
    const char *const layouts[] = {"COALESCED", "TILED", "ROW_MAJOR", "COLUMN_MAJOR"};
    for (size_t i = 0; i < 4; i++) all[4 + i].layouts = layouts[i];
    return all;
}

std::string text_of(const how &w) { return (w.gpu.empty() ? "" : " " + w.gpu) + (w.plain ? " plain" : "") + (w.tensors ? " tensors" : "") + (w.layouts.empty() ? "" : " " + w.layouts); }

bool is_refusal(const std::string &why) { return why.rfind("refused, TM", 0) == 0 && why.rfind("refused, TM9", 0) != 0; }

/* An answer is one line, short enough for the pipe. */
std::string one_line(std::string s) {
    std::replace(s.begin(), s.end(), '\n', ' ');
    return s.substr(0, 2000);
}

void judge(const graph_options &o, const std::vector<std::string> &bases, uint64_t first, uint64_t last, FILE *out) {
    std::vector<test_case> cases;
    for (uint64_t seed = first; seed < last; seed++) {
        std::vector<how>  ways = all_ways();
        numbers           rng{seed};
        const std::string list = random_list(seed, bases);
        const compiled    c = compile(list);
        if (c.code) { /* refused: the reference does not look whether shapes fit */
            std::fprintf(out, "%llu\t%s\n", static_cast<unsigned long long>(seed), one_line("refused, TM" + std::to_string(c.code) + ": " + c.message).c_str());
            continue;
        }
        for (unsigned k = 0; k < o.ways; k++) {
            test_case    t;
            const size_t w = k ? 1 + rng.below(ways.size() - 1) : 0;
            t.options = ways[w];
            ways[w] = ways[0];
            t.name = std::to_string(seed) + text_of(t.options);
            t.list = list;
            t.seed = seed + 1;
            cases.push_back(t);
        }
    }
    for (const verdict &v : run_all(cases, "")) std::fprintf(out, "%s\t%s\n", v.name.c_str(), one_line(v.why).c_str());
}

void print_census(const graph_options &o, const std::vector<std::string> &bases) {
    std::map<std::string, unsigned> count;
    for (uint64_t seed = o.first; seed < o.first + o.graphs; seed++) {
        const std::string     list = random_list(seed, bases);
        std::set<std::string> seen;
        if (compile(list).code) {
            count["(refused)"]++;
            continue;
        }
        const json read = json::parse(list);
        for (const json &op : read["ops"]) {
            const std::string type = op["type"];
            seen.insert(type.rfind("tt.", 0) == 0 ? type.substr(3) : type);
        }
        for (const std::string &s : seen) count[s]++;
    }
    for (const auto &c : count) std::printf("%6u %s\n", c.second, c.first.c_str());
}

} // namespace

std::string random_list(uint64_t seed, const std::vector<std::string> &bases) {
    if (seed % 3 || bases.empty()) return maker(seed).run();
    numbers rng{seed};
    json    list = json::parse(rng.any(bases));
    for (uint64_t left = 1 + rng.below(3), tries = 0; left && tries < 50; tries++) left -= change(list["ops"], rng);
    return list.dump();
}

int run_graphs(const graph_options &o) {
    std::vector<std::string>        bases;
    std::map<std::string, unsigned> count;
    const double                    begin = corpus::now();
    for (const test_case &c : fusion_cases("tests/oplist/fusion.rows", false))
        if (c.list.size() < 4000 && c.list.find("000") == std::string::npos) bases.push_back(c.list); /* large ones take the reference long */
    if (o.print) {
        for (uint64_t seed = o.first; seed < o.first + o.graphs; seed++) std::printf("%s\n", random_list(seed, bases).c_str());
        return 0;
    }
    if (o.census) return print_census(o, bases), 0;
    FILE               *results = o.results.empty() ? nullptr : std::fopen(o.results.c_str(), "a");
    std::set<uint64_t>  answered;
    corpus::job_options jobs;
    jobs.jobs = o.jobs, jobs.count = o.graphs, jobs.seconds = o.seconds, jobs.at_once = std::max(1u, 48 / o.ways);
    const auto tell = [&](const std::string &line) {
        std::printf("%s\n", line.c_str());
        std::fflush(stdout);
        if (results) std::fprintf(results, "%s\n", line.c_str()), std::fflush(results);
    };
    sim::fingerprint();
    const uint64_t begun = corpus::run_jobs(
        jobs, [&](uint64_t first, uint64_t last, FILE *out) { judge(o, bases, o.first + first, o.first + last, out); },
        [&](const std::string &line) {
            const std::string why = line.substr(line.find('\t') + 1);
            answered.insert(std::stoull(line));
            count[why.empty() ? "right" : is_refusal(why) ? "refused" : "WRONG"]++;
            if (!why.empty() && !is_refusal(why)) tell("WRONG  graph " + line);
        });
    for (uint64_t i = 0; i < begun; i++)
        if (!answered.count(o.first + i)) tell("WRONG  graph " + std::to_string(o.first + i) + "\tno answer: the program died"), count["WRONG"]++;
    char summary[200];
    std::snprintf(summary, sizeof summary, "%llu graphs, %.0f s, %.2f s of a process a graph: %u right, %u refused, %u wrong", static_cast<unsigned long long>(begun), corpus::now() - begin,
                  (corpus::now() - begin) * o.jobs / static_cast<double>(std::max<uint64_t>(begun, 1)), count["right"], count["refused"], count["WRONG"]);
    tell(summary);
    if (results) std::fclose(results);
    return count["WRONG"] != 0;
}

} // namespace oplist
