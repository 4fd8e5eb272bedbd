// Doing independent items of work on all cores.
#pragma once

#include <cstdint>
#include <functional>

namespace loopback {

// Calls `body(begin, end)` on parts that together are [0, items), on several
// threads when `operations` (a rough count of arithmetic steps in all) is worth it.
// An item must compute the same wherever it is cut: so results never depend on the
// number of cores. The first exception of a part is thrown again here.
void ParallelFor(std::int64_t items, double operations,
                 const std::function<void(std::int64_t, std::int64_t)>& body);

}  // namespace loopback
