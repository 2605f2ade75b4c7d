# The man pages: of section 3 from the headers, one each, and of the rest from
# docs/man.  Without scdoc or Python there are none.
find_program(TICKWHEEL_SCDOC scdoc)
mark_as_advanced(TICKWHEEL_SCDOC)
find_package(Python3 3.9 COMPONENTS Interpreter QUIET)
if(NOT TICKWHEEL_SCDOC OR NOT Python3_Interpreter_FOUND)
  message(STATUS "No man pages: they need scdoc and Python 3.9")
  return()
endif()

set(manual ${PROJECT_SOURCE_DIR}/scripts/manual)
set(man ${PROJECT_BINARY_DIR}/man)
file(MAKE_DIRECTORY ${man})

# A page names functions of other headers, and the examples.
file(GLOB headers CONFIGURE_DEPENDS include/tickwheel/*.h)
file(GLOB examples CONFIGURE_DEPENDS examples/*.c)
set(version_header ${PROJECT_SOURCE_DIR}/include/tickwheel/version.h)

function(tickwheel_man_page source page)
  add_custom_command(OUTPUT ${man}/${page}
    COMMAND ${Python3_EXECUTABLE} ${manual} render --scdoc ${TICKWHEEL_SCDOC}
            ${source} ${man}/${page}
    DEPENDS ${source} ${manual} ${ARGN}
    COMMENT "Writing man/${page}" VERBATIM)
endfunction()

set(man3 "")
foreach(header ${headers})
  get_filename_component(name ${header} NAME_WE)
  if(NOT name STREQUAL "export")
    tickwheel_man_page(${header} tkw_${name}.3 ${headers} ${examples})
    list(APPEND man3 ${man}/tkw_${name}.3)
  endif()
endforeach()
foreach(page tickwheel.1 tickwheel.7 tickwheeld.8)
  tickwheel_man_page(${PROJECT_SOURCE_DIR}/docs/man/${page}.scd ${page}
    ${version_header})
endforeach()

# For each function a page of its name, which leads to the one it is on.
add_custom_command(OUTPUT ${man}/aliases.stamp
  COMMAND ${Python3_EXECUTABLE} ${manual} aliases --write ${man}/aliases
  COMMAND ${CMAKE_COMMAND} -E touch ${man}/aliases.stamp
  DEPENDS ${headers} ${manual}
  COMMENT "Writing man/aliases" VERBATIM)

add_custom_target(tickwheel_man ALL DEPENDS ${man3} ${man}/tickwheel.1 ${man}/tickwheel.7
  ${man}/tickwheeld.8 ${man}/aliases.stamp)

if(TICKWHEEL_INSTALL)
  install(FILES ${man3} DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
  install(DIRECTORY ${man}/aliases/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
  install(FILES ${man}/tickwheel.7 DESTINATION ${CMAKE_INSTALL_MANDIR}/man7)
  if(TICKWHEEL_TOOLS)
    install(FILES ${man}/tickwheel.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  endif()
  if(TARGET tickwheeld)
    install(FILES ${man}/tickwheeld.8 DESTINATION ${CMAKE_INSTALL_MANDIR}/man8)
  endif()
endif()
