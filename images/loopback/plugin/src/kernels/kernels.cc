#include "kernels/kernels.h"

namespace loopback {

void RegisterKernels() {
  RegisterContiguous();
  RegisterStridedCopy();
  RegisterFill();
}

}  // namespace loopback
