/* As much of Foundation, in Objective-C, as launch code uses, by its public documentation: for building without an SDK. */
#ifndef TESTS_FOUNDATION_H
#define TESTS_FOUNDATION_H
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <string.h>

typedef long          NSInteger;
typedef unsigned long NSUInteger;
#if defined(__arm64__)
typedef bool BOOL;
#else
typedef signed char BOOL;
#endif
#define YES ((BOOL)1)
#define NO ((BOOL)0)
#define nil ((id)0)
#define NS_ASSUME_NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
#define NS_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end")
#define NS_RETURNS_INNER_POINTER __attribute__((objc_returns_inner_pointer))

@protocol NSObject
- (BOOL)respondsToSelector:(SEL)selector;
@end

@interface NSObject <NSObject>
+ (instancetype)alloc;
+ (instancetype)new;
- (instancetype)init;
@end

/* of <dispatch/dispatch.h>, which Foundation includes */
typedef NSObject *dispatch_queue_t;
#define QOS_CLASS_USER_INITIATED 0x19
dispatch_queue_t dispatch_get_global_queue(intptr_t priority, uintptr_t flags);
void dispatch_async(dispatch_queue_t queue, void (^block)(void));

@interface NSString : NSObject
@property(readonly) NSUInteger  length;
@property(readonly) const char *UTF8String NS_RETURNS_INNER_POINTER;
+ (instancetype)stringWithUTF8String:(const char *)text;
+ (instancetype)stringWithFormat:(NSString *)format, ... __attribute__((format(__NSString__, 1, 2)));
- (NSString *)stringByAppendingString:(NSString *)text;
@end
@interface NSConstantString : NSString
@end

@interface NSNumber : NSObject
+ (instancetype)numberWithInt:(int)value;
+ (instancetype)numberWithUnsignedLong:(unsigned long)value;
@end

@interface NSArray<Element> : NSObject
@property(readonly) NSUInteger count;
- (Element)objectAtIndexedSubscript:(NSUInteger)i;
+ (instancetype)arrayWithObjects:(const id[])objects count:(NSUInteger)n;
@end

@interface NSDictionary<Key, Value> : NSObject
+ (instancetype)dictionaryWithObjects:(const id[])objects forKeys:(const id[])keys count:(NSUInteger)n;
@end

@interface NSData : NSObject
@property(readonly) NSUInteger  length;
@property(readonly) const void *bytes NS_RETURNS_INNER_POINTER;
+ (instancetype)dataWithContentsOfFile:(NSString *)path;
@end
@interface NSMutableData : NSData
@property(readonly) void *mutableBytes NS_RETURNS_INNER_POINTER;
+ (instancetype)dataWithLength:(NSUInteger)length;
@end

@interface NSError : NSObject
@property(readonly) NSInteger code;
@property(readonly) NSString *localizedDescription;
+ (instancetype)errorWithDomain:(NSString *)domain code:(NSInteger)code userInfo:(NSDictionary *)info;
@end

extern NSString *const NSLocalizedDescriptionKey;
void NSLog(NSString *format, ...) __attribute__((format(__NSString__, 1, 2)));
#endif
