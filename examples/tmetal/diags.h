/* Diagnostics as tmetal prints them: with the line of the user's Python where its file is at hand, or as JSON.
 * Included by examples/tmetal.c. */

/* Line `number` of a .py file, without its end; NULL: there is none. The caller frees it. The library reads no files. */
static char *line_of(const char *path, uint32_t number) {
    FILE    *f = strlen(path) > 3 && strcmp(path + strlen(path) - 3, ".py") == 0 && !is_special(path) ? fopen(path, "rb") : NULL;
    char     text[1024], *line = NULL;
    uint32_t at = 1;
    if (!f) return NULL;
    while (fgets(text, sizeof text, f) && (at < number || !strchr(text, '\n'))) {
        if (at == number) break;
        at += strchr(text, '\n') != NULL;
    }
    if (at == number && !ferror(f) && !feof(f)) line = (char *)malloc(sizeof text);
    fclose(f);
    if (!line) return NULL;
    text[strcspn(text, "\r\n")] = '\0';
    strcpy(line, text);
    for (at = 0; line[at]; at++)
        if ((unsigned char)line[at] < 32 || line[at] == 127) line[at] = ' '; /* the terminal is not the file's */
    return line;
}

/* The line of Python that a diagnostic is about: its file as it is named, or beside that of the IR. */
static char *python_line(const tmetal_diag *d) {
    const char *name = d->python.file, *slash = d->ir.file ? strrchr(d->ir.file, '/') : NULL;
    char       *line, beside[1024];
    if (!name || !d->python.line) return NULL;
    line = line_of(name, d->python.line);
    if (line || !slash || *name == '/' || strlen(d->ir.file) + strlen(name) > 1000) return line;
    sprintf(beside, "%.*s/%s", (int)(slash - d->ir.file), d->ir.file, name);
    return line_of(beside, d->python.line);
}

/* Under the place: a name with its dots, or one character; Triton says only where something begins. */
static void put_python(buffer *b, const char *line, const tmetal_diag *d) {
    size_t i, from = d->python.col ? d->python.col - 1 : 0;
    char   number[16];
    if (from >= strlen(line)) return;
    sprintf(number, " %u", d->python.line);
    put(b, number), put(b, " | "), put(b, line), put(b, "\n");
    for (i = 0; number[i]; i++) put(b, " ");
    put(b, " | ");
    for (i = 0; i < from; i++)
        if (((unsigned char)line[i] & 0xc0) != 0x80) put(b, " ");
    put(b, "^");
    for (i++; isalnum((unsigned char)line[from]) && (isalnum((unsigned char)line[i]) || (line[i] && strchr("._", line[i]))); i++) put(b, "~");
    put(b, "\n");
}

static void put_diag(const request *r, buffer *b, const tmetal_diag *d, tmetal_arena *arena) {
    const char *text = tmetal_diag_text(d, arena), *error = r->error_colour ? strstr(text, "error[") : NULL, *rest = strchr(text, '\n');
    char       *line = rest ? python_line(d) : NULL;
    if (error && rest && error < rest) {
        put_n(b, text, (size_t)(error - text));
        put(b, "\033[31m"), put_n(b, error, strcspn(error, ":")), put(b, "\033[0m");
        text = error + strcspn(error, ":");
    }
    if (line) {
        put_n(b, text, (size_t)(rest + 1 - text));
        put_python(b, line, d);
        text = rest + 1;
    }
    put(b, text);
    if (!rest) put(b, "\n"); /* no room for more than the message */
    free(line);
}

static void put_json_place(buffer *b, const char *key, const tmetal_place *p, uint32_t cols) {
    if (!p->file || !p->line) return;
    putf(b, ",\n  \"%s\": {\"file\":", key);
    put_json_text(b, p->file);
    putf(b, ",\"line\":%u,\"column\":%u", p->line, p->col);
    if (cols) putf(b, ",\"end_column\":%u", p->col + cols);
    put(b, "}");
}

/* docs/schemas/diagnostics.schema.json */
static void put_json_diags(buffer *b, const tmetal_result *result) {
    unsigned i;
    putf(b, "{\"tmetal_diagnostics\":1,\"diagnostics\":[");
    for (i = 0; i < result->n_diags; i++) {
        const tmetal_diag *d = &result->diags[i];
        const char *const  texts[][2] = {{"message", d->message}, {"note", d->note}, {"help", d->help}, {"excerpt", d->excerpt}};
        unsigned           k;
        putf(b, "%s\n {\"code\":%d,\"severity\":\"error\"", i ? "," : "", (int)d->code);
        for (k = 0; k < 4; k++)
            if (*texts[k][1]) putf(b, ",\n  \"%s\":", texts[k][0]), put_json_text(b, texts[k][1]);
        put_json_place(b, "python", &d->python, 0);
        put_json_place(b, "text", &d->ir, d->cols);
        put(b, "}");
    }
    put(b, i ? "\n]}\n" : "]}\n");
}

/* One document on standard output, whatever else is asked for: --json of a command that reads one file. */
static int says_json(const request *r) {
    return r->value[OPT_DIAG_JSON] || (r->value[OPT_JSON] && r->command->most == 1);
}

static int print_json_diags(const tmetal_result *result) {
    static int told;
    buffer     b;
    memset(&b, 0, sizeof b);
    if (told++) return 0;
    put_json_diags(&b, result);
    return write_buffer_to(NULL, &b);
}

static void print_diags(const request *r, const tmetal_result *result, tmetal_arena *arena) {
    buffer   b;
    unsigned i;
    show_progress(r, NULL, 0, 0);
    if (says_json(r)) {
        (void)print_json_diags(result);
        return;
    }
    memset(&b, 0, sizeof b);
    for (i = 0; i < result->n_diags; i++) put_diag(r, &b, &result->diags[i], arena);
    if (r->progress && i) putf(&b, "more: tmetal explain TM%d\n", (int)result->diags[0].code); /* only to a reader */
    if (b.text) fputs(b.text, stderr);
    free(b.text);
}
