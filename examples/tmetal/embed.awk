# A text as an array of C strings, one a line: awk -v name=page_html -f embed.awk page.html > page_html.h
BEGIN {
    printf "/* Made of %s by `make page`: change that. */\nstatic const char *const %s[] = {\n", from, name
}
{
    gsub(/[\\"?]/, "\\\\&")    # two question marks may begin a trigraph
    printf "    \"%s\\n\",\n", $0
}
END { print "};" }
