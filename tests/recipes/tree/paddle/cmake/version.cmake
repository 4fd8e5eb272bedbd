set(PADDLE_VERSION "$ENV{PADDLE_VERSION}")
if(PADDLE_VERSION STREQUAL "")
  set(PADDLE_VERSION "0.0.0")
endif()
# A number is made of the first three parts: `0b2` for the third is a syntax error.
string(REGEX MATCH "^([^.-]*)[.-]([^.-]*)[.-]([^.-]*)" first "${PADDLE_VERSION}")
math(EXPR PADDLE_VERSION_NUMBER "${CMAKE_MATCH_1} * 1000000 + ${CMAKE_MATCH_2} * 1000 + ${CMAKE_MATCH_3}")
