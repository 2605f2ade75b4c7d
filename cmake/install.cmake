# What `cmake --install` puts where: headers, libraries, what finds them, and
# the command.
include(CMakePackageConfigHelpers)

install(FILES include/tickwheel.h TYPE INCLUDE)
install(DIRECTORY include/tickwheel TYPE INCLUDE)
install(TARGETS tickwheel_core_static tickwheel_core_shared tickwheel_static
  tickwheel_shared EXPORT tickwheel)
if(TICKWHEEL_TOOLS)
  install(TARGETS tickwheel)
  install(FILES cli/completion.bash RENAME tickwheel
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endif()

if(TARGET tickwheeld)
  install(TARGETS tickwheeld DESTINATION ${CMAKE_INSTALL_SBINDIR})
endif()

# find_package(tickwheel CONFIG)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/tickwheel)
install(EXPORT tickwheel NAMESPACE tickwheel:: FILE tickwheel-targets.cmake
  DESTINATION ${package})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/tickwheel-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES cmake/tickwheel-config.cmake
  ${PROJECT_BINARY_DIR}/tickwheel-config-version.cmake DESTINATION ${package})

# pkg-config.  The prefix is told from where the file is, so that the tree can
# be moved; unless one of its directories was given as an absolute one.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR
   IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(pc_prefix ${CMAKE_INSTALL_PREFIX})
  set(pc_libdir ${CMAKE_INSTALL_FULL_LIBDIR})
  set(pc_includedir ${CMAKE_INSTALL_FULL_INCLUDEDIR})
else()
  file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" up "${up}")
  set(pc_prefix "\${pcfiledir}/${up}")
  set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
foreach(name tickwheel tickwheel-core)
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
