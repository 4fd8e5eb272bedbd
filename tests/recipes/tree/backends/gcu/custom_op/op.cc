extern "C" int topsop_add(int, int); extern "C" int small_gcu_op(int a, int b) { return topsop_add(a, b); }
