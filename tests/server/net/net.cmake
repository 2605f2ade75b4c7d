# The tests of server/net, main.c and options.c.  Included by server.cmake.
set(net ${PROJECT_SOURCE_DIR}/server/net)

# add_net_test(NAME [SOURCE...] LINK LIBRARY...)
function(add_net_test name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  set(target server_net_${name})
  add_executable(${target} ${CMAKE_CURRENT_SOURCE_DIR}/server/net/${name}.c
    ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}
    ${CMAKE_CURRENT_SOURCE_DIR}/server/net ${PROJECT_SOURCE_DIR}/server)
  target_link_libraries(${target} PRIVATE ${ARG_LINK} ${CMOCKA_LIBRARIES}
    tickwheel_flags)
  add_test(NAME ${target} COMMAND ${target})
endfunction()

# Sessions beside an engine that does what the test says.
foreach(name session_test session_end_test)
  add_net_test(${name} ${CMAKE_CURRENT_SOURCE_DIR}/server/net/session_scene.c
    ${CMAKE_CURRENT_SOURCE_DIR}/server/net/fake_engine.c
    ${net}/session.c ${net}/buffer.c ${net}/http_line.c
    LINK tkd_protocol tkd_store)
endforeach()
add_net_test(split_test LINK tkd_net tkd_engine)
add_net_test(buffer_test LINK tkd_net)
add_net_test(clock_test LINK tkd_net)
add_net_test(http_line_test LINK tkd_net)
add_net_test(options_test ${PROJECT_SOURCE_DIR}/server/options.c LINK tkd_net)

add_test(NAME server_net_server_test COMMAND python3
  ${CMAKE_CURRENT_SOURCE_DIR}/server/net/server_test.py
  $<TARGET_FILE:tickwheeld>)
