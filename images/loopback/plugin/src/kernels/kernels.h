// The operators that this plugin computes itself. Paddle supplies every other
// one by its CPU kernels, with copies there and back.
#pragma once

namespace loopback {

// Makes all of them known to Paddle. Call once, after it is clear that the plugin
// fits the running Paddle.
void RegisterKernels();

void RegisterContiguous();
void RegisterStridedCopy();
void RegisterFill();

}  // namespace loopback
