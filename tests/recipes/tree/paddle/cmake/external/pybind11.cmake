# A patch that begins with a tag, which a submodule fetched at one commit does not know.
set(PYBIND_TAG v2.12.0)
add_custom_target(extern_pybind COMMAND git checkout --quiet ${PYBIND_TAG} && patch --version
                  WORKING_DIRECTORY ${PADDLE_SOURCE_DIR}/third_party/pybind)
