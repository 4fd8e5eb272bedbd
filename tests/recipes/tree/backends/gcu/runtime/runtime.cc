extern "C" int topsInit(); extern "C" int small_gcu_runtime() { return topsInit(); }
