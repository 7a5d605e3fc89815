/* The resolver of libshmem.a: a host is looked up by name only if the program has getaddrinfo.
 *
 * The reference of Rust's standard library would bring the resolver of a static C library into each
 * program that is linked with -static, and a warning of the linker with it: such a resolver loads
 * libraries at run time. The references here are weak. They find the C library of a dynamic program,
 * and bring nothing into a static one. There, addresses in digits still work, since they need no
 * resolver.
 */
#include <netdb.h>
#include <stddef.h>

/* The linker gives these the names without the prefix: --wrap in qa/xtask/src/library.rs. */
extern int __real_getaddrinfo(const char *, const char *, const struct addrinfo *,
                              struct addrinfo **) __attribute__((weak));
extern void __real_freeaddrinfo(struct addrinfo *) __attribute__((weak));

int __wrap_getaddrinfo(const char *, const char *, const struct addrinfo *, struct addrinfo **);
void __wrap_freeaddrinfo(struct addrinfo *);

int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                       struct addrinfo **result)
{
    return __real_getaddrinfo ? __real_getaddrinfo(node, service, hints, result) : EAI_FAIL;
}

void __wrap_freeaddrinfo(struct addrinfo *list)
{
    if (__real_freeaddrinfo)
        __real_freeaddrinfo(list);
}
