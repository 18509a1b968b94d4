# What each section of tmetal.h defines and uses; see check.sh. Prints
#   section NUMBER NAME LINE          a banner
#   uses NAME OTHER COUNT ONE       so many names of OTHER, of which the last column is one
#   says NAME OTHER                 what its banner says; `every`: that it uses every section
#   word NAME LINE FUNCTION         the second word of a function's name is not its section, nor its beginning
#   forward LINE FUNCTION NAME OTHER    declared in one section, defined in another
#   function LINES LINE FUNCTION
# Reads the file twice: names are defined before they are used, but enumerators and macros anywhere above.

function bare(s) { # without comments and the text of strings
    if (comment) {
        if (!match(s, /\*\//)) return ""
        s = substr(s, RSTART + 2)
        comment = 0
    }
    gsub(/\\./, "", s)
    gsub(/"[^"]*"/, "\"\"", s)
    while (match(s, /\/\*/)) {
        at = RSTART
        rest = substr(s, at)
        if (match(rest, /\*\//)) s = substr(s, 1, at - 1) " " substr(rest, RSTART + 2)
        else {
            s = substr(s, 1, at - 1)
            comment = 1
        }
    }
    sub(/\/\/.*/, "", s)
    return s
}

function define(name) {
    if (name != "" && !(name in home)) home[name] = section
}

# The name that a declaration at the margin declares: the last before `(`, `[`, `=` or `;`.
function declared(s) {
    sub(/[([=;{].*/, "", s)
    return match(s, /[A-Za-z_0-9]+ *$/) ? substr(s, RSTART, RLENGTH) : ""
}

/^ \* >>[a-z]+  \[[0-9]+\]/ {
    section = substr($2, 3)
    number = $3
    gsub(/[][]/, "", number)
    if (pass == 2) print "section", number, section, FNR
    banner = 1
}

banner && pass == 2 && /^ \* uses / { says = 1 }
banner && pass == 2 && says && !/^ \* (uses| )  / { says = 0 }
banner && says {
    for (i = 1; i <= NF; i++)
        if ($i ~ /^>>/) print "says", section, substr($i, 3)
    if (/every section/) print "says", section, "every"
}
/\*\/$/ { banner = says = 0 }

FNR == 1 { comment = inside = 0 }

{
    s = bare($0)
    if (section == "" || section == "manual" || section == "api") next
}

pass == 1 {
    if (match(s, /^#define +[A-Za-z_0-9]+/)) {
        name = substr(s, RSTART, RLENGTH)
        sub(/^#define +/, "", name)
        define(name)
    }
    t = s
    while (match(t, /TMI_[A-Z0-9_]*_##/)) { # enumerators made by pasting
        name = substr(t, RSTART, RLENGTH - 2)
        if (!(name in prefix)) prefix[name] = section
        t = substr(t, RSTART + RLENGTH)
    }
    if (s ~ /^(static|typedef)/) {
        name = declared(s)
        sub(/ *$/, "", name)
        if (s !~ /;$/ || s !~ /^static.*\)/) define(name) # not a forward declaration
        if (s ~ /^typedef (struct|enum|union) /) {
            split(s, w, /[ {]+/)
            define(w[3])
        }
    }
    if (match(s, /^} [a-z_0-9]+;/)) define(substr(s, 3, RLENGTH - 3))
    if (s ~ /^(typedef )?enum/) inside = 1
    if (inside) {
        t = s
        while (match(t, /TMI_[A-Z0-9_]+/)) {
            define(substr(t, RSTART, RLENGTH))
            t = substr(t, RSTART + RLENGTH)
        }
        if (s ~ /}/) inside = 0
    }
}

pass == 2 {
    t = s
    while (match(t, /[Tt][Mm][Ii]_[A-Za-z0-9_]+/)) {
        name = substr(t, RSTART, RLENGTH)
        t = substr(t, RSTART + RLENGTH)
        other = ""
        if (name in home) other = home[name]
        else {
            p = name
            while (other == "" && sub(/_[^_]*$/, "", p)) if ((p "_") in prefix) other = prefix[p "_"]
        }
        if (other != "" && other != section) {
            uses[section " " other]++
            some[section " " other] = name
        }
    }
    if (s ~ /^static.*\(.*\) *;$/ || s ~ /^static.*\([^{;]*$/ || s ~ /^static.*\) {/) {
        name = declared(s)
        if (s ~ /;$/) {
            if ((name in home) && home[name] != section) print "forward", FNR, name, section, home[name]
        } else if (s ~ /\)? {$/ || s ~ /\([^{;]*$/) {
            start = FNR
            now = name
            split(name, w, "_")
            if (w[1] == "tmi" && index(section, w[2]) != 1) print "word", section, FNR, name
        }
    }
    if (s ~ /^}/ && now != "") {
        print "function", FNR - start + 1, start, now
        now = ""
    }
}

END {
    for (u in uses) print "uses", u, uses[u], some[u]
}
