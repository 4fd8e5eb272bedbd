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
add_custom_target(third_party)
