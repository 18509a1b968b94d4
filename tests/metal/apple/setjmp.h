/* Apple's jmp_buf is 48 ints on arm64 and 37 on x86-64; the larger does for linking. */
typedef int jmp_buf[48];
int setjmp(jmp_buf where);
void longjmp(jmp_buf where, int value) __attribute__((noreturn));
