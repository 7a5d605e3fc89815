// In the place of NIXL's own header of this name, which needs the headers of Abseil in the version that NIXL was built with. The headers
// for plugins only use it in functions that this plugin does not call.
#pragma once

struct hw_nixl_nobody {
    template <typename T> const hw_nixl_nobody &operator<<(const T &) const { return *this; }
};

#define NIXL_ERROR hw_nixl_nobody()
#define NIXL_ASSERT(condition) static_cast<void>(0)
