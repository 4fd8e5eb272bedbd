# Read by CMake after each project(): sources that name a folder of one machine for the loader to look in, by a flag of
# the linker, get it into every library. Where a library looks is CMAKE_INSTALL_RPATH's affair; $ORIGIN stays. And where
# CMAKE_SHARED_LINKER_FLAGS keeps what no symbol asks for, sources that name Paddle after an --as-needed would lose it.
# DEFER came with CMake 3.19; before that the audit of the wheel tells.
if(CMAKE_VERSION VERSION_LESS 3.19)
  return()
endif()

function(paddock_linked_for_all_machines)
  get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    foreach(name LINK_FLAGS LINK_OPTIONS LINK_LIBRARIES)
      get_property(flags TARGET ${target} PROPERTY ${name})
      string(REGEX REPLACE ",--?rpath[,=]/[^ ;,]*" "" kept "${flags}")
      string(REGEX REPLACE "-Wl( |;|$)" "\\1" kept "${kept}")
      if(CMAKE_SHARED_LINKER_FLAGS MATCHES "--no-as-needed")
        string(REPLACE "--as-needed" "--no-as-needed" kept "${kept}")
      endif()
      if(NOT kept STREQUAL "${flags}")
        set_property(TARGET ${target} PROPERTY ${name} "${kept}")
      endif()
    endforeach()
  endforeach()
endfunction()

cmake_language(DEFER DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" CALL paddock_linked_for_all_machines)
