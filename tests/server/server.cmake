# The tests of tickwheeld: tests/server/PART mirrors server/PART.  What several
# tests of a part share is a library of the other sources of its folder.
function(add_server_part part)
  file(GLOB shared CONFIGURE_DEPENDS server/${part}/*.c)
  list(FILTER shared EXCLUDE REGEX "_(test|main|preload)\\.c$")
  set(support server_${part}_support)
  add_library(${support} STATIC ${shared})
  target_include_directories(${support} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}
    ${CMAKE_CURRENT_SOURCE_DIR}/server/${part})
  target_link_libraries(${support} PUBLIC ${ARGN} tickwheel_static
    ${CMOCKA_LIBRARIES} PRIVATE tickwheel_flags)
  add_folder(server/${part} LINK ${support})
  set(added ${added} PARENT_SCOPE)
endfunction()

add_server_part(protocol tkd_protocol)

add_executable(server_protocol_fuzz server/protocol/fuzz_main.c)
target_link_libraries(server_protocol_fuzz PRIVATE server_protocol_support
  tickwheel_flags)
file(GLOB protocol_corpus CONFIGURE_DEPENDS server/protocol/corpus/*)
add_test(NAME server_protocol_fuzz
  COMMAND server_protocol_fuzz ${protocol_corpus})

add_server_part(engine tkd_engine)

add_executable(server_model server/engine/model_main.c)
target_link_libraries(server_model PRIVATE server_engine_support tickwheel_flags)
math(EXPR server_ops "${TICKWHEEL_MODEL_OPS} / 4")
add_test(NAME server_model COMMAND server_model --ops ${server_ops})

if(TARGET tickwheeld)
  include(server/net/net.cmake)
endif()

# Random scripts, played to the server and to Debian's beanstalkd.  The long run
# is ./check server-differential.
find_program(BEANSTALKD beanstalkd)
set(differential ${CMAKE_CURRENT_SOURCE_DIR}/server/differential)
if(TARGET tickwheeld AND BEANSTALKD AND CMAKE_BUILD_TYPE STREQUAL "Release")
  add_test(NAME server_differential_tools
    COMMAND python3 ${differential}/differential_test.py)
  add_test(NAME server_differential COMMAND python3
    ${differential}/differential.py --ours $<TARGET_FILE:tickwheeld>
    --theirs ${BEANSTALKD} --commands 20000 --seed 1)
  if(TARGET tkd_rocksdb)
    add_test(NAME server_differential_durable COMMAND python3
      ${differential}/differential.py --ours $<TARGET_FILE:tickwheeld>
      --theirs ${BEANSTALKD} --durable --commands 20000 --seed 1)
  endif()
endif()

# A store on disk, where RocksDB is found.
if(TARGET tkd_rocksdb)
  add_server_part(store tkd_rocksdb)
  target_link_libraries(server_store_rocks_test PRIVATE PkgConfig::ROCKSDB)
endif()

# The engine on that store.
if(TARGET tkd_rocksdb AND TARGET server_engine_support)
  add_server_part(durable tkd_rocksdb server_engine_support
    server_store_support)
endif()

# The real server, killed in a loop, and beside calls of the system that fail.
if(TARGET tkd_rocksdb AND TARGET tickwheeld AND
   CMAKE_BUILD_TYPE STREQUAL "Release")
  foreach(name kill refusal)
    add_test(NAME server_durable_${name}
      COMMAND python3
              ${CMAKE_CURRENT_SOURCE_DIR}/server/durable/${name}_test.py
              $<TARGET_FILE:tickwheeld>)
  endforeach()
  add_library(server_faulty_preload MODULE server/durable/faulty_preload.c)
  target_link_libraries(server_faulty_preload PRIVATE ${CMAKE_DL_LIBS}
    tickwheel_flags)
  set_target_properties(server_faulty_preload PROPERTIES
    C_VISIBILITY_PRESET default)
  add_test(NAME server_durable_fault
    COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/server/durable/fault_test.py
            $<TARGET_FILE:tickwheeld> $<TARGET_FILE:server_faulty_preload>)
endif()
