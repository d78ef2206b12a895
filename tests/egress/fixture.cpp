#include "egress/fixture.hpp"

#include <algorithm>
#include <cmath>

namespace cloche::test {
namespace {

bool any_has(const std::vector<std::string>& texts, const std::string& part) {
  return std::any_of(texts.begin(), texts.end(), [&](const auto& text) { return contains(text, part); });
}

std::string with_name(std::string text, const std::string& name) {
  for (size_t at = text.find("%H"); at != std::string::npos; at = text.find("%H", at))
    text.replace(at, 2, name);
  return text;
}

}  // namespace

HostUsed Called::use_of(const std::string& host) const {
  const auto at = used.find(host);
  return at == used.end() ? HostUsed{} : at->second;
}

bool Called::denied(const std::string& part) const { return any_has(denials, part); }
bool Called::failed(const std::string& part) const { return any_has(failures, part); }

std::ostream& operator<<(std::ostream& out, const Called& called) {
  out << called.outcome << " " << called.exit_code << " after " << called.ran.seconds
      << " s\nstdout: " << called.out.substr(0, 2000) << "\nstderr: " << called.err.substr(0, 2000)
      << "\ncloche: " << called.ran.err.substr(0, 2000) << "\n";
  for (const auto& text : called.denials) out << "denied: " << text << "\n";
  for (const auto& text : called.failures) out << "failed: " << text << "\n";
  for (const auto& [host, use] : called.used)
    out << "used: " << host << " " << use.connections << " " << use.bytes_out << " " << use.bytes_in << "\n";
  return out;
}

Command Egress::command_of(const Words& hosts, const Words& argv, const Words& flags, Command how) {
  Words all = {"--json"};
  for (const auto& host : hosts) {
    if (host == "net-any") {
      all.emplace_back("--net-any");
    } else {
      all.insert(all.end(), {"--net", host});
    }
  }
  all.insert(all.end(), flags.begin(), flags.end());
  return under(all, argv, std::move(how));
}

Called Egress::read(const Ran& ran) {
  Called called{.ran = ran};
  const auto json = parse_json(ran.out);
  if (!json || !json->is(Json::Kind::object)) {
    ADD_FAILURE() << "not one JSON object: " << ran.out.substr(0, 2000) << "\nstderr: " << ran.err;
    return called;
  }
  const Json& outcome = *json;
  called.outcome = outcome["outcome"].string;
  called.exit_code = static_cast<int>(std::lround(outcome["exit_code"].number));
  called.out = outcome["stdout"].string;
  called.err = outcome["stderr"].string;
  for (const auto& denial : outcome["denials"].array) called.denials.push_back(denial["what"].string);
  for (const auto& failure : outcome["network_failures"].array) called.failures.push_back(failure.string);
  for (const auto& use : outcome["network"].array) {
    const std::string host = use["host"].string + ":" + std::to_string(std::lround(use["port"].number));
    called.used[host] = {use["connections"].number, use["bytes_out"].number, use["bytes_in"].number};
  }
  return called;
}

Called Egress::call(const Words& hosts, const Words& argv, const Words& flags, const Command& how) {
  return read(run(command_of(hosts, argv, flags, how)));
}

Called Egress::shell(const Words& hosts, const std::string& script, const Words& flags) {
  return call(hosts, {"bash", "-c", script}, flags);
}

std::string Egress::client_program() {
  const fs::path path = workspace() / "client";
  if (!fs::exists(path)) file("client", read_file(built("egress_client")), 0755);
  return path;
}

Called Egress::client(const Words& hosts, const Words& words, const Words& flags, const Command& how) {
  Words argv = {client_program()};
  argv.insert(argv.end(), words.begin(), words.end());
  return call(hosts, argv, flags, how);
}

Egress::Words Egress::with_authority() {
  const std::string path = file("ca.pem", stage().web.authority());
  Words flags;
  for (const char* name : {"SSL_CERT_FILE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO"})
    flags.insert(flags.end(), {"-e", std::string(name) + "=" + path});
  return flags;
}

void Shapes::expect(TcpServer& recorder, uint16_t port, const std::vector<Shape>& shapes) {
  const std::string zone = "t" + std::to_string(++tables_) + ".shapes.cloche.test";
  const size_t before = recorder.recorded().size();
  Words words = {"talk"};
  std::vector<std::string> names;
  for (const auto& shape : shapes) {
    names.push_back("r" + std::to_string(names.size()) + "." + zone);
    stage().dns.tell(names.back(), tool_address);
    const std::string head = names.back() + " " + std::to_string(port) + " " + std::to_string(shape.piece) +
                             " 0 " + (shape.half ? "1" : "0") + "\n";
    words.push_back(file(names.back(), head + with_name(shape.bytes, names.back())));
  }
  const Called called = client({"*." + zone + ":" + std::to_string(port)}, words);
  ASSERT_EQ(called.exit_code, 0) << called;
  std::vector<std::string> arrived = recorder.recorded();
  arrived.erase(arrived.begin(), arrived.begin() + static_cast<ptrdiff_t>(before));
  size_t expected = 0;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const Shape& shape = shapes[i];
    SCOPED_TRACE(shape.what);
    const bool passes = *shape.refused == '\0';
    const std::string refusal = "egress: connect to " + names[i] + ":" + std::to_string(port) + " refused: ";
    EXPECT_EQ(called.denied(refusal), !passes) << called;
    EXPECT_EQ(called.denied(refusal + shape.refused), !passes) << called;
    EXPECT_EQ(contains(called.out, names[i] + " seen seen\n"), passes) << called;
    if (!passes) continue;
    ++expected;
    const std::string wanted = with_name(shape.bytes, names[i]);
    EXPECT_TRUE(soon([&] {
      const auto now = recorder.recorded();
      return std::find(now.begin(), now.end(), wanted) != now.end();
    })) << "it did not arrive as it was sent";
  }
  EXPECT_EQ(recorder.recorded().size() - before, expected) << "somebody got through";
}

}  // namespace cloche::test
