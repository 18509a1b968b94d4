/* A start from the cache: no compilation of ours and no pipeline that Metal compiles, whatever happens to the files, the
 * system and the device in between; and each failure of an archive leads back to a pipeline that works.
 *     warm DIR
 * DIR is empty. */
#define TMETAL_CACHE
#define TMETAL_METAL
#include "../../tmetal.h"

#include "standin.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

int failures;

void check(bool good, const std::string &what) {
    if (good) return;
    std::printf("warm: %s\n", what.c_str());
    failures++;
}

std::string text_of(const std::string &path) {
    std::ifstream     f(path, std::ios::binary);
    std::stringstream s;
    s << f.rdbuf();
    return s.str();
}

std::vector<std::string> files(const std::string &dir, const std::string &end) {
    std::vector<std::string> all;
    if (std::filesystem::exists(dir))
        for (const auto &e : std::filesystem::directory_iterator(dir))
            if (e.path().extension() == end) all.push_back(e.path().string());
    std::sort(all.begin(), all.end());
    return all;
}

/* What one start of a program does, and what it took. */
struct start {
    std::string device = "M1", said;
    std::string source = text_of("examples/kernels/vector_add.ttir");
    bool        runs = true, tells = true; /* tells: what tmetal_load says is asked for */
    size_t      room = 8u << 20; /* of the arena that tmetal_load is given */
    int         found = -1;
    tmetal_code code = TMETAL_OK;
    unsigned    kernels = 0;

    void go(const std::string &dir) {
        std::vector<char>    memory(16u << 20), more(room);
        tmetal_arena         arena = tmetal_arena_on(memory.data(), memory.size()), small = tmetal_arena_on(more.data(), more.size());
        tmetal_cache         cache{dir.c_str(), 0};
        tmetal_result        r{};
        tmetal_problem       p{};
        tmetal_metal_options o{};
        tmetal_metal        *metal = nullptr;
        tmetal_loaded       *loaded = nullptr;
        o.symbol = standin::symbol;
        o.device = device.c_str();
        o.cache = &cache;
        standin::counted.libraries = standin::counted.pipelines = standin::counted.archived = 0;
        code = tmetal_cache_compile(&cache, source.data(), source.size(), nullptr, &arena, &r, &found, &p);
        kernels = r.n_kernels;
        if (code == TMETAL_OK) code = tmetal_metal_open(&o, &arena, &metal, &p);
        if (code == TMETAL_OK) code = tmetal_load(metal, &r, &small, &loaded, nullptr, tells ? &p : nullptr);
        said = p.text;
        check(code != TMETAL_OK || small.need == 0, "loaded, and yet more memory is asked for: " + std::to_string(small.need));
        if (code == TMETAL_OK && runs) launch(metal, loaded, arena);
        tmetal_unload(loaded);
        tmetal_metal_close(metal);
    }

    void launch(tmetal_metal *metal, tmetal_loaded *loaded, tmetal_arena &arena) {
        tmetal_launch    *l = nullptr;
        tmetal_problem    p{};
        tmetal_buffer     b[3]{};
        tmetal_launch_arg args[4];
        const uint32_t    programs[3] = {1, 1, 1};
        for (int i = 0; i < 3; i++) {
            tmetal_buffer_make(metal, 1024, &b[i], &p);
            args[i] = tmetal_arg_buffer(&b[i], 0);
        }
        for (int i = 0; i < 256; i++) static_cast<float *>(b[0].contents)[i] = static_cast<float>(i), static_cast<float *>(b[1].contents)[i] = 0.5f;
        args[3] = tmetal_arg_int(256);
        tmetal_launch_make(loaded, &arena, &l, &p);
        code = tmetal_launch_run(l, args, 4, programs, &p);
        for (int i = 0; i < 256; i++) check(static_cast<float *>(b[2].contents)[i] == static_cast<float>(i) + 0.5f, "a wrong sum");
        tmetal_launch_free(l);
        for (tmetal_buffer &x : b) tmetal_buffer_free(metal, &x);
    }

    /* What must have been compiled, and nothing wrong. */
    void expect(const char *when, int was_found, unsigned pipelines, unsigned archived, const char *says = "") {
        const standin::counts &c = standin::counted;
        const std::string      where = std::string(when) + ": ";
        check(code == TMETAL_OK, where + "TM" + std::to_string(static_cast<int>(code)) + " " + said);
        check(found == was_found, where + (found ? "found" : "compiled"));
        check(c.libraries == 1, where + std::to_string(c.libraries) + " libraries");
        check(c.pipelines == pipelines, where + std::to_string(c.pipelines) + " pipelines compiled");
        check(c.archived == archived, where + std::to_string(c.archived) + " pipelines from archives");
        check(*says ? said.find(says) != std::string::npos : said.empty(), where + "it says '" + said + "'");
        for (const std::string &s : standin::complaints()) check(false, where + s);
        for (const auto &v : standin::violations()) check(false, where + v.text), (void)v;
    }
};

void once(const char *when, const std::string &dir, int found, unsigned pipelines, unsigned archived, const char *says = "") {
    start s;
    s.go(dir);
    s.expect(when, found, pipelines, archived, says);
}

void systems(const std::string &dir) {
    once("a cold start", dir, 0, 1, 1);
    once("a warm start", dir, 1, 0, 1);
    standin::now.system = "Version 15.1 (Build 24B83)";
    once("after an update of the system", dir, 1, 1, 1);
    once("the second time after it", dir, 1, 0, 1);
    standin::now.system = "Version 15.0 (Build 24A335)";
    once("back on the old system", dir, 1, 0, 1);
    standin::now.devices = 2;
    start other;
    other.device = "M2";
    other.go(dir);
    other.expect("on another device", 1, 1, 1);
    other.go(dir);
    other.expect("on another device again", 1, 0, 1);
    standin::now.devices = 1;
    check(files(dir, ".archive").size() == 3 && files(dir, ".tmp").empty(), "files that nobody wants");
}

void damage(const std::string &dir) {
    once("a cold start", dir, 0, 1, 1);
    const std::string path = files(dir, ".archive").at(0), good = text_of(path);
    for (size_t i = 0; i < good.size(); i += 7) {
        std::string bad = good;
        bad[i] = static_cast<char>(bad[i] ^ 1);
        if (i % 2) bad.resize(i);
        std::ofstream(path, std::ios::binary) << bad;
        once("with a damaged archive", dir, 1, 1, 1);
        check(text_of(path) == good, "a damaged archive does not heal");
    }
    std::filesystem::remove(path);
    once("with an archive gone", dir, 1, 1, 1);
    for (const std::string &f : files(dir, ".tmetal")) std::ofstream(f, std::ios::binary) << "short";
    once("with every entry damaged", dir, 0, 1, 1);
    once("healed", dir, 1, 0, 1);
}

void failing(const std::string &dir) {
    once("a cold start", dir, 0, 1, 1);
    standin::now.archive_fails = "open"; /* the file is as it was, but Metal does not take it */
    once("with an archive that Metal refuses", dir, 1, 1, 1);
    standin::now.archive_fails = "miss";
    once("with an archive that lacks the pipeline", dir, 1, 1, 0);
    standin::now.archive_fails = "";
    once("it was forgotten", dir, 1, 1, 1);
    once("and made again", dir, 1, 0, 1);
    standin::now.system = "Version 26.0 (Build 25A354)";
    standin::now.archive_fails = "add";
    once("with an archive that takes nothing", dir, 1, 1, 0);
    standin::now.archive_fails = "write";
    once("with an archive that cannot be written", dir, 1, 1, 1, "the cache cannot write");
    check(files(dir, ".tmp").empty(), "a file is left that nobody wants");
    standin::now.archive_fails = "";
    standin::now.no_archives = true;
    once("on a system without archives", dir, 1, 1, 0);
    standin::now.no_archives = false;
    standin::now.pipeline_says = "no pipeline today";
    start none;
    none.go(dir);
    check(none.code == TMETAL_E_PIPELINE && none.said.find("no pipeline today") != std::string::npos, "no pipeline: " + none.said);
    for (const std::string &s : standin::complaints()) check(false, s);
    standin::now.pipeline_says = "";
    start tight;
    tight.room = 1200; /* enough to load and to look, and not to write */
    tight.go(dir);
    tight.expect("with little memory", 1, 1, 1, "arena is full");
    standin::now.system = "Version 15.0 (Build 24A335)";
    std::ofstream(dir + "/file") << "x";
    start nowhere;
    nowhere.go(dir + "/file");
    nowhere.expect("in a folder that cannot be", 0, 1, 1, "the cache cannot");
}

/* In each arena: loaded, or TM901 and nothing left. */
void arenas(const std::string &dir) {
    size_t full = 0, loaded = 0;
    for (size_t room = 32; room < 4096; room += 32) {
        start tight;
        tight.runs = false;
        tight.room = room;
        tight.go(dir);
        full += tight.code == TMETAL_E_ARENA, loaded += tight.code == TMETAL_OK;
        check(tight.code == TMETAL_OK || (tight.code == TMETAL_E_ARENA && tight.said.find("arena is full") != std::string::npos),
              "an arena of " + std::to_string(room) + ": TM" + std::to_string(static_cast<int>(tight.code)) + " " + tight.said);
        for (const std::string &s : standin::complaints()) check(false, "an arena of " + std::to_string(room) + ": " + s);
    }
    check(full && loaded, "small arenas: all full, or none");
}

/* A list of several kernels: what fails of one fails of the archive, and each kernel is made without. */
void parts_of_a_list(const std::string &dir) {
    start s;
    s.runs = false;
    s.source = "tt.sum:[64,64]:1\ntt.max:[64,64]:0\n";
    standin::now.archive_fails = "add";
    s.go(dir);
    s.expect("a list, and an archive that takes nothing", 0, s.kernels, 0);
    check(s.kernels == 2 && files(dir, ".archive").empty(), "an archive of nothing is written");
    standin::now.archive_fails = "";
    s.go(dir);
    s.expect("a list again", 1, 2, 2);
    standin::now.archive_fails = "miss";
    s.go(dir);
    s.expect("a list, and an archive that lacks its first", 1, 2, 0);
    check(files(dir, ".tmetal").size() == 1, "an archive that lacks a pipeline is kept");
    standin::now.archive_fails = "";
    standin::now.simd_width = 64;
    s.go(dir);
    check(s.code == TMETAL_E_PIPELINE_LIMIT && s.said.find("32 wanted, 64 allowed") != std::string::npos, "other simdgroups: " + s.said);
    check(files(dir, ".tmetal").size() == 1 && files(dir, ".tmp").empty(), "pipelines that cannot be used are written");
    for (const std::string &c : standin::complaints()) check(false, "other simdgroups: " + c);
    standin::now.simd_width = 32;
}

/* Systems before archives, each lacking a class. */
void without(const std::string &dir) {
    for (const char *name : {"NSURL", "NSArray", "NSProcessInfo", "MTLBinaryArchiveDescriptor", "MTLComputePipelineDescriptor"}) {
        const std::string at = dir + "-" + name;
        standin::now.lacks = {name};
        once(name, at, 0, 1, 0);
        check(files(at, ".archive").empty(), std::string(name) + ": an archive is written without it");
    }
    standin::now.lacks.clear();
    standin::now.archive_fails = "write";
    start quiet;
    quiet.tells = false;
    quiet.go(dir + "-writes");
    quiet.expect("an archive that cannot be written, and nobody asks", 0, 1, 1);
    standin::now.archive_fails = "vanish";
    once("an archive that is written and not there", dir + "-vanish", 0, 1, 1, "the cache cannot read");
    standin::now.archive_fails = "";
}

/* Folders that stand where the files of an archive should. */
void in_the_way(const std::string &dir) {
    int refused = 0;
    once("a cold start", dir, 0, 1, 1);
    std::vector<std::string> names = files(dir, ".tmetal");
    names.push_back(files(dir, ".archive").at(0));
    check(names.size() == 3, "a cold start leaves other files");
    int n = 0;
    for (const std::string &name : names) {
        const std::string at = dir + "-" + std::to_string(n++);
        std::filesystem::create_directories(at + "/" + std::filesystem::path(name).filename().string() + "/full");
        start s;
        s.go(at);
        /* where it is the result's, compiling says so, and loading goes well */
        check(s.said.empty() || s.said.find("the cache cannot write " + at) == 0, "a folder in the way: " + s.said);
        if (!s.said.empty()) s.said.clear(), refused++;
        s.expect("with a folder in the way", 0, 1, 1);
        check(files(at, ".tmp").empty(), "with a folder in the way: a file is left");
    }
    check(refused == 2, std::to_string(refused) + " folders in the way are told, of 2");
}

/* A path of two bytes a letter that is longer than the text of a problem: it is cut between two letters. */
void cut(const std::string &dir) {
    const std::string source = text_of("examples/kernels/vector_add.ttir");
    std::string       letters;
    for (int i = 0; i < 1500; i++) letters += "é";
    for (const char *before : {"/a", "/ab"}) {
        std::vector<char> memory(8u << 20);
        tmetal_arena      arena = tmetal_arena_on(memory.data(), memory.size());
        const std::string path = dir + before + letters;
        tmetal_cache      cache{path.c_str(), 0};
        tmetal_result     r;
        tmetal_problem    p;
        check(tmetal_cache_compile(&cache, source.data(), source.size(), nullptr, &arena, &r, nullptr, &p) == TMETAL_OK, "a long path");
        const std::string said = p.text;
        check(said.size() > 1900 && said.substr(said.size() - 2) == "é", "a long path is cut inside of a letter");
    }
}

/* Several kernels, of which some are one function; several threads at once. */
void many(const std::string &dir) {
    start s;
    s.runs = false;
    s.source = "tt.sum:[64,64]:1\ntt.max:[64,64]:0\ntt.sum:[64,64]:1\n";
    s.go(dir);
    const unsigned n = s.kernels, compiled = standin::counted.pipelines;
    s.expect("a cold start of a list", 0, compiled, n);
    check(n >= 3 && compiled >= 2 && compiled <= n, "the list is other than it was");
    s.go(dir);
    s.expect("a warm start of a list", 1, 0, n);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++)
        threads.emplace_back([&dir, t] {
            for (int i = 0; i < 5; i++) {
                start one;
                one.runs = false;
                if (t & 1) one.source = text_of("examples/kernels/softmax.ttir");
                one.go(dir);
                check(one.code == TMETAL_OK && one.said.empty(), "a thread: " + one.said);
            }
        });
    for (std::thread &t : threads) t.join();
    for (const std::string &c : standin::complaints()) check(false, c);
    once("after the threads", dir, 1, 0, 1);
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    const std::string dir = argv[1];
    systems(dir + "/systems");
    damage(dir + "/damage");
    failing(dir + "/failing");
    parts_of_a_list(dir + "/list");
    without(dir + "/without");
    in_the_way(dir + "/way");
    cut(dir);
    arenas(dir + "/arenas");
    many(dir + "/many");
    if (!failures) std::printf("warm: a start from the cache compiles nothing; each failure of it does no harm\n");
    return failures != 0;
}
