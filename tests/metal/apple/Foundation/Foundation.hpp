/* As much of metal-cpp's Foundation as launch code uses: classes whose methods send messages, found by the caller's
 * metal_symbol, so that they run by way of the stand-in too. */
#ifndef TESTS_FOUNDATION_HPP
#define TESTS_FOUNDATION_HPP
#include <cstddef>
#include <cstdint>

extern "C" void (*metal_symbol(const char *name))(void); /* objc_msgSend and its like */

namespace NS {
using Integer = long;
using UInteger = unsigned long;

/* Every method below is this one call: a message of just its type. */
template <class Result, class... Args> Result send(const void *object, const char *selector, Args... args) {
    const auto name = reinterpret_cast<const void *(*)(const char *)>(metal_symbol("sel_registerName"))(selector);
    return reinterpret_cast<Result (*)(const void *, const void *, Args...)>(metal_symbol("objc_msgSend"))(object, name, args...);
}
inline const void *class_named(const char *name) {
    return reinterpret_cast<const void *(*)(const char *)>(metal_symbol("objc_getClass"))(name);
}

class Object { /* never made, copied or destroyed by C++ */
public:
    void release() { send<void>(this, "release"); }
    Object() = delete;
    Object(const Object &) = delete;
    ~Object() = delete;
};
template <class T> class Referencing : public Object {
public:
    T *retain() { return send<T *>(this, "retain"); }
};

/* Holds one reference; TransferPtr takes over that of `new...`. */
template <class T> class SharedPtr {
public:
    SharedPtr() = default;
    explicit SharedPtr(T *p) : p_(p) {}
    SharedPtr(SharedPtr &&other) : p_(other.p_) { other.p_ = nullptr; }
    SharedPtr &operator=(SharedPtr &&other) {
        T *mine = p_;
        p_ = other.p_;
        other.p_ = mine;
        return *this;
    }
    ~SharedPtr() {
        if (p_) p_->release();
    }
    T       *get() const { return p_; }
    T       *operator->() const { return p_; }
    explicit operator bool() const { return p_ != nullptr; }

private:
    T *p_ = nullptr;
};
template <class T> SharedPtr<T> TransferPtr(T *p) { return SharedPtr<T>(p); }
template <class T> SharedPtr<T> RetainPtr(T *p) { return SharedPtr<T>(p ? p->retain() : nullptr); }

enum StringEncoding : UInteger { UTF8StringEncoding = 4 };
class String : public Referencing<String> {
public:
    static String *string(const char *text, StringEncoding) { return send<String *>(class_named("NSString"), "stringWithUTF8String:", text); }
    const char    *utf8String() const { return send<const char *>(this, "UTF8String"); }
};
class Error : public Referencing<Error> {
public:
    Integer code() const { return send<Integer>(this, "code"); }
    String *localizedDescription() const { return send<String *>(this, "localizedDescription"); }
};
/* The stand-in has pools by their functions alone. */
class AutoreleasePool : public Referencing<AutoreleasePool> {
public:
    static AutoreleasePool *alloc() {
        return reinterpret_cast<AutoreleasePool *(*)()>(metal_symbol("objc_autoreleasePoolPush"))();
    }
    AutoreleasePool *init() { return this; }
    void             release() { reinterpret_cast<void (*)(void *)>(metal_symbol("objc_autoreleasePoolPop"))(this); }
};
} // namespace NS
#endif
