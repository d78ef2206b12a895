#include "store/agent_tools_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/scratch.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

class AgentToolsFile : public testing::Test {
 protected:
  AgentToolsFile() {
    fs::create_directories(share);
    fs::create_directories(root + "/ws");
    fs::copy(CLOCHE_SOURCE_DIR "/share/agent_tools.json", share);
  }
  bool loads(const std::string& workspace) const {
    return load_agent_tools(root + "/prefix/bin/cloche", root + workspace).ok();
  }

  Scratch scratch;
  std::string root = fs::canonical(scratch.path).string();
  std::string share = root + "/prefix/share/cloche";
};

TEST_F(AgentToolsFile, WithoutItThereIsNoTable) {
  EXPECT_TRUE(loads("/ws"));
  std::ofstream(share + "/agent_tools.json") << "{";
  EXPECT_FALSE(loads("/ws"));
  std::ofstream(share + "/agent_tools.json") << std::string(2 << 20, ' ');
  EXPECT_FALSE(loads("/ws"));
  fs::remove(share + "/agent_tools.json");
  EXPECT_FALSE(loads("/ws"));
}

TEST_F(AgentToolsFile, OneInTheWorkspaceIsRefusedUnlessTheProgramIsThereToo) {
  EXPECT_FALSE(loads("/prefix/share"));
  EXPECT_TRUE(loads("/prefix"));
  fs::rename(share + "/agent_tools.json", root + "/ws/agent_tools.json");
  fs::create_symlink(root + "/ws/agent_tools.json", share + "/agent_tools.json");
  EXPECT_FALSE(loads("/ws")) << "by a link";
}

}  // namespace
}  // namespace cloche
