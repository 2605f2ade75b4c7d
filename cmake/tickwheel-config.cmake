# find_package(tickwheel CONFIG) makes two targets:
#
#     tickwheel::core        dial, wheel, pool, idle: no threads, no clock
#     tickwheel::tickwheel   all of it, the core included
#
# They are the shared libraries, or the static ones if tickwheel_STATIC is set.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/tickwheel-targets.cmake)

set(tickwheel_kind shared)
if(tickwheel_STATIC)
  set(tickwheel_kind static)
endif()
foreach(name core tickwheel)
  if(NOT TARGET tickwheel::${name})
    add_library(tickwheel::${name} INTERFACE IMPORTED)
    target_link_libraries(tickwheel::${name} INTERFACE
      tickwheel::${name}_${tickwheel_kind})
  endif()
endforeach()
unset(tickwheel_kind)
