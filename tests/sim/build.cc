/* From Metal texts to a shared object, through clang. */
#include "files.h"
#include "fingerprint.h"
#include "lines.h"
#include "msl.h"
#include "words.h"

#include <algorithm>
#include <csignal>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <unistd.h>

#ifndef SIM_CLANGXX
#define SIM_CLANGXX "clang++"
#endif

namespace sim {

namespace {

/* -- Tools and flags --------------------------------------------------------------------------- */

std::string environment(const char *name, const std::string &otherwise) {
    const char *value = std::getenv(name);
    return value && *value ? value : otherwise;
}

std::string clang() { return environment("CLANGXX", SIM_CLANGXX); }
std::string include_directory() {
    return environment("SIM_INCLUDE", tests_directory() + "/sim/include");
}
std::string cache_directory(const build_options &o) {
    return o.cache_dir.empty() ? environment("SIM_CACHE", program_directory() + "/sim-cache")
                               : o.cache_dir;
}

/* What only the checker of other people's texts knows: textures, matrices, stages of a pipeline. */
std::string foreign_directory() { return tests_directory() + "/lint/include"; }

/* Instructions for half and fused multiply-add where this machine has them: without, both work
 * through calls, slowly. */
std::vector<std::string> machine_flags() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {"-mf16c", "-mfma"};
#endif
    return {};
}

std::vector<std::string> split(const std::string &text) {
    std::istringstream       in(text);
    std::vector<std::string> words;
    for (std::string w; in >> w;) words.push_back(w);
    return words;
}

const char fixed_flags[] =
    /* the language: C++ for OpenCL with half, without double, and nothing of OpenCL's library */
    "-x clcpp -cl-std=clc++2021 -cl-no-stdinc -fdeclspec -D__METAL__=1 -D__METAL_MACOS__=1 "
    "-Xclang -cl-ext=-cl_khr_fp64,-__opencl_c_fp64,+cl_khr_fp16,+__opencl_c_generic_address_space "
    /* messages that parse_messages() reads */
    "-w -ferror-limit=0 -fno-caret-diagnostics -fno-color-diagnostics -fno-elide-type "
    /* code that loads fast, with lines */
    "-O1 -fPIC -gline-tables-only -gdwarf-4 -fno-stack-protector -fno-asynchronous-unwind-tables "
    /* vectors stay the accesses that the text asked for */
    "-fno-vectorize -fno-slp-vectorize -mllvm -disable-vector-combine -mllvm -disable-loop-idiom-all "
    /* defined here, whatever C++ says */
    "-fno-strict-aliasing -fno-strict-float-cast-overflow -fno-math-errno "
    /* what the text leaves uninitialised is NaN or a strange number, not by luck zero */
    "-ftrivial-auto-var-init=pattern "
    /* f32 denormals are zero at compile time too */
    "-Xclang -fdenormal-fp-math-f32=preserve-sign,preserve-sign "
    /* calls before loads and stores, see memory.cc, and nothing else of the thread sanitizer */
    "-fsanitize=thread -mllvm -tsan-instrument-func-entry-exit=0 "
    "-mllvm -tsan-instrument-atomics=0 -mllvm -tsan-distinguish-volatile=1 "
    "-mllvm -tsan-instrument-read-before-write=1 "
    /* calls when a signed sum overflows or an index leaves an array, see undefined.cc */
    "-fsanitize=signed-integer-overflow,array-bounds "
    "-fsanitize-recover=signed-integer-overflow,array-bounds ";

/* `classes`: the text has member functions. Metal runs them on objects of the thread; here they are
 * for objects anywhere, so then what points to such objects is `thread` without an address space.
 * */
struct dialect {
    int  version;
    bool foreign, classes;
    bool operator<(const dialect &o) const {
        return std::tie(version, foreign, classes) < std::tie(o.version, o.foreign, o.classes);
    }
    bool operator==(const dialect &o) const { return !(*this < o) && !(o < *this); }
};

std::vector<std::string> compile_command(dialect d, const build_options &o) {
    std::vector<std::string> command = split(clang() + " " + fixed_flags);
    command.push_back("-D__METAL_VERSION__=" + std::to_string(d.version));
    if (d.foreign)
        command.insert(command.end(),
                       {"-DSIM_FOREIGN", "-fno-spell-checking", "-Xclang",
                        "-cl-single-precision-constant", "-I" + foreign_directory()});
    if (d.classes) command.push_back("-DSIM_THREAD_ANYWHERE");
    command.push_back(o.contract ? "-ffp-contract=on" : "-ffp-contract=off");
    command.push_back("-I" + include_directory());
    for (const std::string &m : machine_flags()) command.push_back(m);
    return command;
}

std::string hash_of_headers() {
    static std::string once;
    if (!once.empty()) return once;
    hasher h;
    for (const std::string &dir :
         {include_directory(), include_directory() + "/sim",
          include_directory() + "/MetalPerformancePrimitives", foreign_directory()})
        for (const std::string &name : list_directory(dir))
            h.add(name).add(read_file(dir + "/" + name));
    h.add(run_process({clang(), "--version"}).out);
    return once = h.hex();
}

/* The standard library, compiled once per version and set of flags. */
std::string precompiled_header(dialect d, const build_options &o) {
    std::vector<std::string> command = compile_command(d, o);
    hasher                   h;
    for (const std::string &f : command) h.add(f);
    const std::string dir = cache_directory(o), hash = h.add(hash_of_headers()).hex();
    const std::string path = dir + "/metal-" + std::to_string(d.version) + "-" + hash + ".pch";
    if (exists(path)) return path;
    make_directories(dir);
    const std::string beside = path + "." + std::to_string(getpid());
    command.insert(command.end(), {"-Xclang", "-emit-pch", "-Xclang", "-fno-pch-timestamp", "-c",
                                   d.foreign ? foreign_directory() + "/metal_graphics"
                                             : include_directory() + "/metal_stdlib",
                                   "-o", beside});
    const process_result r = run_process(command);
    if (r.status != 0 || std::rename(beside.c_str(), path.c_str()) != 0)
        throw std::runtime_error("cannot compile the simulator's headers with " + clang() + ":\n" +
                                 r.err.substr(0, 2000));
    return path;
}

/* -- Messages ---------------------------------------------------------------------------------- */

struct message {
    std::string file, kind, text;
    unsigned    line = 0, column = 0;
};

std::vector<message> parse_messages(const std::string &output) {
    static const std::regex form("^(.*?):([0-9]+):([0-9]+): (error|fatal error|note): (.*)$");
    std::vector<message>    all;
    std::istringstream      in(output);
    for (std::string line; std::getline(in, line);) {
        std::smatch m;
        if (!std::regex_match(line, m, form)) continue;
        message r;
        r.file = m[1], r.kind = m[4], r.text = m[5];
        r.line = static_cast<unsigned>(std::stoul(m[2]));
        r.column = static_cast<unsigned>(std::stoul(m[3]));
        all.push_back(r);
    }
    return all;
}

const char unit_prefix[] = "sim_unit_";

/* Index of a unit from the name in its #line, or -1. */
long unit_of(const std::string &file) {
    if (file.rfind(unit_prefix, 0) != 0) return -1;
    return std::strtol(file.c_str() + sizeof unit_prefix - 1, nullptr, 10);
}

} // namespace

/* -- The build --------------------------------------------------------------------------------- */

class builder {
public:
    builder(const std::vector<source> &sources, const build_options &options)
        : sources_(sources), options_(options), module_(new module) {}

    std::shared_ptr<module> run() {
        for (const source &s : sources_) front(s);
        std::set<dialect> dialects;
        dialects.insert(dialects_.begin(), dialects_.end());
        const std::string kept = kept_path();
        if (!kept.empty() && exists(kept)) return keep(kept);
        directory_ = make_temporary_directory();
        std::vector<std::string> objects;
        for (dialect d : dialects)
            if (!options_.tokens_only) compile(d, objects);
        if (!options_.check_only && !objects.empty()) link(objects);
        module_->path_ = directory_ + "/kernels.so";
        for (const std::string &name : list_directory(directory_))
            if (name != "kernels.so") unlink((directory_ + "/" + name).c_str());
        if (kept.empty() || objects.empty()) return module_;
        const std::string beside = kept + "." + std::to_string(getpid());
        make_directories(options_.keep_in);
        if (!write_file(beside, read_file(module_->path_)) || std::rename(beside.c_str(), kept.c_str())) return module_;
        remove_directory(directory_);
        return keep(kept);
    }

private:
    const std::vector<source> &sources_;
    const build_options       &options_;
    std::shared_ptr<module>    module_;
    std::vector<rewritten>     texts_;
    std::vector<dialect>       dialects_; /* of each text */
    std::vector<std::string>   undefine_; /* macros of each text */
    std::string                directory_;
    bool                       foreign_ = false;
    bool                       known_limit_ = false; /* clang found what Metal allows */

    /* Where the shared object of a text without errors stays; "": nowhere. */
    std::string kept_path() const {
        if (options_.keep_in.empty() || options_.check_only || sources_.size() != 1 || !module_->units_[0].errors.empty()) return "";
        hasher h;
        for (const std::string &f : compile_command(dialects_[0], options_)) h.add(f);
        return options_.keep_in + "/" + h.add(hash_of_headers()).add(text_of({0})).hex() + ".so";
    }

    std::shared_ptr<module> keep(const std::string &path) {
        module_->path_ = path;
        module_->is_kept_ = true;
        return module_;
    }

    void front(const source &s) {
        const unsigned index = static_cast<unsigned>(module_->units_.size());
        unit           u;
        u.name = s.name;
        parsed p = parse(s);
        const bool classes = s.foreign && p.has_methods;
        dialects_.push_back({s.version, s.foreign, classes});
        if (p.errors.empty()) check(p);
        if (p.errors.empty() && s.emitted) check_emitted(p);
        std::string undefine;
        for (const directive &d : p.lexed.directives)
            if (d.name == "define")
                undefine += "#undef " + d.rest.substr(0, d.rest.find_first_of("( \t")) + "\n";
        texts_.push_back(p.errors.empty() ? rewrite(p, index) : rewritten());
        undefine_.push_back(undefine);
        u.kernels = texts_.back().kernels;
        for (kernel &k : u.kernels) k.unit = index;
        u.errors = p.errors;
        std::stable_sort(u.errors.begin(), u.errors.end(),
                         [](const diagnostic &a, const diagnostic &b) { return a.line < b.line; });
        module_->units_.push_back(u);
    }

    std::string text_of(const std::vector<size_t> &members) const {
        std::string s =
            foreign_ ? "#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable\n" : "";
        for (size_t i : members) {
            const std::string name = unit_prefix + std::to_string(i);
            /* Alone, as it may add to namespace metal. */
            if (members.size() == 1 && sources_[i].foreign)
                return s + "#line 1 \"" + name + "\"\n" + texts_[i].text + "\n";
            s += "namespace " + name + " {\n#line 1 \"" + name + "\"\n" + texts_[i].text + "\n}\n" +
                 undefine_[i];
        }
        return s;
    }

    /* All texts of one version in one go. */
    void compile(dialect d, std::vector<std::string> &objects) {
        std::vector<size_t> members;
        for (size_t i = 0; i < sources_.size(); i++)
            if (dialects_[i] == d) members.push_back(i);
        compile(d, members, objects);
    }

    /* When some are wrong, the rest again without them; when they take too long, each alone. */
    void compile(dialect d, std::vector<size_t> members, std::vector<std::string> &objects) {
        foreign_ = d.foreign;
        while (true) {
            members.erase(std::remove_if(members.begin(), members.end(), [&](size_t i) { return !module_->units_[i].errors.empty(); }), members.end());
            if (members.empty()) return;
            const std::string name = directory_ + "/kernels-" + std::to_string(d.version) + (objects.empty() ? "" : "-" + std::to_string(members.front())),
                              in = name + ".clcpp", out = name + ".o";
            write_file(in, text_of(members));
            std::vector<std::string> command = compile_command(d, options_);
            command.insert(command.end(), {"-include-pch", precompiled_header(d, options_)});
            if (options_.check_only) command.insert(command.end(), {"-fsyntax-only", in});
            else command.insert(command.end(), {"-c", in, "-o", out});
            const process_result r = run_process(command, options_.seconds);
            if (r.status == 0) {
                objects.push_back(out);
                return;
            }
            if (r.status == 128 + SIGXCPU) {
                if (members.size() == 1) give_up(members.front());
                else for (size_t i : members) compile(d, {i}, objects);
                return;
            }
            known_limit_ = false;
            if (!take_errors(r.err)) {
                if (known_limit_) return;
                blame_all(members, r.err);
            }
        }
    }

    /* An error in a header belongs to the text that a note after it names. */
    bool take_errors(const std::string &output) {
        const std::vector<message> all = parse_messages(output);
        bool                       any = false;
        for (size_t i = 0; i < all.size(); i++) {
            if (all[i].kind == "note") continue;
            const message *place = &all[i];
            std::string    text = all[i].text;
            if (foreign_ && copies_constant(all, i)) {
                known_limit_ = true;
                continue;
            }
            for (size_t k = i + 1; k < all.size() && all[k].kind == "note"; k++) {
                if (unit_of(place->file) < 0 && unit_of(all[k].file) >= 0) place = &all[k];
                text = with_sizes(text, all[k].text);
            }
            any |= add_error(*place, text);
        }
        return any;
    }

    /* Copying a struct out of constant memory is an error only here: an implicit copy constructor
     * takes no such object in this dialect. */
    static bool copies_constant(const std::vector<message> &all, size_t i) {
        if (all[i].text == "variable in constant address space must be initialized")
            return true; /* a member */
        if (all[i].text == "automatic variable qualified with an invalid address space")
            return true; /* T of thread T & */
        const bool copy = all[i].text.find("no matching constructor") != std::string::npos ||
                          all[i].text.find("no viable") != std::string::npos;
        for (size_t k = i + 1; copy && k < all.size() && all[k].kind == "note"; k++)
            if (all[k].text.find("(the implicit ") != std::string::npos &&
                all[k].text.find(
                    "in address space '__constant' to object in address space '__generic'") !=
                    std::string::npos)
                return true;
        return false;
    }

    /* The static_assert over threadgroup memory, in Apple's words. */
    static std::string with_sizes(const std::string &text, const std::string &note) {
        static const std::regex sizes("expression evaluates to '([0-9]+) <= 32768'");
        std::smatch             m;
        if (text.find("threadgroup memory") == std::string::npos ||
            !std::regex_search(note, m, sizes))
            return text;
        return "Threadgroup memory size (" + m[1].str() +
               ") exceeds the maximum threadgroup memory allowed (32768)";
    }

    bool add_error(const message &m, const std::string &text) {
        const long i = unit_of(m.file);
        if (i < 0 || static_cast<size_t>(i) >= sources_.size()) return false;
        const size_t u = static_cast<size_t>(i);
        module_->units_[u].errors.push_back({sources_[u].name, m.line,
                                             texts_[u].original_column(m.line, m.column),
                                             metal_words(text)});
        module_->units_[u].kernels.clear();
        return true;
    }

    void give_up(size_t i) {
        unit &u = module_->units_[i];
        u.late = true;
        u.errors.push_back({sources_[i].name, 0, 0, "clang takes over " + std::to_string(options_.seconds) + " seconds"});
        u.kernels.clear();
    }

    void blame_all(const std::vector<size_t> &members, const std::string &output) {
        for (size_t i : members) {
            module_->units_[i].errors.push_back(
                {sources_[i].name, 0, 0, "clang failed: " + output.substr(0, 2000)});
            module_->units_[i].kernels.clear();
        }
    }

    void link(const std::vector<std::string> &objects) {
        std::vector<std::string> command = {"ld", "-shared", "-o", directory_ + "/kernels.so"};
        command.insert(command.end(), objects.begin(), objects.end());
        const process_result r = run_process(command);
        if (r.status != 0) throw std::runtime_error("cannot link kernels: " + r.err);
    }
};

std::string clang_program() { return clang(); }

std::shared_ptr<module> build(const std::vector<source> &sources, const build_options &options) {
    return builder(sources, options).run();
}

std::string fingerprint() {
    static std::string once;
    if (once.empty()) {
        hasher h;
        for (const std::string &f : compile_command({0, false, false}, {})) h.add(f);
        once = h.add(judge_sources()).add(hash_of_headers()).hex();
    }
    return once;
}

/* -- Modules ----------------------------------------------------------------------------------- */

const kernel *module::find(const std::string &unit_name, const std::string &kernel_name) const {
    for (const unit &u : units_)
        for (const kernel &k : u.kernels)
            if (u.name == unit_name && k.name == kernel_name) return &k;
    return nullptr;
}

bool module::locate(uint64_t pc, std::string &file, unsigned &line) const {
    if (!lines_) lines_.reset(new line_table(path_));
    if (!lines_->find(pc, file, line)) return false;
    const long i =
        unit_of(file.substr(file.rfind('/') == std::string::npos ? 0 : file.rfind('/') + 1));
    if (i < 0 || static_cast<size_t>(i) >= units_.size()) return false;
    file = units_[static_cast<size_t>(i)].name;
    return true;
}

module::~module() {
    if (!path_.empty() && !is_kept_) remove_directory(path_.substr(0, path_.rfind('/')));
}

} // namespace sim
