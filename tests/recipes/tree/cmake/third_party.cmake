# Each of them is asked of git, whether it is there or not.
foreach(name gflags glog pybind onednn)
  if(name STREQUAL onednn AND NOT WITH_MKL)
    continue()
  endif()
  execute_process(COMMAND git submodule update --init ${name}
                  WORKING_DIRECTORY ${PADDLE_SOURCE_DIR}/third_party RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "no submodule ${name}: is there a network?")
  endif()
endforeach()
include(${PADDLE_SOURCE_DIR}/cmake/external/gflags.cmake)
include(${PADDLE_SOURCE_DIR}/cmake/external/pybind11.cmake)
add_custom_target(third_party DEPENDS extern_gflags extern_pybind)
