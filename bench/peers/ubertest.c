/* For fabtests.sh: fi_ubertest names the host of its peer to fi_getinfo, and exchanges the addresses of its endpoints
 * itself. The provider has no addresses that a host and a port would say, so these are left out. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

struct fi_info;
typedef int getinfo(uint32_t, const char *, const char *, uint64_t, const struct fi_info *, struct fi_info **);

int fi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags, const struct fi_info *hints,
               struct fi_info **info)
{
    getinfo *next = (getinfo *)dlsym(RTLD_NEXT, "fi_getinfo");
    (void)node, (void)service, (void)flags;
    return next ? next(version, NULL, NULL, 0, hints, info) : -1;
}
