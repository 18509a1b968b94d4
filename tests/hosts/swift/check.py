#!/usr/bin/env python3
"""A strict reader of Swift, for a machine that has no Swift compiler:

    check.py [--c HEADER] FILE...

Reads the part of Swift's grammar that launch code and examples use, by the reference of the language ("The Swift
Programming Language", Summary of the Grammar), and the types of every expression by the declarations in apple.swift,
which are our own. Whatever it does not know is an error: a construct, a name, a label, a type. It wants `try` where
something throws, `await` where something waits, optionals unwrapped, results used, every path to return, constants
left alone, and what is newer than the oldest system behind `if #available`. --c takes functions and structs of a C
header too, by their numbers of arguments and types of results.

It is no compiler: that it finds nothing does not prove that Apple's finds nothing.
"""
import os
import re
import sys

KEYWORDS = set("""associatedtype class deinit enum extension fileprivate func import init inout internal let open
operator private precedencegroup protocol public rethrows static struct subscript typealias var break case catch
continue default defer do else fallthrough for guard if in repeat return throw switch where while Any as await false is
nil self Self super throws true try""".split())
TOKEN = re.compile(r"""
    (?P<space>[ \t\n]+|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)
  | (?P<number>0x[0-9A-Fa-f]+|[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)
  | (?P<hash>\#[a-z]+) | (?P<at>@[A-Za-z]+)
  | (?P<name>[A-Za-z_][A-Za-z_0-9]*|\$[0-9]+|`[A-Za-z_]+`)
  | (?P<op>\.\.<|\.\.\.|->|===|!==|==|!=|<=|>=|&&|\|\||\?\?|<<|>>|\+=|-=|\*=|/=|\|=|&=|&\+|&-|&\*|[-+*/%<>=!&|^~?.,:;(){}\[\]])
""", re.X)
LEVELS = [["||"], ["&&"], ["==", "!=", "<", ">", "<=", ">=", "===", "!=="], ["??"], ["as", "is"], ["..<", "..."],
          ["+", "-", "|", "^", "&+", "&-"], ["*", "/", "%", "&", "&*"], ["<<", ">>"]]
INTEGERS = set("Int Int8 Int16 Int32 Int64 UInt UInt8 UInt16 UInt32 UInt64".split())
NUMBERS = INTEGERS | {"Float", "Double"}
HERE = os.path.dirname(os.path.abspath(__file__))


class Wrong(Exception):
    pass


class Token:
    def __init__(self, kind, text, line, spaced, starts):
        self.kind, self.text, self.line, self.spaced, self.starts = kind, text, line, spaced, starts


# -- Words ------------------------------------------------------------------------------------------------------
def string_parts(src, i, fail):
    """The literal that begins at i: its end, and where its interpolations begin and end."""
    long, parts, column = src.startswith('"""', i), [], None
    at = i + (3 if long else 1)
    if long and src[at] != "\n":
        fail('behind """ the line ends')
    while True:
        if at >= len(src) or (not long and src[at] == "\n"):
            fail("the string does not end")
        c = src[at]
        if c == "\\":
            if src[at + 1] == "(":
                depth, begin = 1, at + 2
                at = begin
                while depth:
                    if at >= len(src) or src[at] == "\n":
                        fail("the interpolation does not end")
                    if src[at] == '"':
                        at = string_parts(src, at, fail)[0]
                        continue
                    depth += {"(": 1, ")": -1}.get(src[at], 0)
                    at += 1
                parts.append((begin, at - 1))
                continue
            known = re.compile(r"\\(?:[0\\tnr\"']|u\{[0-9A-Fa-f]{1,8}\})").match(src, at)
            if not known:
                fail("no such escape: " + src[at:at + 2])
            at = known.end()
        elif src.startswith('"""' if long else '"', at):
            end = at + (3 if long else 1)
            break
        elif ord(c) < 32 and c not in "\n\t":
            fail("a control character in a string")
        else:
            at += 1
    if long:
        indent = src[src.rfind("\n", 0, at) + 1:at]
        if indent.strip(" "):
            fail('before the closing """ there is text')
        for line in src[i + 4:at].split("\n")[:-1]:
            if line and not line.startswith(indent):
                fail('a line stands left of the closing """')
    return end, parts


def tokens(src, name):
    out, i, line, spaced, starts = [], 0, 1, True, True
    while i < len(src):
        def fail(what):
            raise Wrong("%s:%d: %s" % (name, line, what))
        if src[i] == '"':
            end, parts = string_parts(src, i, fail)
            t = Token("string", src[i:end], line, spaced, starts)
            t.parts = [tokens(src[a:b], "%s:%d" % (name, line)) for a, b in parts]
            out.append(t)
            spaced = starts = False
            line += src.count("\n", i, end)
            i = end
            continue
        m = TOKEN.match(src, i)
        if not m:
            fail("no word of Swift begins so: " + repr(src[i]))
        if m.lastgroup == "space":
            spaced, starts = True, starts or "\n" in m.group()
        else:
            out.append(Token(m.lastgroup, m.group(), line, spaced, starts))
            spaced = starts = False
        line += m.group().count("\n")
        i = m.end()
    out.append(Token("end", "the end", line, True, True))
    return out


# -- Types: ("Name", arguments...) --------------------------------------------------------------------------------
VOID, BOOL, INT, STRING, NEVER = ("Tuple",), ("Bool",), ("Int",), ("String",), ("Never",)
WHOLE, REAL, NIL, EMPTY = ("a whole number",), ("a number with a point",), ("nil",), ("[]",)


def show(t):
    if t[0] == "Optional": return show(t[1]) + "?"
    if t[0] == "IUO": return show(t[1]) + "!"
    if t[0] == "Array" and len(t) > 1: return "[%s]" % show(t[1])
    if t[0] == "Tuple": return "(%s)" % ", ".join(map(show, t[1:]))
    if t[0] == "Fn": return "(%s) -> %s" % (", ".join(map(show, t[1])), show(t[2]))
    return t[0] + ("<%s>" % ", ".join(map(show, t[1:])) if len(t) > 1 else "")


def fill(t, known):
    if t[0] == "Fn": return ("Fn", tuple(fill(x, known) for x in t[1]), fill(t[2], known), t[3])
    if len(t) == 1: return known.get(t[0], t)
    return (t[0],) + tuple(fill(x, known) for x in t[1:])


def settled(t):
    return {WHOLE: INT, REAL: ("Double",)}.get(t, t)


class Decl:
    """A function, variable or type. params: (label, name, type, has a default, is inout)."""

    def __init__(self, kind, name, **more):
        self.kind, self.name = kind, name
        self.generics, self.params, self.type, self.throws, self.waits = (), (), VOID, False, False
        self.static = self.constant = self.unavailable = False
        self.since, self.members, self.parents, self.discardable = None, {}, (), False
        self.assigned, self.valued = set(), False
        self.__dict__.update(more)


class Scope:
    def __init__(self, up=None, function=None, **more):
        self.up, self.names, self.function = up, {}, function if function or not up else up.function
        self.catches = up.catches if up else False
        self.since = up.since if up else (0, 0)
        self.loops = up.loops if up else 0
        self.owner = up.owner if up else None
        self.__dict__.update(more)

    def find(self, name):
        s = self
        while s:
            if name in s.names: return s.names[name]
            s = s.up
        return None


class Reader:
    """One file: first its declarations, then the bodies of its functions, which may use all of these."""

    def __init__(self, name, src, world, is_interface=False):
        self.file, self.world, self.is_interface = name, world, is_interface
        self.toks, self.at, self.later = tokens(src, name), 0, []
        self.tries = self.awaits = self.thrown = 0
        self.place, self.discardable, self.forward = None, False, {}

    # -- words
    @property
    def t(self):
        return self.toks[self.at]

    def fail(self, what):
        raise Wrong("%s:%s: %s" % (self.file, self.t.line, what))

    def sees(self, *texts):
        return self.t.text in texts and self.t.kind != "string"

    def takes(self, *texts):
        if self.sees(*texts):
            self.at += 1
            return self.toks[self.at - 1].text
        return None

    def wants(self, text):
        if not self.takes(text): self.fail("expected %s, found %s" % (text, self.t.text))

    def name(self, labels=False):
        if self.t.kind != "name" or (not labels and self.t.text in KEYWORDS):
            self.fail("expected a name, found %s" % self.t.text)
        self.at += 1
        return self.toks[self.at - 1].text.strip("`")

    def ends(self):
        """A statement ends with its line, or before } or ;"""
        if not self.takes(";") and not self.t.starts and not self.sees("}"):
            self.fail("expected the end of the statement, found %s" % self.t.text)

    # -- types
    def type(self, scope):
        if self.takes("["):
            t = ("Array", self.type(scope))
            self.wants("]")
        elif self.takes("("):
            parts = []
            while not self.takes(")"):
                if self.t.kind == "name" and self.toks[self.at + 1].text == ":":
                    self.at += 2
                parts.append(self.type(scope))
                if not self.sees(")"): self.wants(",")
            throws = bool(self.takes("throws", "rethrows"))
            t = ("Fn", tuple(parts), self.type(scope), throws) if self.takes("->") else \
                parts[0] if len(parts) == 1 else ("Tuple",) + tuple(parts)
        else:
            name = self.takes("Self", "Any") or self.name()
            if name == "Self": name = scope.owner.name
            meta = False
            while self.takes("."):
                meta = bool(self.takes("Type"))
                if not meta: name = self.name()
            found = scope.find(name)
            if not found or found.kind not in ("type", "generic"): self.fail("no type is called " + name)
            args = []
            if self.takes("<"):
                args.append(self.type(scope))
                while self.takes(","): args.append(self.type(scope))
                self.wants(">")
            if len(args) != len(found.generics): self.fail("%s takes %d types" % (name, len(found.generics)))
            t = VOID if name == "Void" else (name,) + tuple(args)
            if meta: t = ("Type", t)
        while not self.t.spaced and self.sees("?", "!"):
            t = ("Optional" if self.takes("?") else self.takes("!") and "IUO", t)
        return t

    def settle(self, got, to):
        """Is a value of type `got` good where `to` is wanted?"""
        if got == to or to == ("Any",) or got == NEVER: return True
        if got[0] == "IUO":
            return self.settle(got[1], to) or self.settle(("Optional", got[1]), to)
        if to[0] in ("Optional", "IUO"):
            return got == NIL or self.settle(got, to[1]) or (got[0] == "Optional" and self.settle(got[1], to[1]))
        if got == WHOLE: return to[0] in NUMBERS
        if got == REAL: return to[0] in ("Float", "Double")
        if got == EMPTY: return to[0] == "Array"
        if to == ("UnsafeRawPointer",):
            return got[0] in ("Array", "UnsafeMutablePointer", "UnsafePointer", "UnsafeMutableRawPointer")
        if to[0] == "UnsafePointer" and got[0] in ("Array", "UnsafeMutablePointer"):
            return self.settle(got[1], to[1])
        if got[0] == to[0] and len(got) == len(to) and got[0] in ("Array", "Tuple"):
            return all(self.settle(a, b) for a, b in zip(got[1:], to[1:]))
        if got[0] == "Fn" and to[0] == "Fn":
            return len(got[1]) == len(to[1]) and (to[2] == VOID or self.settle(got[2], to[2]))
        d = self.world.find(got[0])
        return bool(d) and to[0] in d.parents

    def must_settle(self, got, to, what):
        if not self.settle(got, to): self.fail("%s is %s, wanted is %s" % (what, show(got), show(to)))

    def bind(self, wanted, got, known, names):
        """Type parameters of `wanted`, by what is there."""
        if wanted[0] in names and len(wanted) == 1:
            known.setdefault(wanted[0], settled(got))
        elif wanted[0] == "Fn" and got[0] == "Fn":
            self.bind(wanted[2], got[2], known, names)
        elif wanted[0] == got[0]:
            for a, b in zip(wanted[1:], got[1:]):
                if isinstance(b, tuple) and isinstance(a, tuple): self.bind(a, b, known, names)

    # -- declarations
    def modifiers(self):
        m = {"static": False, "since": None, "discardable": False, "unavailable": False}
        while True:
            if self.t.kind == "at":
                attribute = self.takes(self.t.text)
                if attribute == "@available":
                    self.wants("(")
                    m["since"] = self.versions()
                elif attribute == "@discardableResult": m["discardable"] = True
                else: self.fail("unknown attribute " + attribute)
            elif self.takes("static"): m["static"] = True
            elif not self.takes("public", "private", "final", "internal", "fileprivate", "open"): return m

    def versions(self):
        """macOS 15, iOS 18, *) as a pair"""
        found = {}
        while not self.takes("*"):
            system = self.name()
            if system not in ("macOS", "iOS"): self.fail("unknown system " + system)
            found[system] = float(self.takes(self.t.text))
            self.wants(",")
        self.wants(")")
        if len(found) != 2: self.fail("macOS and iOS are to be named, both")
        return found["macOS"], found["iOS"]

    def add(self, scope, d):
        key = d.name
        if d.kind == "func":
            key = d.name + "(" + "".join(p[0] + ":" for p in d.params) + ")" + (" async" if d.waits else "")
        if key in scope.names: self.fail(d.name + " is declared twice")
        scope.names[key] = d
        if d.kind == "func": scope.names.setdefault(d.name, Decl("overloads", d.name, all=[])).all.append(d)
        return d

    def generics(self, scope):
        names = []
        if self.takes("<"):
            while True:
                names.append(self.name())
                scope.names[names[-1]] = Decl("generic", names[-1])
                if not self.takes(","): break
            self.wants(">")
        return tuple(names)

    def parameters(self, scope):
        """(label name: inout Type = default, ...) with the scope that the names stand in"""
        params, seen = [], set()
        self.wants("(")
        while not self.takes(")"):
            label = "_" if self.takes("_") else self.name(labels=True)
            name = self.name() if self.t.kind == "name" else label
            if name in KEYWORDS: self.fail(name + " is a word of Swift: it wants a name of its own behind it")
            if name in seen: self.fail("two parameters are called " + name)
            seen.add(name)
            self.wants(":")
            changes = bool(self.takes("inout"))
            t = self.type(scope)
            default = bool(self.takes("="))
            if default: self.must_settle(self.expression(scope, t), t, "the default of " + name)
            params.append((label, name, t, default, changes))
            if not self.sees(")"): self.wants(",")
        return tuple(params)

    def function(self, scope, m, is_init=False):
        d = Decl("func", "init" if is_init else self.name(), line=self.t.line, **m)
        inner = Scope(scope)  # of the parameters: the body has one of its own, which may hide them
        if is_init: d.fails = bool(self.takes("?"))
        d.generics = self.generics(inner)
        d.params = self.parameters(inner)
        d.waits = bool(self.takes("async"))
        d.throws = bool(self.takes("throws", "rethrows"))
        if self.takes("->"): d.type = self.type(inner)
        if is_init:
            t = (scope.owner.name,) + tuple((g,) for g in scope.owner.generics)
            d.type = ("Optional", t) if d.fails else t
        self.add(scope, d)
        inner.function, inner.catches = d, d.throws
        for _, name, t, _, changes in d.params:
            inner.names[name] = Decl("var", name, type=t, constant=not changes)
        if not self.is_interface: self.postpone(Scope(inner), d, VOID if is_init else d.type)

    def postpone(self, scope, d, result):
        if not self.sees("{"): self.fail("expected the body of " + d.name)
        self.later.append((self.at, scope, d, result))
        self.pass_over()

    def pass_over(self):
        depth = 0
        while True:
            depth += 1 if self.sees("{") else -1 if self.sees("}") else 0
            if self.t.kind == "end": self.fail("a brace is not closed")
            self.at += 1
            if not depth: return

    def bodies(self):
        while self.later:
            end = self.at
            self.at, scope, d, result = self.later.pop(0)
            d.result = result
            if not self.block(scope, result if result != VOID else None) and result not in (VOID, NEVER):
                self.at -= 1
                self.fail("%s does not return on every path" % d.name)
            if d.name == "init":
                for f in scope.owner.members.values():
                    if f.kind == "var" and not f.static and not f.valued and f.name not in d.assigned:
                        self.fail("init gives %s no value" % f.name)
            self.at = end

    def variable(self, scope, m, stored=False):
        constant = self.takes("let", "var") == "let"
        if self.sees("("): return self.several(scope, constant)
        while True:
            name = "_" if self.takes("_") else self.name()
            t, got = None, None
            if self.takes(":"): t = self.type(scope)
            if self.takes("="):
                got = self.whole(scope, t)
                if t: self.must_settle(got, t, name)
                elif got in (NIL, EMPTY, VOID): self.fail(name + " has no type")
            elif not t: self.fail(name + " has neither type nor value")
            elif not stored and not self.is_interface and constant: self.fail(name + " has no value")
            d = Decl("var", name, type=t or settled(got), constant=constant, **m)
            d.valued = got is not None
            if self.takes("{"):
                if self.is_interface:
                    d.constant = not (self.takes("get") and self.takes("set"))
                    self.wants("}")
                else:
                    self.at -= 1
                    inner = Scope(scope, function=Decl("func", name, type=t))
                    d.constant = d.valued = True
                    self.postpone(inner, inner.function, t)
            if name != "_": self.add(scope, d)
            if not self.takes(","): return

    def several(self, scope, constant):
        """let (a, b) = value"""
        names = []
        self.wants("(")
        while not self.takes(")"):
            names.append("_" if self.takes("_") else self.name())
            if not self.sees(")"): self.wants(",")
        self.wants("=")
        got = self.whole(scope, None)
        if got[0] != "Tuple" or len(got) - 1 != len(names): self.fail("%d names for %s" % (len(names), show(got)))
        for name, t in zip(names, got[1:]):
            if name != "_": self.add(scope, Decl("var", name, type=t, constant=constant))

    def nominal(self, scope, m):
        kind = self.takes("class", "struct", "enum", "protocol")
        d = self.forward.pop(self.name(), None)
        if not d: self.fail(self.toks[self.at - 1].text + " is declared twice")
        d.__dict__.update(m, what=kind)
        inner = Scope(scope, owner=d)
        d.generics = self.generics(inner)
        parents = []
        if self.takes(":"):
            while not parents or self.takes(","):
                self.takes("@unchecked")
                parents.append(self.type(scope)[0])
        d.parents = tuple(parents) + tuple(g for p in parents for g in scope.find(p).parents)
        if scope.owner: scope.names[d.name] = d
        d.members = inner.names
        self.wants("{")
        while not self.takes("}"):
            if self.takes(";"): continue
            if kind == "enum" and self.takes("case"):
                while True:
                    self.add(inner, Decl("var", self.name(labels=True), type=(d.name,), constant=True, static=True))
                    if not self.takes(","): break
            else: self.declaration(inner, self.modifiers(), stored=True)
        fields = [x for x in d.members.values() if x.kind == "var" and not x.static and not x.valued]
        if kind == "struct" and "init" not in d.members and not self.is_interface:
            params = tuple((f.name, f.name, f.type, False, False) for f in fields)
            self.add(inner, Decl("func", "init", params=params, type=(d.name,)))
        if kind == "class" and "init" not in d.members and fields and not self.is_interface:
            self.fail("class %s has no init" % d.name)

    def declaration(self, scope, m, stored=False):
        if self.sees("let", "var"): self.variable(scope, m, stored)
        elif self.takes("func"): self.function(scope, m)
        elif self.sees("class", "struct", "enum", "protocol"): self.nominal(scope, m)
        elif stored and self.takes("init"): self.function(scope, m, is_init=True)
        elif stored and self.is_interface and self.takes("subscript"):
            d = Decl("func", "subscript", params=self.parameters(Scope(scope)))
            self.wants("->")
            d.type = self.type(scope)
            self.add(scope, d)
        else: self.fail("expected a declaration, found " + self.t.text)

    def foresee(self):
        """Types may be used before they are declared: their names and numbers of parameters first."""
        self.forward = {}
        for i, t in enumerate(self.toks[:-2]):
            if t.kind != "name" or t.text not in ("class", "struct", "enum", "protocol"): continue
            name, n = self.toks[i + 1].text, i + 2
            names = []
            while self.toks[n].text not in (">", "{", ":") and self.toks[i + 2].text == "<":
                if self.toks[n].kind == "name": names.append(self.toks[n].text)
                n += 1
            if self.world.find(name) and not self.world.find(name).__dict__.get("body"): self.fail(name + " is declared twice")
            self.forward[name] = self.world.names[name] = Decl("type", name, generics=tuple(names), what=t.text)

    def read(self):
        self.foresee()
        if self.t.kind == "end": self.fail("there is nothing in it")
        main = Scope(self.world, function=Decl("func", "the file"), catches=False)
        self.world.names.setdefault("import", set())
        while self.t.kind != "end":
            if self.takes("import"):
                self.world.names["import"].add(self.name())
                self.ends()
            elif self.sees("do") or (self.t.kind == "name" and self.t.text not in KEYWORDS):
                self.statement(main)
            else: self.declaration(self.world, self.modifiers())
        self.bodies()

    # -- statements; each gives 1 where nothing behind it is reached
    def block(self, scope, implicit=None):
        """{ statements }, in which `implicit` is the type of a single expression's value"""
        self.wants("{")
        if implicit and self.is_single():
            got = self.whole(scope, implicit)
            self.must_settle(got, implicit, "the value")
            self.wants("}")
            return True
        return self.rest(scope)

    def rest(self, scope):
        gone = False
        while not self.takes("}"):
            if gone: self.fail("nothing gets here")
            gone = self.statement(scope) or gone
        return gone

    def is_single(self):
        if self.sees("return", "throw", "guard", "if", "let", "var", "for", "while", "do", "defer", "}"): return False
        at, depth = self.at, 0
        while depth or not self.sees("}"):
            if self.t.starts and self.at > at and not depth and not self.sees("."):
                self.at = at
                return False
            depth += 1 if self.sees("(", "[", "{") else -1 if self.sees(")", "]", "}") else 0
            if self.t.kind == "end": self.fail("a brace is not closed")
            self.at += 1
        self.at = at
        return True

    def statement(self, scope):
        for word in ("guard", "if", "for", "while", "do", "return", "throw", "defer"):
            if self.sees(word):
                self.at += 1
                return getattr(self, "do_" + word)(scope)
        if self.takes("break", "continue"):
            if not scope.loops: self.fail("there is no loop")
            self.ends()
            return True
        if self.sees("let", "var", "func", "struct"):
            self.declaration(scope, {})
            self.ends()
            return False
        if self.takes("_"):
            self.wants("=")
            self.whole(scope, None)
            self.ends()
            return False
        return self.do_expression(scope)

    def do_expression(self, scope):
        self.place = None
        got = self.whole(scope, None, statement=True)
        op = self.takes("=", "+=", "-=", "*=", "/=", "|=", "&=")
        if op:
            place, name = self.place, self.toks[self.at - 2].text
            if place is None: self.fail("what is left of %s cannot be changed" % op)
            if scope.function.name == "init" and place in scope.owner.members.values():
                scope.function.assigned.add(place.name)
            elif place.constant: self.fail(place.name + " is constant")
            value = self.whole(scope, got)
            self.must_settle(value, got, name)
        elif got not in (VOID, NEVER) and not self.discardable:
            self.fail("the result, %s, is not used" % show(got))
        self.ends()
        return got == NEVER

    def conditions(self, scope):
        """Conditions of if, guard and while: what they bind goes into `scope`; gives what #available says"""
        since = None
        while True:
            if self.sees("#available"):
                self.at += 1
                self.wants("(")
                since = self.versions()
            elif self.sees("let", "var"):
                constant = self.takes("let", "var") == "let"
                name = self.name()
                got = self.whole(scope, None, braces=False) if self.takes("=") else scope.find(name).type
                if got[0] not in ("Optional", "IUO"): self.fail("%s is %s, no optional" % (name, show(got)))
                if name in scope.names: self.fail(name + " is declared twice")
                scope.names[name] = Decl("var", name, type=got[1], constant=constant)
            else: self.must_settle(self.whole(scope, BOOL, braces=False), BOOL, "the condition")
            if not self.takes(","): return since

    def do_guard(self, scope):
        since = self.conditions(scope)
        self.wants("else")
        if not self.block(Scope(scope)): self.fail("the else of guard goes on")
        if since: scope.since = max(scope.since, since)
        return False

    def do_if(self, scope):
        inner = Scope(scope)
        since = self.conditions(inner)
        if since: inner.since = max(scope.since, since)
        gone = self.block(inner)
        if not self.takes("else"): return False
        other = self.do_if(scope) if self.takes("if") else self.block(Scope(scope))
        return gone and other

    def do_for(self, scope):
        inner = Scope(scope, loops=scope.loops + 1)
        names = []
        if self.takes("("):
            while True:
                names.append("_" if self.takes("_") else self.name())
                if not self.takes(","): break
            self.wants(")")
        else: names.append("_" if self.takes("_") else self.name())
        self.wants("in")
        over = self.whole(scope, None, braces=False)
        if over[0] == "IUO": over = over[1]
        if over[0] not in ("Array", "ArraySlice", "Range"): self.fail("%s is nothing to go through" % show(over))
        item = settled(over[1])
        parts = item[1:] if len(names) > 1 else (item,)
        if len(parts) != len(names): self.fail("%d names for %s" % (len(names), show(item)))
        for name, t in zip(names, parts):
            if name != "_": inner.names[name] = Decl("var", name, type=t, constant=True)
        if self.takes("where"): self.must_settle(self.whole(inner, BOOL, braces=False), BOOL, "the condition")
        self.block(inner)
        return False

    def do_while(self, scope):
        inner = Scope(scope, loops=scope.loops + 1)
        self.conditions(inner)
        self.block(inner)
        return False

    def do_do(self, scope):
        at = self.at
        self.pass_over()
        inner = Scope(scope, catches=scope.catches or self.sees("catch"))
        self.at = at
        gone, whole = self.block(inner), False
        if not self.sees("catch"): return gone
        while self.takes("catch"):
            handler = Scope(scope)
            if self.takes("let"):
                name = self.name()
                t = ("Error",)
                if self.takes("as"): t = self.type(scope)
                else: whole = True
                handler.names[name] = Decl("var", name, type=t, constant=True)
            else:
                whole = True
                handler.names["error"] = Decl("var", "error", type=("Error",), constant=True)
            gone = self.block(handler) and gone
        if not whole and not scope.catches: self.fail("not every error is caught")
        return gone

    def do_return(self, scope):
        d = scope.function
        wanted = d.__dict__.get("result", d.type)
        if self.sees("}") or self.t.starts:
            if wanted not in (VOID, None): self.fail("return wants a value, " + show(wanted))
        elif wanted in (VOID, None): self.fail("return of a value where there is none")
        else: self.must_settle(self.whole(scope, wanted), wanted, "what is returned")
        self.ends()
        return True

    def do_throw(self, scope):
        if not scope.catches: self.fail("throw where nothing may be thrown")
        self.must_settle(self.whole(scope, None), ("Error",), "what is thrown")
        self.ends()
        return True

    def do_defer(self, scope):
        self.block(Scope(scope, catches=False))
        return False

    # -- expressions
    def whole(self, scope, wanted, braces=True, statement=False):
        """An expression of its own; `wanted` is the type it should have, if that is known"""
        self.discardable = False
        return self.expression(scope, wanted, braces)

    def expression(self, scope, wanted, braces=True):
        if self.takes("try"):
            if self.sees("?", "!"): self.fail("try? and try! hide errors")
            if not scope.catches: self.fail("try where nothing is caught and nothing may be thrown")
            self.tries += 1
            count = self.thrown = 0
            got = self.expression(scope, wanted, braces)
            self.tries -= 1
            if not self.thrown: self.fail("try, but nothing throws")
            return got
        if self.takes("await"):
            if not scope.function.waits: self.fail("await in a function that is not async")
            self.awaits += 1
            got = self.expression(scope, wanted, braces)
            self.awaits -= 1
            return got
        condition = self.level(scope, wanted, 0, braces)
        if not (self.t.spaced and self.takes("?")): return condition
        self.must_settle(condition, BOOL, "the condition")
        one = self.expression(scope, wanted, braces)
        self.wants(":")
        other = self.expression(scope, wanted, braces)
        return self.common(one, other)

    def common(self, a, b):
        if self.settle(a, b): return b
        if self.settle(b, a): return a
        self.fail("%s and %s do not go together" % (show(a), show(b)))

    def level(self, scope, wanted, n, braces):
        if n == len(LEVELS): return self.unary(scope, wanted, braces)
        left = self.level(scope, wanted, n + 1, braces)
        while self.sees(*LEVELS[n]) and not (self.t.starts and self.sees("-", "&")):
            before = self.t.spaced
            op = self.takes(*LEVELS[n])
            if op not in ("..<", "...", "as") and before != self.t.spaced:
                self.fail("%s wants a space on both sides or on none" % op)
            if op == "...": self.fail("a range that includes its end is not known here")
            if op == "as":
                to = self.type(scope)
                self.must_settle(left, to, "the value")
                left = to
                continue
            if op == "??":
                if left[0] not in ("Optional", "IUO"): self.fail("left of ?? is %s" % show(left))
                right = self.level(scope, left[1], n, braces)  # it groups to the right
                left = self.common(right, left[1]) if right[0] != "Optional" else self.common(right, left)
                continue
            right = self.level(scope, None if op in ("<<", ">>") else left, n + 1, braces)
            left = self.result(op, left, right)
            self.place = None
        return left

    def result(self, op, a, b):
        a, b = (x[1] if x[0] == "IUO" and op not in ("==", "!=") else x for x in (a, b))
        if op in ("&&", "||"):
            for x in (a, b): self.must_settle(x, BOOL, "beside %s" % op)
            return BOOL
        if op in ("===", "!=="): return BOOL
        if op in ("+", "-") and a[0] in ("UnsafeMutablePointer", "UnsafePointer"):
            self.must_settle(b, INT, "what is added to a pointer")
            return a
        t = self.common(a, b) if op not in ("<<", ">>") else a
        if op in ("==", "!="): return BOOL
        if op == "+" and t[0] in ("String", "Array"): return t
        good = NUMBERS | {WHOLE[0], REAL[0]} if op in ("+", "-", "*", "/", "<", ">", "<=", ">=") else INTEGERS | {WHOLE[0]}
        if t[0] not in good: self.fail("%s does not go with %s" % (op, show(t)))
        if op == "..<": return ("Range", settled(t))
        return BOOL if op in ("<", ">", "<=", ">=") else t

    def unary(self, scope, wanted, braces):
        for op in ("-", "!", "~"):
            if self.takes(op):
                if self.t.spaced: self.fail("behind the prefix %s there is a space" % op)
                got = self.unary(scope, wanted, braces)
                if op == "!": self.must_settle(got, BOOL, "behind !")
                elif settled(got)[0] not in NUMBERS: self.fail("%s does not go with %s" % (op, show(got)))
                self.place = None
                return got
        return self.postfix(scope, wanted, braces)

    def postfix(self, scope, wanted, braces):
        got = self.primary(scope, wanted, braces)
        chained = False
        while True:
            if self.sees("."):
                if not self.toks[self.at + 1].kind == "name": self.fail("expected a member behind .")
                self.at += 1
                got = self.member(scope, got, braces)
            elif self.sees("[") and not self.t.spaced:
                got = self.subscript(scope, got)
            elif self.sees("!") and not self.t.spaced:
                self.at += 1
                if got[0] not in ("Optional", "IUO"): self.fail("! behind %s, which is no optional" % show(got))
                got, self.place = got[1], None
            elif self.sees("?") and not self.t.spaced:
                self.at += 1
                if got[0] not in ("Optional", "IUO"): self.fail("? behind %s, which is no optional" % show(got))
                got, chained = got[1], True
                if not self.sees(".", "["): self.fail("? wants a member")
            else: break
        if got[0] == "Fn" and self.sees("("): self.fail("only functions and methods by their names are called here")
        return ("Optional", got) if chained and got[0] != "Optional" and got != VOID else got

    def subscript(self, scope, t):
        self.at += 1
        if t[0] == "IUO": t = t[1]
        found = self.world.find(t[0])
        of = found and found.members.get("subscript")
        if not of: self.fail("%s has no subscript" % show(t))
        place = self.place
        if self.takes("..<"):
            self.must_settle(self.expression(scope, INT), INT, "the end")
            got = ("ArraySlice",) + t[1:]
            place = None
        else:
            self.must_settle(self.expression(scope, INT), INT, "the index")
            got = fill(of.all[0].type, dict(zip(found.generics, t[1:])))
        self.wants("]")
        self.place = Decl("var", "the element", type=got, constant=place.constant if place and t[0] == "Array" else
                          t[0] != "UnsafeMutablePointer")
        return got

    def member(self, scope, t, braces, static=False):
        name = self.name(labels=True)
        if t[0] == "IUO": t = t[1]
        if t[0] == "Type":
            if name == "self": return t
            t, static = t[1], True
        if t[0] == "Optional": self.fail("%s of %s: it is not unwrapped" % (name, show(t)))
        found = self.world.find(t[0])
        d = found.members.get(name) if found and found.kind == "type" else None
        for p in found.parents if found and not d else ():
            d = self.world.find(p).members.get(name)
            if d: break
        if not d or (name == "init" and not static): self.fail("%s has no %s" % (show(t), name))
        known = dict(zip(found.generics, t[1:]))
        if d.kind == "type":
            if self.sees("("): return self.call(scope, d.members["init"].all, {}, d.name, braces)
            return ("Type", (d.name,))
        if d.kind == "overloads":
            good = [x for x in d.all if x.static == static or name == "init"]
            if not good: self.fail("%s is%s static" % (name, "" if not static else " not"))
            self.check_since(scope, good[0])
            return self.call(scope, good, known, name, braces)
        if d.static != static: self.fail("%s is%s static" % (name, " not" if static else ""))
        self.check_since(scope, d)
        outer = self.place
        self.place = d
        if found.what == "struct" and outer is not None and outer.constant and not static:
            self.place = Decl("var", name, type=d.type, constant=True)
        return fill(d.type, known)

    def check_since(self, scope, d):
        if d.since and (scope.since[0] < d.since[0] or scope.since[1] < d.since[1]):
            self.fail("%s is there from macOS %g, iOS %g on: behind #available" % ((d.name,) + d.since))

    def arguments(self, scope):
        """Where each argument stands: (label, token at which it begins)"""
        args = []
        self.wants("(")
        while not self.takes(")"):
            label = "_"
            if self.t.kind == "name" and self.toks[self.at + 1].text == ":": label = self.name(labels=True); self.at += 1
            args.append((label, self.at))
            depth = 0
            while depth or not self.sees(",", ")"):
                if self.t.kind == "end": self.fail("a bracket is not closed")
                depth += 1 if self.sees("(", "[", "{") else -1 if self.sees(")", "]", "}") else 0
                self.at += 1
            if len(args) and args[-1][1] == self.at: self.fail("an argument is missing")
            if not self.sees(")"): self.wants(",")
        return args

    def matches(self, d, labels):
        """Which parameter each argument is for; None: it does not fit"""
        out, i = [], 0
        for label in labels:
            while i < len(d.params) and d.params[i][0] != label and d.params[i][3]: i += 1
            if i == len(d.params) or d.params[i][0] != label: return None
            out.append(d.params[i])
            i += 1
        return out if all(p[3] for p in d.params[i:]) else None

    def call(self, scope, overloads, known, name, braces):
        line, begin = self.t.line, self.at
        if not self.sees("(") and not (braces and self.sees("{")): self.fail("%s is a function: expected (" % name)
        args = self.arguments(scope) if self.sees("(") else []
        trailing = braces and self.sees("{") and not self.t.starts
        labels = [a[0] for a in args]
        after, fits = self.at, []
        for d in overloads:
            last = d.params[-1] if trailing and d.params and d.params[-1][2][0] == "Fn" else None
            if trailing and not last: continue
            p = self.matches(Decl("", "", params=d.params[:-1] if last else d.params), labels)
            if p is not None: fits.append((d, p, last))
        if any(f[0].waits for f in fits): fits = [f for f in fits if f[0].waits == scope.function.waits] or fits
        if not fits:
            self.at = begin
            self.fail("%s has no form (%s)%s, but %s" % (name, "".join(x + ":" for x in labels), " { }" if trailing else "",
                      " and ".join("(" + "".join(p[0] + ":" for p in d.params) + ")" for d in overloads)))
        wrong = None
        for d, params, last in fits:
            try:
                return self.call_of(scope, d, params, last, args, after, dict(known), name)
            except Wrong as e:
                wrong = wrong or e
        raise wrong

    def call_of(self, scope, d, params, last, args, after, known, name):
        for (label, at), (_, pname, t, _, changes) in zip(args, params):
            self.at = at
            self.argument(scope, fill(t, known), changes, known, d.generics, pname)
        self.at = after
        if last: self.closure(scope, fill(last[2], known), known, d.generics)
        if d.throws:
            if not self.tries: self.fail("%s throws: try is missing" % name)
            self.thrown = 1
        if d.waits and not self.awaits: self.fail("%s waits: await is missing" % name)
        missing = [g for g in d.generics if g not in known]
        if missing: self.fail("%s: what is %s?" % (name, missing[0]))
        self.discardable, self.place = d.discardable, None
        return fill(d.type, known)

    def argument(self, scope, wanted, changes, known, generics, what):
        if self.takes("&"):
            self.place = None
            got = self.postfix(scope, None, True)
            if self.place is None or self.place.constant: self.fail("& before what cannot be changed")
            inner = wanted[1] if wanted[0] in ("Optional", "IUO") else wanted
            if inner[0] in ("UnsafeMutablePointer", "UnsafePointer"): self.bind(inner[1], got, known, generics)
            if inner[0] in ("UnsafeMutablePointer", "UnsafePointer"): self.must_settle(got, fill(inner[1], known), what)
            elif changes: self.must_settle(got, inner, what)
            elif got[0] in scope.function.generics: self.fail("raw bytes of a type that may hold references: a warning")
            elif inner[0] not in ("UnsafeRawPointer", "UnsafeMutableRawPointer"): self.fail("& where no pointer is wanted")
        elif changes: self.fail("%s is changed: & is missing" % what)
        elif self.sees("{"): self.closure(scope, wanted, known, generics)
        else:
            got = self.expression(scope, wanted if not generics else None)
            self.bind(wanted, got, known, generics)
            self.must_settle(got, fill(wanted, known), what)
        if not self.sees(",", ")"): self.fail("expected , or ), found " + self.t.text)

    def closure(self, scope, wanted, known, generics):
        """{ names in statements }: the types are those of the function that is wanted"""
        self.wants("{")
        names = []
        if self.takes("("):
            name = self.name()
            self.wants(":")
            t = self.type(scope)
            names.append((name, t))
            self.bind(wanted[1][0], t, known, generics)
            self.wants(")")
        elif wanted[1]:
            while not self.sees("in"):
                names.append(("_" if self.takes("_") else self.name(), None))
                if not self.sees("in"): self.wants(",")
        if wanted[1]: self.wants("in") # of no arguments there may be none
        if len(names) != len(wanted[1]): self.fail("the closure takes %d arguments" % len(wanted[1]))
        d = Decl("func", "the closure", waits=False)
        inner = Scope(scope, function=d, catches=wanted[3], loops=0)
        for (name, t), w in zip(names, wanted[1]):
            if name != "_": inner.names[name] = Decl("var", name, type=t or fill(w, known), constant=True)
        result = fill(wanted[2], known)
        tries, self.tries, waits, self.awaits = self.tries, 0, self.awaits, 0
        if self.is_single():
            got = self.expression(inner, result if result[0] not in generics else None)
            self.bind(wanted[2], got, known, generics)
            result = fill(wanted[2], known)
            if result != VOID: self.must_settle(got, result, "what the closure gives")
            self.wants("}")
        else:
            if wanted[2][0] in generics: known.setdefault(wanted[2][0], VOID)
            d.result = result = fill(wanted[2], known)
            if not self.rest(inner) and result != VOID: self.fail("the closure does not return on every path")
        self.tries, self.awaits = tries, waits

    def primary(self, scope, wanted, braces):
        t = self.t
        if t.kind in ("number", "string", "op"): return self.literal(scope, wanted)
        if self.takes("true", "false"): return BOOL
        if self.takes("nil"): return NIL
        if self.takes("self"):
            if not scope.owner: self.fail("self outside of a type")
            self.place = Decl("var", "self", type=(scope.owner.name,), constant=scope.owner.what == "struct")
            return (scope.owner.name,)
        if self.takes("Self"):
            if scope.function.name == "init" and scope.owner.what == "class":
                self.fail("Self in the init of a class wants a self that is complete: name the class")
            return ("Type", (scope.owner.name,))
        name = self.name()
        d = scope.find(name)
        if not d: self.fail("nothing is called " + name)
        if d.kind == "type":
            if not self.sees("(", "<"): return ("Type", (name,))
            known = {}
            if self.takes("<"):
                known = dict(zip(d.generics, [self.type(scope)]))
                self.wants(">")
                if not self.sees("("): return ("Type", (name,) + tuple(known.values()))
            if "init" not in d.members: self.fail("%s cannot be made" % name)
            return self.call(scope, d.members["init"].all, known, name, braces)
        if d.kind == "overloads":
            self.check_since(scope, d.all[0])
            return self.call(scope, d.all, {}, name, braces)
        self.place = d
        self.check_since(scope, d)
        return d.type

    def literal(self, scope, wanted):
        t = self.t
        self.place = None
        self.at += 1
        if t.kind == "number": return REAL if re.search(r"[.eE]", t.text) and not t.text.startswith("0x") else WHOLE
        if t.kind == "string":
            for part in t.parts:
                toks, at, self.toks, self.at = self.toks, self.at, part, 0
                self.expression(scope, None)
                if self.t.kind != "end": self.fail("expected the end of the interpolation, found " + self.t.text)
                self.toks, self.at = toks, at
            return STRING
        if t.text == "(":
            parts = []
            while not self.takes(")"):
                parts.append(self.expression(scope, None))
                if not self.sees(")"): self.wants(",")
            return parts[0] if len(parts) == 1 else ("Tuple",) + tuple(parts)
        if t.text == "[" and self.toks[self.at + 1].text == "]" and self.toks[self.at + 2].text == "(":
            item = self.type(scope)
            self.wants("]")
            return self.call(scope, self.world.find("Array").members["init"].all, {"Element": item}, "Array", True)
        if t.text == "[":
            item = wanted[1] if wanted and wanted[0] == "Array" else None
            got = None
            while not self.takes("]"):
                one = self.expression(scope, item)
                got = one if got is None else self.common(got, one)
                if not self.sees("]"): self.wants(",")
            if item and got: self.must_settle(got, item, "the element")
            return ("Array", item or settled(got)) if item or got else EMPTY
        if t.text == "." and self.t.kind == "name":
            if wanted and wanted[0] in ("Optional", "IUO"): wanted = wanted[1]
            if not wanted: self.fail(".%s of what?" % self.t.text)
            return self.member(scope, wanted, True, static=True)
        self.at -= 1
        self.fail("expected an expression, found " + t.text)


# -- C ------------------------------------------------------------------------------------------------------------
C_TYPES = {"size_t": INT, "uint64_t": ("UInt64",), "int64_t": ("Int64",), "uint32_t": ("UInt32",), "double": ("Double",),
           "int": ("Int32",), "void": VOID, "char": ("CChar",)}


def c_type(text, world):
    """const char * is UnsafePointer<CChar>!; what is only declared is an OpaquePointer; None: not known here"""
    pointer = "UnsafePointer" if "const" in text else "UnsafeMutablePointer"
    name, stars = re.sub(r"\bconst\b|\bstruct\b|\*", "", text).strip(), text.count("*")
    t = C_TYPES.get(name) or ((name,) if world.find(name) else None)
    if t == VOID and stars: t, stars = ("IUO", (pointer.replace("Pointer", "RawPointer"),)), stars - 1
    if t is None and stars: t, stars = ("IUO", ("OpaquePointer",)), stars - 1
    for _ in range(stars):
        t = ("IUO", (pointer, ("Optional", t[1]) if t[0] == "IUO" else t))
        pointer = "UnsafeMutablePointer"
    return t


def read_c(path, world):
    """Functions of a C header as Swift sees them, and its structs with fields whose types are plain."""
    with open(path) as f: text = re.sub(r"/\*.*?\*/|^#.*?$", " ", f.read().split("#ifdef TMETAL_IMPLEMENTATION")[0], flags=re.S | re.M)
    for kind, body, name in re.findall(r"typedef (struct|enum)\s*\w*\s*\{([^{}]*)\}\s*(\w+);", text):
        world.names[name] = Decl("type", name, what="struct", body=body)
        init = Decl("func", "init", type=(name,))
        world.names[name].members = {"init": Decl("overloads", "init", all=[init]),
                                     "rawValue": Decl("var", "rawValue", type=("UInt32",), constant=True)}
        if kind == "enum":
            for item in re.findall(r"^\s*([A-Z_]+)", body, re.M): world.names[item] = Decl("var", item, type=(name,), constant=True)
    world.names["TMETAL_OK"] = Decl("var", "TMETAL_OK", type=("tmetal_code",), constant=True)
    for d in [x for x in world.names.values() if isinstance(x, Decl) and x.__dict__.get("body")]:
        for field in re.findall(r"([\w][\w\s]*?[\s*]+)(\w+)(\[\w+\])?\s*;", d.body):
            t = c_type(field[0], world)
            if field[2]: t = ("CArray",)
            if t: d.members[field[1]] = Decl("var", field[1], type=t, constant=False)
    for result, name, params in re.findall(r"TMETAL_API\s+([\w\s*]+?)\s*(\w+)\(([^()]*)\);", text):
        ps = []
        for p in params.split(",") if params.strip() != "void" else []:
            m = re.match(r"\s*(.*?)(\w+)(\[\d*\])?\s*$", p, re.S)
            if not m: continue  # what takes a list of arguments is not seen by Swift
            t = c_type(m.group(1) + ("*" if m.group(3) else ""), world)
            ps.append(("_", m.group(2), t or ("Any",), False, False))
        t = c_type(result, world)
        d = Decl("func", name, params=tuple(ps), type=t or ("Any",))
        world.names[name] = Decl("overloads", name, all=[d])


def world(headers):
    """What a file may use before it has said anything."""
    base = Scope()
    for name in ("Void", "Any", "Never", "Bool", "CArray", "CChar", "OpaquePointer"):
        base.names[name] = Decl("type", name, what="struct")
    with open(os.path.join(HERE, "apple.swift")) as f: Reader("apple.swift", f.read(), base, True).read()
    for h in headers: read_c(h, base)
    return base


def main(argv):
    headers, files, bad = [], [], 0
    while argv:
        if argv[0] == "--c": headers.append(argv.pop(1))
        else: files.append(argv[0])
        argv.pop(0)
    base = world(headers)
    for path in files:
        try:
            with open(path, encoding="utf-8") as f: src = f.read()
            Reader(path, src, Scope(base)).read()
        except Wrong as e:
            print(e)
            bad += 1
    print("swift: %d files read, %d of them wrong" % (len(files), bad))
    return bad != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
