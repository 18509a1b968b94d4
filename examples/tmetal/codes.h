/* tmetal explain TM204: what a code of a diagnostic means. Included by examples/tmetal.c. */

/* The number of "TM204"; 0: that is no code but a file. */
static int code_named(const char *s) {
    if ((s[0] != 'T' && s[0] != 't') || (s[1] != 'M' && s[1] != 'm') || strspn(s + 2, "0123456789") != 3 || s[5]) return 0;
    return atoi(s + 2);
}

/* Words behind a label, in lines of 90 columns. */
static void put_wrapped(buffer *b, const char *label, const char *s) {
    size_t col = 0, n;
    putf(b, "  %-8s", label);
    for (; *s; s += n, s += *s == ' ') {
        n = strcspn(s, " ");
        if (col + n > 78) put(b, "\n          "), col = 0;
        put(b, " ");
        put_n(b, s, n);
        col += n + 1;
    }
    put(b, "\n");
}

/* The message of a code, its arguments as dots. */
static void put_message(buffer *b, const char *s) {
    for (; *s; s++) {
        if (*s != '%') {
            put_n(b, s, 1);
            continue;
        }
        put(b, "...");
        s += strspn(s + 1, "l") + 1;
    }
}

static int explain_code(request *r, int number) {
    const tmetal_code code = (tmetal_code)number;
    const char       *text = tmetal_code_text(code);
    char              name[8];
    buffer            b;
    memset(&b, 0, sizeof b);
    sprintf(name, "TM%03d", number % 1000);
    if (!*text) {
        fprintf(stderr, "tmetal: no message has the code %s; docs/diagnostics.md lists them\n", name);
        return 1;
    }
    if (r->value[OPT_JSON]) return misuse(r, "a code is explained as text, not by", "--json");
    paint(r, &b, "1", name);
    if (strcmp(text, "%s") != 0) put(&b, ": "), put_message(&b, text);
    put(&b, "\n\n");
    put_wrapped(&b, "means", tmetal_code_about(code));
    put_wrapped(&b, "way out", tmetal_code_help(code));
    return write_buffer(r, &b);
}
