# What people get wrong in the text of a kernel. One mistake a function; wrong.txt has what is said of it.
import triton
import triton.language as tl

def host(x):              # nothing is said of what is no kernel
    print "done"
    return x ?

@triton.jit
def colon(x_ptr, n, BLOCK: tl.constexpr)
    pid = tl.program_id(0)

@triton.jit
def colon_of_if(x_ptr, n):
    if n > 3
        n = 3

@triton.jit
def bracket(x_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK
    x = tl.load(x_ptr + offs)
    tl.store(x_ptr + offs, x)

@triton.jit
def bracket_too_many(x_ptr):
    x = tl.load(x_ptr))

@triton.jit
def wrong_bracket(x_ptr):
    x = tl.load(x_ptr]

@triton.jit
def no_body(x_ptr):
x = tl.load(x_ptr)

@triton.jit
def deeper(x_ptr):
    x = tl.load(x_ptr)
      y = x + 1

@triton.jit
def no_block(x_ptr):
        x = tl.load(x_ptr)
    y = x + 1

@triton.jit
def tabs(x_ptr, n):
    if n:
        x = tl.load(x_ptr)
	y = x + 1

@triton.jit
def string(x_ptr):
    tl.static_print("hello)

@triton.jit
def increment(i):
    i++

@triton.jit
def ampersands(a, b):
    if a > 0 && b > 0:
        pass

@triton.jit
def bang(a):
    if !a:
        pass

@triton.jit
def question(a):
    x = a ? 1 : 2

@triton.jit
def equals(a):
    if a = 3:
        pass

@triton.jit
def else_if(a):
    if a:
        pass
    else if a > 1:
        pass

@triton.jit
def lonely(a):
    x = a
    else:
        x = 1

@triton.jit
def to_call(x_ptr):
    tl.load(x_ptr) = 3

@triton.jit
def to_sum(a, b):
    a + b = 3

@triton.jit
def keyword(lambda, n):
    pass

@triton.jit
def comma(x_ptr, mask):
    x = tl.load(x_ptr mask=mask)

@triton.jit
def quotes(x_ptr):
    tl.static_print(“hello”)

@triton.jit
def number(a):
    x = a + 08

@triton.jit
def name(a):
    2nd = a

@triton.jit
def arrow(a):
    x = a ≤ 3

@triton.jit
def choice(a):
    x = 1 if a

@triton.jit
def backslash(a):
    x = a + \ 
        1

@triton.jit
def f_string(a):
    tl.static_print(f"{a")

@triton.jit
def two(a):
    x = a b

@triton.jit
def escape(a):
    tl.static_print("\xg1")

@triton.jit
def bytes_and_text(a):
    tl.static_print("a" b"c")

@triton.jit

x = 3

@triton.jit(
def in_brackets(a):
    pass

@triton.jit
def positional(x_ptr, mask):
    x = tl.load(x_ptr, mask=mask, 0.0)

@triton.jit
def default(x_ptr, BLOCK: tl.constexpr = 128, n):
    pass

@triton.jit
def right(x_ptr):         # and what is right is read all the same
    tl.store(x_ptr, 1.0)

@triton.jit
def documented(x_ptr):
    """A string of several lines
    that nobody closes.
    x = 3
