/* tmetal's own help, all of it from the tables of commands and options: --help, the manual page, shell completion.
 * Included by examples/tmetal.c behind its table of commands. */

/* Headings of --help, in order. Commands and options that no row names stand first, so a new one is never lost. */
static const struct {
    const char *title, *names;
} command_groups[] = {
    {"To begin with", " check tutorial gpus ops "},
    {"Kernels", " compile run tune bench kernels "},
    {"Why a kernel is as it is", " explain why layouts transform analyze "},
    {"Many files", " census sample-ops "},
    {"For the shell", " completion man "},
};

static const struct {
    const char *title;
    uint64_t    options;
} option_groups[] = {
    {"What is printed",
     TAKES(OUT) | TAKES(RESULTS) | TAKES(IR_OUT) | TAKES(JSON) | TAKES(DIAG_JSON) | TAKES(EMIT) | TAKES(HTML) | TAKES(SVG) | TAKES(PLOT) | TAKES(SUMMARY) | TAKES(VERBOSE) |
         TAKES(DEBUG) | TAKES(VERSION)},
    {"The GPU", TAKES(GPU) | TAKES(HAS) | TAKES(LACKS) | TAKES(MSL)},
    {"How the kernel is made",
     TAKES(THREADS) | TAKES(ALIAS) | TAKES(LAYOUT) | TAKES(NO_FUSION) | TAKES(LOGGING) | TAKES(NO_FP64) | TAKES(PLAIN) | TAKES(TWO_STAGE) |
         TAKES(OPERANDS) | TAKES(PROGRAMS) | TAKES(PARTS) | TAKES(BOUNDS) | TAKES(ALSO_UNALIGNED)},
    {"Kernels of a .py file", TAKES_SOURCE},
    {"The launch", TAKES(GRID) | TAKES(ARGS) | TAKES(DEVICE)},
    {"Kept from one run to the next", TAKES(CACHE) | TAKES(TUNED) | TAKES(TUNE_TO)},
};

enum { COMMAND_GROUPS = sizeof command_groups / sizeof *command_groups, OPTION_GROUPS = sizeof option_groups / sizeof *option_groups };

/* Values that an option takes, where they are a list of words; NULL: others. */
static const char *words_of(unsigned id) {
    switch (id) {
    case OPT_EMIT: return "msl plan ir layouts remarks all mlx c objc metal-cpp swift torch-py mlx-py";
    case OPT_LAYOUT: case OPT_LAYOUTS: return "DEFAULT ROW_MAJOR COLUMN_MAJOR TILED COALESCED";
    case OPT_DTYPE: return "float32 float16 bfloat16";
    case OPT_OPERANDS: return "auto direct staged";
    case OPT_STRATEGY: return "guided exhaustive random model";
    default: return NULL;
    }
}

/* A value that is a word of its list but for a letter or two: 2 after a message, else 0. */
static int misspelt_value(const request *r, unsigned id, const char *value) {
    const char *s = words_of(id);
    char        word[32], closest[32] = "";
    unsigned    least = 99, d;
    for (; s && *s; s += strcspn(s, " "), s += *s == ' ') {
        snprintf(word, sizeof word, "%.*s", (int)strcspn(s, " "), s);
        d = distance_of(value, word);
        if (d < least) least = d, strcpy(closest, word);
    }
    if (!least || least > 2 || 2 * least > strlen(value) || strchr(value, '=')) return 0; /* sum=TILED is read by the library */
    snprintf(word, sizeof word, "unknown %.20s", options[id].name);
    return misspelt(r, word, value, closest, least);
}

/* The group of a command or an option; that behind the last: none. */
static unsigned group_of_command(const command *c) {
    char     name[32];
    unsigned g;
    snprintf(name, sizeof name, " %s ", c->name);
    for (g = 0; g < COMMAND_GROUPS && !strstr(command_groups[g].names, name); g++) {}
    return g;
}

static uint64_t options_of_group(const command *c, unsigned g) {
    uint64_t rest = c->options;
    unsigned i;
    if (g < OPTION_GROUPS) return c->options & option_groups[g].options;
    for (i = 0; i < OPTION_GROUPS; i++) rest &= ~option_groups[i].options;
    return rest;
}

static int print_usage(FILE *f) {
    unsigned i, k, g;
    fprintf(f, "tmetal " TMETAL_VERSION ": Triton kernels to Metal\n");
    for (k = 0; k <= COMMAND_GROUPS; k++) {
        int begun = 0;
        g = k ? k - 1 : (unsigned)COMMAND_GROUPS;
        for (i = 0; i < COMMAND_COUNT; i++) {
            if (group_of_command(&commands[i]) != g) continue;
            if (!begun++) fprintf(f, "\n%s\n", g < COMMAND_GROUPS ? command_groups[g].title : "Commands");
            fprintf(f, "  tmetal %-10s %-13s %s\n", commands[i].name, commands[i].operands, commands[i].what);
        }
    }
    fprintf(f, "\n  tmetal COMMAND --help           what it takes\n"
               "  tmetal explain TM204            what a code of an error means\n"
               "  tmetal --version\n"
               "\n"
               "- is standard input or output. Exit codes: 0 done, 1 refused, 2 the command line is wrong.\n"
               "Colours and a line of progress are shown on a terminal; NO_COLOR=1 or TERM=dumb puts colours out.\n");
    return 0;
}

static void print_option(const option *o) {
    char        left[80];
    const char *help = o->help, *end;
    snprintf(left, sizeof left, "%s%s%s%s%s", o->name, *o->other ? ", " : "", o->other, *o->value ? " " : "", o->value);
    printf("  %-22s ", left);
    if (strlen(left) > 22) printf("\n%25s", "");
    for (; (end = strchr(help, '\n')) != NULL; help = end + 1) printf("%.*s\n%25s", (int)(end - help), help, "");
    printf("%s\n", help);
}

static int print_help(const command *c) {
    unsigned i, k, g;
    printf("tmetal %s%s%s%s: %s\n", c->name, c->options ? " [options]" : "", *c->operands ? " " : "", c->operands, c->what);
    if (*c->more) printf("\n%s", c->more);
    for (k = 0; k <= OPTION_GROUPS; k++) {
        uint64_t own;
        g = k ? k - 1 : (unsigned)OPTION_GROUPS;
        own = options_of_group(c, g);
        if (own) printf("\n%s\n", g < OPTION_GROUPS ? option_groups[g].title : "Options");
        for (i = 0; i < OPTION_COUNT; i++)
            if (own >> i & 1) print_option(&options[i]);
    }
    printf("\n  %-22s %s\n", "--help", "this text");
    return 0;
}

/* -- The manual page ------------------------------------------------------------------------------------------- */

/* Text of a manual page: hyphens that may be copied, no line that roff takes as a request. */
static void put_roff(buffer *b, const char *s) {
    int start = 1;
    for (; *s; s++) {
        if (start && (*s == '.' || *s == '\'')) put(b, "\\&");
        start = *s == '\n';
        if (*s == '-') put(b, "\\-");
        else if (*s == '\\') put(b, "\\e");
        else put_n(b, s, 1);
    }
}

static void put_roff_option(buffer *b, const option *o) {
    put(b, ".TP\n.B ");
    put_roff(b, o->name);
    if (*o->other) put(b, ", "), put_roff(b, o->other);
    if (*o->value) put(b, " \\fI"), put_roff(b, o->value), put(b, "\\fR");
    put(b, "\n");
    put_roff(b, o->help);
    put(b, "\n");
}

/* What most commands take is listed once, behind them; a command's own options stand with it. */
static void put_roff_command(buffer *b, const command *c, uint64_t shared) {
    unsigned i, g;
    int      any = 0;
    put(b, ".SS tmetal ");
    put_roff(b, c->name);
    if (c->options) put(b, " [options]");
    if (*c->operands) put(b, " "), put_roff(b, c->operands);
    put(b, "\n");
    put_roff(b, c->what);
    put(b, ".\n");
    if (*c->more) put(b, ".PP\n.nf\n"), put_roff(b, c->more), put(b, ".fi\n");
    for (i = 0; i < OPTION_COUNT; i++)
        if ((c->options & ~shared) >> i & 1) put_roff_option(b, &options[i]);
    for (g = 0; g < OPTION_GROUPS; g++)
        if (c->options & option_groups[g].options & shared) putf(b, "%s%s", any++ ? ", " : ".PP\nAlso options of: ", option_groups[g].title);
    if (any) put(b, ".\n");
}

static void put_man(buffer *b) {
    const uint64_t shared = TAKES_SOURCE | TAKES_COMPILE;
    unsigned       i, g;
    put(b, ".TH TMETAL 1 \"\" \"tmetal " TMETAL_VERSION "\" \"User Commands\"\n.SH NAME\ntmetal \\- Triton kernels to Metal\n"
           ".SH SYNOPSIS\n.B tmetal\n.I command\n[options] [file ...]\n.SH DESCRIPTION\n"
           "Compiles Triton IR, Triton kernels of Python files and lists of operations to Metal, and says why the result is as it is.\n"
           "A file called \\- is standard input or output.\n.SH COMMANDS\n");
    for (g = 0; g <= COMMAND_GROUPS; g++)
        for (i = 0; i < COMMAND_COUNT; i++)
            if (group_of_command(&commands[i]) == g) put_roff_command(b, &commands[i], shared);
    put(b, ".SH OPTIONS\n");
    for (g = 0; g < OPTION_GROUPS; g++) {
        if (!(option_groups[g].options & shared)) continue;
        putf(b, ".SS %s\n", option_groups[g].title);
        for (i = 0; i < OPTION_COUNT; i++)
            if ((option_groups[g].options & shared) >> i & 1) put_roff_option(b, &options[i]);
    }
    put(b, ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nwhere it is not empty, nothing is coloured; so with\n.BR TERM =dumb.\n"
           ".TP\n.B TRITON_METAL_DEBUG\n1: as\n.BR \\-\\-debug .\n"
           ".SH EXIT STATUS\n0: done; 1: the input was refused; 2: the command line is wrong.\n"
           ".SH EXAMPLES\n.nf\ntmetal compile softmax.ttir\ntmetal compile softmax.py \\-\\-kernel softmax \\-\\-args '*fp32, *fp32, i32' \\-\\-const BLOCK=1024\n"
           "tmetal explain TM204\nfind . \\-name '*.ttir' | tmetal census \\-\n.fi\n");
}

static int man_command(request *r) {
    buffer b;
    memset(&b, 0, sizeof b);
    put_man(&b);
    return write_buffer(r, &b);
}

/* -- Completion ---------------------------------------------------------------------------------------------------- */

/* Words that may follow an option; gives 0 where any may. */
static int put_words(buffer *b, unsigned id) {
    const char *words = words_of(id);
    size_t      i;
    if (id == OPT_GPU)
        for (i = 0; i < tmetal_gpu_count(); i++) putf(b, "%s%s", i ? " " : "", tmetal_gpu_at(i)->name);
    else if (id == OPT_HAS || id == OPT_LACKS)
        for (i = 0; i < tmetal_gpu_feature_count(); i++) putf(b, "%s%s", i ? " " : "", tmetal_gpu_feature_at(i).name);
    else if (words) put(b, words);
    else return 0;
    return 1;
}

static void put_bash(buffer *b) {
    unsigned i, k;
    buffer   words = {0};
    put(b, "# bash completion of tmetal. For one shell: . <(tmetal completion bash)\n"
           "_tmetal() {\n    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
           "    if [ \"$COMP_CWORD\" = 1 ]; then words='");
    for (i = 0; i < COMMAND_COUNT; i++) putf(b, "%s ", commands[i].name);
    put(b, "help --help --version'; else\n        case $prev in\n");
    for (i = 0; i < OPTION_COUNT; i++) {
        words.n = 0;
        if (put_words(&words, i)) putf(b, "        %s) words='", options[i].name), put(b, words.text), put(b, "' ;;\n");
    }
    free(words.text);
    put(b, "        help) words='");
    for (i = 0; i < COMMAND_COUNT; i++) putf(b, "%s ", commands[i].name);
    put(b, "' ;;\n        completion) words='bash zsh' ;;\n        *) case $cur in -*) case ${COMP_WORDS[1]} in\n");
    for (i = 0; i < COMMAND_COUNT; i++) {
        putf(b, "            %s) words='--help", commands[i].name);
        for (k = 0; k < OPTION_COUNT; k++)
            if (commands[i].options >> k & 1) putf(b, " %s%s%s", options[k].name, *options[k].other ? " " : "", options[k].other);
        put(b, "' ;;\n");
    }
    put(b, "            esac ;; esac ;;\n        esac\n    fi\n"
           "    if [ \"$words\" ]; then COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")); else COMPREPLY=($(compgen -f -- \"$cur\")); fi\n"
           "}\ncomplete -o filenames -F _tmetal tmetal\n");
}

/* Text inside '...' of _arguments and _describe: one line, with what these read as their own escaped. */
static void put_zsh_text(buffer *b, const char *s) {
    for (; *s; s++) {
        if (*s == '\'') put(b, "'\\''");
        else if (*s == '\n') put(b, " ");
        else if (strchr("[]:\\", *s)) putf(b, "\\%c", *s);
        else put_n(b, s, 1);
    }
}

static void put_zsh_option(buffer *b, unsigned id, const char *name) {
    putf(b, " \\\n            '%s[", name);
    put_zsh_text(b, options[id].help);
    put(b, "]");
    if (*options[id].value) {
        put(b, ":");
        put_zsh_text(b, options[id].value);
        put(b, ":(");
        if (!put_words(b, id)) b->n--, put(b, "_files");
        else put(b, ")");
    }
    put(b, "'");
}

static void put_zsh(buffer *b) {
    unsigned i, k;
    put(b, "#compdef tmetal\n# zsh completion of tmetal: tmetal completion zsh > a folder of $fpath/_tmetal\n"
           "_tmetal() {\n    local -a commands\n    commands=(\n");
    for (i = 0; i < COMMAND_COUNT; i++) putf(b, "        '%s:", commands[i].name), put_zsh_text(b, commands[i].what), put(b, "'\n");
    put(b, "    )\n    if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
           "    shift words; (( CURRENT-- ))\n    case $words[1] in\n");
    for (i = 0; i < COMMAND_COUNT; i++) {
        putf(b, "        %s) _arguments", commands[i].name);
        for (k = 0; k < OPTION_COUNT; k++) {
            if (!(commands[i].options >> k & 1)) continue;
            put_zsh_option(b, k, options[k].name);
            if (*options[k].other) put_zsh_option(b, k, options[k].other);
        }
        putf(b, " \\\n            '--help[what it takes]'%s ;;\n",
             strcmp(commands[i].name, "completion") == 0 ? " \\\n            '1:shell:(bash zsh)'"
             : commands[i].most                          ? " \\\n            '*:file:_files'"
                                                         : "");
    }
    put(b, "    esac\n}\nif [ \"$funcstack[1]\" = _tmetal ]; then _tmetal \"$@\"; else compdef _tmetal tmetal; fi\n");
}

static int completion_command(request *r) {
    const char *shell = r->files[0];
    buffer      b;
    memset(&b, 0, sizeof b);
    if (strcmp(shell, "bash") == 0) put_bash(&b);
    else if (strcmp(shell, "zsh") == 0) put_zsh(&b);
    else return misuse(r, "completion is for bash and zsh, not", shell);
    return write_buffer(r, &b);
}
