// What a plan has of a network.
#include "policy/plan/plan_run_fixture.hpp"

namespace cloche {
namespace {

using namespace plan_run_fixture;

struct NetworkCase {
  const char* what;
  RunRequest request;
  const char* complaint;  // nullptr: planned
};

RunRequest sharing(Backend backend, Profile profile = Profile::workspace_write) {
  RunRequest request = plain_request();
  request.network = Network::of_host;
  request.profile = profile;
  request.level = level_of(backend);
  request.backend = backend;
  return request;
}

RunRequest reaching(std::vector<std::string> hosts, Backend backend = Backend::native) {
  RunRequest request = sharing(backend);
  request.network = Network::own;
  request.hosts = std::move(hosts);
  request.own_ports = {8080};
  return request;
}

TEST(PlanRun, JudgesTheNetwork) {
  RunRequest both = sharing(Backend::native);
  both.hosts = {"a.org:443"};
  const NetworkCase rows[] = {
      {"by name", reaching({"a.org:443", "localhost:5432", "a.org:8080"}), nullptr},
      {"Cloche's own listener", reaching({"a.org:443", "localhost:8080"}), "Cloche itself listens there"},
      {"by name without a namespace", reaching({"a.org:443"}, Backend::subprocess), "--net-host gives"},
      {"by name in a box", reaching({"a.org:443"}, Backend::runc),
       "use --isolation namespace, whose network gate can; --net-host gives"},
      {"by name in bubblewrap", reaching({"a.org:443"}, Backend::bwrap),
       "use --backend native, whose network gate can; --net-host gives"},
      {"the host's", sharing(Backend::native), nullptr},
      {"the host's in bubblewrap", sharing(Backend::bwrap), nullptr},
      {"the host's without a box", sharing(Backend::subprocess), nullptr},
      {"the host's in a container", sharing(Backend::runc), nullptr},
      {"the host's in gVisor", sharing(Backend::runsc), "a box of runsc cannot"},
      {"the host's with names", both, "in which no host can be named"},
      {"the host's to read alone", sharing(Backend::native, Profile::readonly), "has no network"},
      {"the host's under the default", sharing(Backend::native, Profile::workspace_write_no_network),
       "has no network"},
  };
  for (const auto& row : rows) {
    const auto plan = plan_run(row.request, plain_host());
    EXPECT_EQ(plan.ok(), row.complaint == nullptr) << row.what;
    if (!plan.ok() && row.complaint != nullptr) {
      EXPECT_NE(describe(plan.error()).find(row.complaint), std::string::npos) << describe(plan.error());
    }
  }
}

// Whom it cannot help.
TEST(PlanRun, TheHostsNetworkIsOfferedToThoseWhoCanHaveIt) {
  RunRequest call = reaching({"a.org:443"}, Backend::subprocess);
  call.tool_call = true;
  for (const RunRequest& request : {reaching({"a.org:443"}, Backend::runsc), call}) {
    const auto plan = plan_run(request, plain_host());
    ASSERT_FALSE(plan.ok());
    EXPECT_EQ(describe(plan.error()).find("--net-host"), std::string::npos) << describe(plan.error());
  }
}

TEST(PlanRun, AGrantOverTheFilesOfNamesHasNoNetworkByName) {
  const struct {
    const char* source;
    const char* target;
    bool refused;
  } rows[] = {{"/etc", "", true},
              {"/etc/hosts", "", true},
              {"/srv/x", "/etc/resolv.conf", true},
              {"/etc/ssl", "", false},
              {"/etc", "/srv/etc", false}};
  for (const auto& row : rows) {
    RunRequest request = reaching({"a.org:443"});
    request.grants = {{.source = row.source, .target = row.target}};
    Facts facts = plain_host();
    facts.grants = {directory(row.source)};
    const auto plan = plan_run(request, facts);
    EXPECT_EQ(plan.ok(), !row.refused) << row.source;
    if (!plan.ok()) {
      EXPECT_NE(describe(plan.error()).find("no name would be found"), std::string::npos) << row.source;
    }
    request.hosts.clear();
    EXPECT_TRUE(plan_run(request, facts).ok()) << row.source << " without a network";
    // The host's own files are as good where they are no links to somewhere else.
    request.network = Network::of_host;
    facts.hosts_file = {.kind = Kind::file, .path = "/etc/hosts"};
    facts.resolver_file = {.kind = Kind::file, .path = "/etc/resolv.conf"};
    EXPECT_TRUE(plan_run(request, facts).ok()) << row.source << " with the host's";
    facts.resolver_file.path = "/run/resolve/stub.conf";
    const bool over_resolver = row.refused && std::string(row.source) != "/etc/hosts";
    EXPECT_EQ(plan_run(request, facts).ok(), !over_resolver) << row.source << " with the host's, by a link";
  }
}

// Without a network namespace another mechanism must keep the host's abstract sockets away.
TEST(PlanRun, TheHostsNetworkTakesOneLayerAndAsksForAnother) {
  for (const Backend backend : {Backend::native, Backend::bwrap, Backend::subprocess, Backend::runc}) {
    const RunRequest request = sharing(backend);
    const auto required = required_of(request);
    const auto count = [&](LayerId id) { return std::count(required.begin(), required.end(), id); };
    EXPECT_EQ(count(LayerId::net_namespace), 0) << name_of(backend);
    EXPECT_EQ(count(LayerId::landlock_scope), 1) << name_of(backend);
    EXPECT_EQ(plan_run(request, plain_host()).value().required, required) << name_of(backend);
  }
  EXPECT_EQ(required_of(plain_request()), required_by(IsolationLevel::namespaces));
}

TEST(PlanRun, WithTheHostsNetworkNamesAreFoundAsOnTheHost) {
  Facts facts = plain_host();
  facts.hosts_file = {.kind = Kind::file, .path = "/etc/hosts"};
  facts.resolver_file = {.kind = Kind::file, .path = "/run/resolve/stub.conf"};
  const auto plan = plan_run(sharing(Backend::native), facts);
  ASSERT_TRUE(plan.ok());
  const ViewEntry* resolver = find(plan.value(), "/etc/resolv.conf");
  ASSERT_NE(resolver, nullptr);
  EXPECT_EQ(resolver->source, "/run/resolve/stub.conf");
  EXPECT_EQ(resolver->access, Access::read);
  EXPECT_EQ(find(plan.value(), "/etc/hosts")->source, "/etc/hosts");
  EXPECT_EQ(find(plan_run(sharing(Backend::native), plain_host()).value(), "/etc/resolv.conf"), nullptr);
  EXPECT_NE(to_json(plan.value()).find(R"("network":"host")"), std::string::npos);
  EXPECT_EQ(to_json(plan_run(plain_request(), facts).value()).find(R"("network":)"), std::string::npos);
}

}  // namespace
}  // namespace cloche
