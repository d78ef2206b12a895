# cmake -DPROGRAM=FILE -DREADELF=readelf -P no_tls.cmake: removes FILE and fails when it has thread-local storage.
execute_process(COMMAND ${READELF} --program-headers --wide ${PROGRAM}
                OUTPUT_VARIABLE headers RESULT_VARIABLE failed)
if(failed OR NOT headers MATCHES "LOAD")
  file(REMOVE ${PROGRAM})
  message(FATAL_ERROR "the program headers of ${PROGRAM} cannot be read with ${READELF}")
endif()
if(headers MATCHES "\n +TLS ")
  file(REMOVE ${PROGRAM})
  message(FATAL_ERROR "${PROGRAM} has thread-local storage, and nothing sets that up: a function of glibc that sets "
                      "errno was linked; add the system call to src/nolibc (look for it with nm and the link map)")
endif()
