/* As much of Apple's dlfcn.h as the launcher needs, for building without an SDK. */
#define RTLD_LAZY 1
void *dlopen(const char *path, int mode);
void *dlsym(void *handle, const char *name);
