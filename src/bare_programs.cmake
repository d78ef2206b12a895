# The programs that have no library but one of ours, and the probe, which has libc alone.

# What the programs below have for a C library (nolibc/call.hpp says why).
set(bare_compile -fno-stack-protector -fno-pic -fno-pie -fno-exceptions -fno-rtti -fno-threadsafe-statics
                 -fno-asynchronous-unwind-tables -U_FORTIFY_SOURCE -ffunction-sections -fdata-sections)
set(bare_link -static -nostdlib -nostartfiles -Wl,--gc-sections -Wl,--build-id=none -Wl,-z,noexecstack
              -Wl,-z,noseparate-code)
add_library(nolibc STATIC nolibc/bytes.cpp nolibc/calls.cpp nolibc/heap.cpp nolibc/network.cpp nolibc/process.cpp
                          nolibc/runtime.cpp nolibc/start.cpp)
add_library(bare INTERFACE)
target_compile_options(bare INTERFACE -ffreestanding ${bare_compile})
target_link_options(bare INTERFACE ${bare_link})
target_link_libraries(nolibc PRIVATE bare)

# Nothing sets up thread-local storage for these programs: a function of glibc that sets errno would write through a
# pointer that was never set. The link fails when one got in.
function(refuse_thread_local_storage program)
  add_custom_command(TARGET ${program} POST_BUILD VERBATIM
      COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${program}> -DREADELF=${CMAKE_READELF}
              -P ${CMAKE_SOURCE_DIR}/tools/no_tls.cmake)
endfunction()

# Who answers for a call's network: it has to be there when the first packet is.
add_executable(cloche-egress egress/proxy/main.cpp)
if(CLOCHE_SANITIZE)
  target_link_libraries(cloche-egress PRIVATE hardened cloche_library)
else()
  target_sources(cloche-egress PRIVATE
      base/sys/fd.cpp
      base/json/json_writer.cpp
      base/sys/path.cpp
      base/result.cpp
      base/text/visible_text.cpp
      base/sys/sys.cpp
      egress/proxy/address_guard.cpp
      egress/protocol/client_hello.cpp
      egress/proxy/connection.cpp
      egress/proxy/connection_dial.cpp
      egress/dns/dns_message.cpp
      egress/dns/dns_resolver.cpp
      egress/dns/dns_service.cpp
      egress/dns/dns_stub.cpp
      egress/protocol/http_head.cpp
      egress/dns/lookup.cpp
      egress/proxy/loop.cpp
      egress/dns/name_addresses.cpp
      egress/proxy/published_ports.cpp
      egress/proxy/relay.cpp
      egress/protocol/request_stream.cpp
      egress/dns/resolver_files.cpp
      egress/proxy/routes.cpp
      egress/proxy/server.cpp
      egress/proxy/settings.cpp
      egress/proxy/sockets.cpp
      egress/proxy/gateway_channel.cpp
      model/network.cpp
      policy/hosts/address_range.cpp
      policy/hosts/host_name.cpp
      policy/hosts/host_patterns.cpp
      policy/hosts/ip_address.cpp)
  # The string templates are instantiated here, because libstdc++'s ready ones bring iostreams and locales along. Of
  # libstdc++ come the balancing of trees, of libc the names of errors: pure code and tables.
  target_compile_definitions(cloche-egress PRIVATE _GLIBCXX_EXTERN_TEMPLATE=0 _GLIBCXX_ASSERTIONS)
  target_compile_options(cloche-egress PRIVATE ${bare_compile} -O2)
  target_link_options(cloche-egress PRIVATE ${bare_link})
  target_link_libraries(cloche-egress PRIVATE nolibc -lstdc++ -lc -lgcc)
  refuse_thread_local_storage(cloche-egress)
endif()

# The jail: no library at all. The probe: libc alone.
add_executable(cloche-jail
    jail/main.cpp
    jail/core/command.cpp
    jail/core/keeper.cpp
    jail/core/keeper_exit.cpp
    jail/core/lock.cpp
    jail/core/overlay.cpp
    jail/core/plan_transfer.cpp
    jail/core/report.cpp
    jail/core/sandbox_network.cpp
    jail/core/steps.cpp
    jail/core/view.cpp
    jail/boxes/box_keeper.cpp
    jail/boxes/command_within.cpp
    jail/boxes/descendants.cpp
    jail/boxes/inner_main.cpp
    jail/boxes/inotify_proxy.cpp
    jail/boxes/scheduling_proxy.cpp
    jail/boxes/signal_proxy.cpp
    jail/boxes/warden.cpp
    jail/boxes/warden_lock.cpp
    jail/boxes/warden_object.cpp
    jail/boxes/warden_peer.cpp
    jail/core/wire_decode.cpp)
target_link_libraries(cloche-jail PRIVATE bare nolibc)
refuse_thread_local_storage(cloche-jail)
add_executable(cloche-probe jail/probe.cpp)
target_compile_options(cloche-probe PRIVATE -fno-exceptions -fno-rtti)
target_link_options(cloche-probe PRIVATE -static-pie)
target_link_libraries(cloche-probe PRIVATE hardened)
if(CLOCHE_SANITIZE)
  # A trap instead of a runtime: there is no reader for a message in there.
  foreach(program cloche-jail cloche-probe)
    target_compile_options(${program} PRIVATE -fsanitize=undefined -fsanitize-undefined-trap-on-error
                                              $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)  # needs type information
  endforeach()
endif()
