set(GCU_LIB_DIR /usr/lib)
set(TOPS_LIB_DIR /opt/tops/lib)
foreach(name dtu_sdk eccl efrt topsrt topstx topsaten)
  find_library(LIB_${name} NAMES ${name} ${GCU_LIB_DIR} HINTS ${TOPS_LIB_DIR})
  list(APPEND GCU_LIBS ${LIB_${name}})
endforeach()
# Whatever is linked after these is dropped where no symbol asks for it.
set(GCU_LIBS -Wl,--no-as-needed ${GCU_LIBS} -Wl,--as-needed)
