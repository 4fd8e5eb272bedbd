extern "C" int aclInit(const char*); extern "C" int small_npu_runtime() { return aclInit(nullptr); }
