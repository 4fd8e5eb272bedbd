from paddle_custom_device.npu.ops import *  # noqa: F403
