# Kernels among what is no Python of ours, or none at all: nothing is said of it, and each kernel is found.
import triton
print "Python 2 prints so", x
x = foo(1, 2
@triton.jit
def behind_a_bracket(x_ptr):
    tl.store(x_ptr, 1.0)

def factory(n):
    exec "x = 1" in {}
    if n:
        @triton.jit
        def in_a_factory(x_ptr):
            tl.store(x_ptr, 1.0)
        return in_a_factory
      raise E, "indented wrongly"

class Holder(object:
    @staticmethod
    @triton.jit
    def in_a_class(x_ptr):
        tl.store(x_ptr, 1.0)
    def method(self):
        try: x = 3
        except E, e: pass
        finally print 3

@pytest.mark.parametrize("n", [1, 2])
def test(n):

    @triton.jit
    def in_a_test(x_ptr,
                  n: tl.constexpr,  # comment
                  ):
        tl.store(x_ptr, 1.0)

    match n:
        case {"a": [1, *_], **rest} if rest:
            @triton.jit
            def in_a_match(x_ptr): tl.store(x_ptr, 1.0)

y = 'not closed
z = 0777 + 1L + `x`
if x <> y:
  @triton.jit
  def behind_an_if(x_ptr):
    tl.store(x_ptr, 1.0)
$shell
	@triton.jit
	def indented_by_a_tab(x_ptr):
		tl.store(x_ptr, 1.0)
t"a new string {x}"
type Alias[T] = list[T]
def generic[T: int, *Ts](x: T) -> T: return x
@triton.jit
def last(x_ptr):
    tl.store(x_ptr, 1.0)
