/* A compiled file as one page: what `tmetal explain --html` writes, and what the playground shows. The page itself is
 * page.html; here stands its data, one JSON object (docs/schemas/page.schema.json). libc's string.h is enough, and all
 * memory is the caller's. Include tmetal.h before it. */
#ifndef TMETAL_PAGE_H
#define TMETAL_PAGE_H

/* A text that kernels come from. */
typedef struct page_text {
    const char *file, *text;
    size_t      len;
} page_text;

typedef struct page_input {
    const char          *title;
    const page_text     *python;  /* files that places name; those that are not at hand are left out */
    unsigned             n_python;
    page_text            ir;      /* that was compiled; an op list, where is_ops */
    int                  is_ops;
    const tmetal_result *result;  /* made with options.reports */
    const char          *explain; /* tmetal_explain_json of it */
    const char          *plan;    /* tmetal_plan_json of it */
    page_text            agx;     /* instructions per line, by tests/agx; text NULL: none */
} page_input;

/* What is written: `n` counts on when `to` is full. */
typedef struct page_out {
    char  *to;
    size_t cap, n;
} page_out;

static void page_put_n(page_out *o, const char *s, size_t n) {
    size_t room = o->n < o->cap ? o->cap - o->n : 0;
    if (n && room) memcpy(o->to + o->n, s, n < room ? n : room);
    o->n += n;
}

static void page_put(page_out *o, const char *s) { page_put_n(o, s, strlen(s)); }

/* Bytes of the UTF-8 character at s, of at most n; 0: it is none. */
static size_t page_utf8(const unsigned char *s, size_t n) {
    static const unsigned lowest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t   len = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0, i;
    unsigned c;
    if (len < 2 || len > n) return len == 1;
    c = s[0] & (0xffu >> (len + 1));
    for (i = 1; i < len; i++) {
        if (s[i] >> 6 != 2) return 0;
        c = c << 6 | (s[i] & 63u);
    }
    return c < lowest[len] || c > 0x10ffff || c >> 11 == 0x1b ? 0 : len;
}

/* A JSON string that may stand in a <script>: no '<', no control character; a byte that is no UTF-8 is U+FFFD. */
static void page_put_text(page_out *o, const char *s, size_t n) {
    static const char hex[] = "0123456789abcdef";
    size_t i, len;
    page_put(o, "\"");
    for (i = 0; i < n; i += len ? len : 1) {
        unsigned char c = (unsigned char)s[i];
        char          escape[7] = "\\u0000";
        len = page_utf8((const unsigned char *)s + i, n - i);
        escape[4] = hex[c >> 4 & 15], escape[5] = hex[c & 15];
        if (!len) page_put(o, "\\ufffd");
        else if (c == '\n') page_put(o, "\\n");
        else if (c < 32 || c == 127 || c == '<' || c == '"' || c == '\\') page_put(o, escape);
        else page_put_n(o, s + i, len);
    }
    page_put(o, "\"");
}

/* JSON of the header's own: '<' stands in strings alone. */
static void page_put_json(page_out *o, const char *s) {
    while (*s) {
        size_t n = strcspn(s, "<");
        page_put_n(o, s, n);
        s += n;
        if (*s) page_put(o, "\\u003c"), s++;
    }
}

static void page_put_source(page_out *o, const page_text *t) {
    page_put(o, "{\"file\":");
    page_put_text(o, t->file, strlen(t->file));
    page_put(o, ",\"text\":");
    page_put_text(o, t->text, t->len);
    page_put(o, "}");
}

/* The data into out[0..cap), as much as it holds; gives the bytes that all of it takes. */
static size_t page_data(const page_input *in, char *out, size_t cap) {
    page_out o = {out, cap, 0};
    unsigned i;
    page_put(&o, "{\"tmetal_page\":1,\"title\":");
    page_put_text(&o, in->title, strlen(in->title));
    page_put(&o, ",\"ops\":");
    page_put(&o, in->is_ops ? "true" : "false");
    page_put(&o, ",\n\"python\":[");
    for (i = 0; i < in->n_python; i++) page_put(&o, i ? ",\n" : ""), page_put_source(&o, &in->python[i]);
    page_put(&o, "],\n\"ir\":");
    page_put_source(&o, &in->ir);
    page_put(&o, ",\n\"metal\":[");
    for (i = 0; i < in->result->n_kernels; i++) {
        page_put(&o, i ? ",\n" : "");
        page_put_text(&o, in->result->kernels[i].msl, in->result->kernels[i].msl_len);
    }
    page_put(&o, "],\n\"explain\":");
    page_put_json(&o, in->explain);
    page_put(&o, ",\n\"plan\":");
    page_put_json(&o, in->plan);
    if (in->agx.text) page_put(&o, ",\n\"agx\":"), page_put_text(&o, in->agx.text, in->agx.len);
    page_put(&o, "}\n");
    return o.n;
}

/* Where the data stands in the page: between this and the end of its element. */
#define PAGE_DATA_FROM "id=\"page-data\">"
#define PAGE_DATA_TO   "</script>"

#endif
