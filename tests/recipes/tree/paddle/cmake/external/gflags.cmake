# A command of make's own, for which no other generator has a meaning.
add_custom_target(extern_gflags COMMAND $(MAKE) --version)
