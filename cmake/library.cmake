# libcloche.so for programs of others: they see what include/cloche/ declares and nothing else. Included by
# src/CMakeLists.txt.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# A release with another number cannot be used by programs that were linked before (include/cloche/version.h).
set(CLOCHE_LIBRARY_ABI 1)

# Debian's archives are not for a shared library, but that of libcrypto is; of re2 and yaml-cpp it takes the libraries.
find_library(RE2_LIBRARY re2 REQUIRED)
find_library(YAML_CPP_LIBRARY yaml-cpp REQUIRED)

# Where cloche-jail is, seen from the library, as installed; as built it is beside it.
file(RELATIVE_PATH from_library_to_bin ${CMAKE_INSTALL_FULL_LIBDIR} ${CMAKE_INSTALL_FULL_BINDIR})
file(RELATIVE_PATH from_library_to_libexec ${CMAKE_INSTALL_FULL_LIBDIR} ${CMAKE_INSTALL_FULL_LIBEXECDIR}/cloche)

# The sources of the public interface are compiled once more, to be seen from outside and to know that this is the
# library; the rooms beneath come from the archive, in which nothing is.
file(GLOB interface_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/doors/library/*.cpp)
list(FILTER interface_sources EXCLUDE REGEX "_test\\.cpp$")
set(exported ${CMAKE_SOURCE_DIR}/cmake/libcloche.map)
add_library(cloche_shared SHARED ${interface_sources})
add_dependencies(cloche_shared cloche_library)
set_target_properties(cloche_shared PROPERTIES
    OUTPUT_NAME cloche EXPORT_NAME cloche SOVERSION ${CLOCHE_LIBRARY_ABI} VERSION ${CLOCHE_LIBRARY_ABI}
    LIBRARY_OUTPUT_DIRECTORY ${CLOCHE_BIN_DIR} LINK_DEPENDS ${exported} POSITION_INDEPENDENT_CODE ON)
target_include_directories(cloche_shared PRIVATE ${CMAKE_SOURCE_DIR}/src
                                         PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
                                                $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_definitions(cloche_shared PRIVATE CLOCHE_INSIDE CLOCHE_VERSION="${PROJECT_VERSION}"
                                                 CLOCHE_PROGRAMS_FROM_LIBRARY="${from_library_to_libexec}"
                                                 CLOCHE_COMMAND_FROM_LIBRARY="${from_library_to_bin}")
file(RELATIVE_PATH library_below_prefix ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR}/libcloche.so.${CLOCHE_LIBRARY_ABI})
set_property(SOURCE ${CMAKE_SOURCE_DIR}/src/gateway/configuration/installation.cpp APPEND PROPERTY COMPILE_DEFINITIONS
             CLOCHE_LIBRARY_BELOW_PREFIX="${library_below_prefix}")
target_link_libraries(cloche_shared PRIVATE $<BUILD_INTERFACE:hardened> $<TARGET_FILE:cloche_library> ${RE2_LIBRARY}
                                            ${YAML_CPP_LIBRARY} ${CRYPTO_ARCHIVE})
target_link_options(cloche_shared PRIVATE -Wl,--version-script=${exported} -Wl,--gc-sections)
if(CLOCHE_SANITIZE)
  target_compile_options(cloche_shared PRIVATE -fsanitize=address,undefined)
  target_link_options(cloche_shared PRIVATE -fsanitize=address,undefined)
else()
  target_link_options(cloche_shared PRIVATE -Wl,--no-undefined)
endif()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/cloche)
install(TARGETS cloche_shared EXPORT cloche_library_export
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/cloche DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(EXPORT cloche_library_export NAMESPACE cloche:: FILE cloche-config.cmake DESTINATION ${package_folder}
        COMPONENT development)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/cloche-config-version.cmake COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH from_pkgconfig_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${CMAKE_SOURCE_DIR}/cmake/cloche.pc.in ${CMAKE_CURRENT_BINARY_DIR}/cloche.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/cloche-config-version.cmake DESTINATION ${package_folder} COMPONENT development)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/cloche.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
