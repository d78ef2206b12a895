#include "base/lists.hpp"
#include "policy/plan/plan_run.hpp"

#include <algorithm>

#include "model/network.hpp"
#include "policy/plan/view_entries.hpp"

namespace cloche {
namespace {

bool is_own_listener(const RunRequest& request, const HostEntry& entry) {
  const auto& own = request.own_ports;
  return entry.is_localhost() && contains(own, entry.port);
}

// Offered to those who can have it: an operator's own command, in a box that takes it.
std::string or_the_hosts_network(const RunRequest& request) {
  if (request.tool_call || backend_of(request) == Backend::runsc) return "";
  return "; --net-host gives the host's whole network";
}

// What a network by name needs, and who has none.
Result<void> judge_named_network(const RunRequest& request) {
  if (request.hosts.empty()) return {};
  if (request.profile != Profile::workspace_write) {
    return refusal("the sandbox profile " + std::string(name_of(request.profile)) + " has no network, and " +
                       request.hosts.front() + " is asked for",
                   "use --profile workspace-write, or leave the network out");
  }
  for (const auto& host : request.hosts) {
    if (is_own_listener(request, host_entry(host)))
      return refusal(host + " cannot be reached: Cloche itself listens there, and no call may speak to it",
                     "leave it out");
  }
  const Backend backend = backend_of(request);
  if (backend == Backend::subprocess || backend == Backend::none) {
    return refusal(request.hosts.front() +
                       " cannot be reached: without a network namespace of its own a command " +
                       "has the host's whole network or none, and here it has none",
                   "use --isolation namespace, or leave the network out" + or_the_hosts_network(request));
  }
  if (backend != Backend::native) {
    return refusal(request.hosts.front() + " cannot be reached: a box of " + std::string(name_of(backend)) +
                       " has no network, since no gate outside could tell names apart",
                   std::string("use ") +
                       (backend == Backend::bwrap ? "--backend native" : "--isolation namespace") +
                       ", whose network gate can" + or_the_hosts_network(request));
  }
  if (request.view == View::host) {
    return refusal("--view host shows the host's own /etc/resolv.conf, so that no name would be found",
                   "leave --view out");
  }
  return {};
}

// What the host's own network needs, and who has none.
Result<void> judge_host_network(const RunRequest& request) {
  if (request.network != Network::of_host) return {};
  if (!request.hosts.empty()) {
    return usage_error("--net-host is the host's whole network, in which no host can be named",
                       "leave --net and --net-any out, or --net-host");
  }
  if (request.profile != Profile::workspace_write) {
    return refusal("the sandbox profile " + std::string(name_of(request.profile)) +
                       " has no network, and --net-host is asked for",
                   "use --profile workspace-write, or leave --net-host out");
  }
  if (backend_of(request) == Backend::runsc) {
    return refusal(
        "a box of runsc cannot have the host's network: its kernel has one of its own, and none out",
        "use --isolation container or lower, or leave --net-host out");
  }
  return {};
}

// What published ports need, and who has none.
Result<void> judge_published(const RunRequest& request) {
  if (request.published.empty()) return {};
  const std::string said = "--publish " + to_text(request.published.front());
  if (request.network == Network::of_host)
    return usage_error(said + " leads into a network of the command's own, and --net-host is the host's",
                       "leave one of the two out: with --net-host its servers are the host's already");
  const Backend backend = backend_of(request);
  if (backend != Backend::native)
    return refusal(said + " needs Cloche's own network namespace, and " + std::string(name_of(backend)) +
                       " has none that can be reached",
                   "use --isolation namespace with --backend native, or leave --publish out");
  return {};
}

// The files by which names are found are ours with a network by name, and with the host's those that its
// links lead to. In a tree of the operator's there can be neither.
Result<void> judge_name_files(const RunRequest& request, const Facts& facts) {
  const bool host = request.network == Network::of_host;
  if (request.view == View::host || (request.hosts.empty() && !host)) return {};
  const struct {
    const char* file;
    const std::string& found;
  } rows[] = {{"/etc/hosts", facts.hosts_file.path}, {"/etc/resolv.conf", facts.resolver_file.path}};
  for (const auto& [file, found] : rows) {
    const Grant* over = view::granted_over(request, facts, file);
    if (over == nullptr || (host && found == file)) continue;
    return refusal((over->writable ? "--rw " : "--ro ") + over->source + " puts another " + file +
                       " in the place of the one that this network needs, so that no name would be found",
                   "grant what is needed beside it, or leave the network out");
  }
  return {};
}

}  // namespace

Result<void> judge_network(const RunRequest& request, const Facts& facts) {
  TRY(judge_named_network(request));
  TRY(judge_host_network(request));
  TRY(judge_published(request));
  return judge_name_files(request, facts);
}

}  // namespace cloche
