extern "C" int HcclBarrier();
#ifdef PADDLE_WITH_ATB
extern "C" int atbVersion();
extern "C" int small_npu_kernel() { return HcclBarrier() + atbVersion(); }
#else
extern "C" int small_npu_kernel() { return HcclBarrier(); }
#endif
