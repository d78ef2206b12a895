// The sandbox's own network: loopback, the socket of a resolver, and, where the plan has a network by name,
// the sockets that stand for the world. They are bound here, while there are capabilities for it, and sent
// out: the process that answers on them is outside, and inside there is no helper and no way around.
#pragma once

#include "jail/core/wire.hpp"

namespace cloche::jail {

void raise_loopback();

// Routes the inside ranges (model/network.hpp) to loopback where a listener is in them, binds the plan's
// listeners and sends them to the supervisor. IPv6 may be missing on a host: then its listeners are sockets
// that no process can reach.
void open_listeners(const wire::Plan& plan);

}  // namespace cloche::jail
