#include "kernels/refuse.h"

#include "paddle/common/enforce.h"
#include "paddle/common/errors.h"

namespace loopback {

void Refuse(const std::string& reason) {
  PADDLE_THROW(common::errors::InvalidArgument("loopback: %s", reason));
}

}  // namespace loopback
