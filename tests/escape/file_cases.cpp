// Rows about files, mode bits and descriptors.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>

#include "escape/cases.hpp"

namespace cloche::test {
namespace {

constexpr unsigned nobody_id = 65534;
const char* const only_root_reads = "the file is root's even without Cloche";
const char* const only_root_writes = "the folder is root's even without Cloche";

void secret_as_argument(Stage& stage) { stage.arguments = {stage.write_secret().string()}; }

// A file of the host in a folder where everybody may look.
std::function<void(Stage&)> planted_in(const std::string& folder) {
  return [folder](Stage& stage) {
    const fs::path path = fs::path(folder) / ("escape-" + stage.token);
    std::ofstream(path) << "secret " << stage.token;
    stage.keep({nullptr, [path](void*) { fs::remove(path); }});
    stage.arguments = {path.string()};
  };
}

std::function<void(Stage&)> creating_in(const std::string& folder) {
  return [folder](Stage& stage) {
    const fs::path path = fs::path(folder) / ("escape-" + stage.token);
    stage.watch_appearance_of(path);
    stage.arguments = {path.string()};
  };
}

void first_file_of_root_home(Stage& stage) {
  for (const auto& entry : fs::directory_iterator("/root")) {
    if (entry.is_regular_file() && entry.file_size() > 0) stage.arguments.push_back(entry.path().string());
  }
}

void last_host_account(Stage& stage) {
  std::ifstream accounts("/etc/passwd");
  std::string last;
  for (std::string line; std::getline(accounts, line);) {
    const std::string name = line.substr(0, line.find(':'));
    if (name != "root" && name != "nobody") last = line;
  }
  stage.arguments = {"/etc/passwd", last};
}

void handle_of_secret(Stage& stage) {
  const fs::path secret = stage.write_secret();
  alignas(file_handle) char bytes[sizeof(file_handle) + MAX_HANDLE_SZ] = {};
  auto* handle = reinterpret_cast<file_handle*>(bytes);
  handle->handle_bytes = MAX_HANDLE_SZ;
  int mount_id = 0;
  if (name_to_handle_at(AT_FDCWD, secret.c_str(), handle, &mount_id, 0) != 0)
    throw std::runtime_error("handle");
  std::string hex;
  for (unsigned i = 0; i < handle->handle_bytes; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[sizeof(file_handle) + i]);
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  stage.arguments = {std::to_string(handle->handle_type), hex};
}

void preexisting_link(Stage& stage) {
  const fs::path secret = stage.write_secret("outside/secret.txt");
  fs::create_directory_symlink(secret.parent_path(), stage.scene.workspace() / "out");
  stage.arguments = {(stage.scene.workspace() / "out/secret.txt").string()};
}

void readonly_workspace(Stage& stage) {
  stage.flags = {"--profile", "readonly"};
  const fs::path file = stage.write_precious("workspace/kept.txt");
  stage.watch([&stage](const Ran&) {
    size_t count = 0;
    for (const auto& entry : fs::directory_iterator(stage.scene.workspace())) count += entry.exists() ? 1 : 0;
    return count == 2 ? "" : "the workspace has other entries now";
  });
  stage.arguments = {file.string()};
}

void readonly_grant(Stage& stage) {
  const fs::path file = stage.write_precious("data/kept.txt");
  stage.flags = {"--ro", file.parent_path().string()};
  stage.arguments = {file.string()};
}

// --- set-uid
// ---------------------------------------------------------------------------------------------------

std::string dangerous_files(const fs::path& folder) {
  std::string found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    struct stat info {};
    if (lstat(entry.path().c_str(), &info) != 0) continue;
    char value[64];
    const bool capable = lgetxattr(entry.path().c_str(), "security.capability", value, sizeof value) > 0;
    if ((info.st_mode & (S_ISUID | S_ISGID)) != 0 || capable) found += entry.path().filename().string() + " ";
  }
  return found;
}

void watch_mode_bits(Stage& stage) {
  stage.watch([&stage](const Ran&) {
    const std::string found = dangerous_files(stage.scene.workspace());
    return found.empty() ? "" : "dangerous files were left: " + found;
  });
}

// Owned by somebody else than the identity, so that running it as its owner shows.
std::function<void(Stage&)> foreign_program(unsigned bits) {
  return [bits](Stage& stage) {
    const fs::path program = stage.scene.workspace() / "foreign";
    fs::copy_file(stage.attacks(), program);
    const unsigned owner = stage.as == As::nobody ? 0 : nobody_id;
    if (chown(program.c_str(), owner, owner) != 0) throw std::runtime_error("chown");
    if (chmod(program.c_str(), bits | 0755) != 0) throw std::runtime_error("chmod");
    stage.arguments = {program.string()};
  };
}

// --- descriptors
// -----------------------------------------------------------------------------------------------

std::function<void(Stage&)> inherited(std::vector<std::string> numbers) {
  return [numbers](Stage& stage) {
    stage.launcher = {"with-descriptors", stage.write_precious().string()};
    stage.launcher.insert(stage.launcher.end(), numbers.begin(), numbers.end());
    stage.arguments = numbers;
  };
}

std::function<void(Stage&)> inherited_directory(const std::string& how, const std::string& number) {
  return [how, number](Stage& stage) {
    stage.write_secret();
    stage.launcher = {"with-directory", stage.scene.root().string(), number, how};
    stage.arguments = {number, "secret.txt"};
  };
}

}  // namespace

Cases file_cases() {
  return {
      {"ReadSecretBesideWorkspace", "read-path", secret_as_argument},
      {"ReadDotEnvBesideWorkspace", "read-path",
       [](Stage& stage) { stage.arguments = {stage.write_secret(".env").string()}; }},
      {"ReadDotEnvByRelativePath", "read-path",
       [](Stage& stage) {
         stage.write_secret(".env");
         stage.arguments = {"../.env"};
       }},
      {"ReadCallersHome", "read-path",
       [](Stage& stage) {
         stage.arguments = {stage.write_secret("home/.ssh/id_ed25519").string()};
         stage.environment["HOME"] = (stage.scene.root() / "home").string();
       }},
      {"ReadShadow", "read-path", [](Stage& stage) { stage.arguments = {"/etc/shadow"}; }, only_root_reads},
      {"ReadRootHome", "read-path", first_file_of_root_home, only_root_reads},
      {"ReadHostTmp", "read-path", planted_in("/tmp")},
      {"ReadHostShm", "read-path", planted_in("/dev/shm")},
      {"ReadHostRun", "read-path", planted_in("/run")},
      {"ReadHostVar", "read-path", planted_in("/var/lib")},
      {"ReadHostSys", "read-path", [](Stage& stage) { stage.arguments = {"/sys/kernel/uevent_seqnum"}; }},
      {"ReadHostEtc", "read-path",
       [](Stage& stage) {
         stage.arguments = {"/etc/login.defs", "/etc/fstab", "/etc/crontab"};
       }},
      {"ReadHostAccounts", "read-words", last_host_account},
      {"ClimbWithDots", "climb-with-dots", secret_as_argument},
      {"ClimbByChdir", "climb-by-chdir", secret_as_argument},
      {"ClimbFromMovedDirectory", "climb-from-moved-directory", secret_as_argument},
      {"PlantedSymlink", "follow-planted-symlink", secret_as_argument},
      {"PlantedDirectorySymlink", "follow-planted-directory-symlink",
       [](Stage& stage) {
         stage.write_secret();
         stage.arguments = {stage.scene.root().string(), "secret.txt"};
       }},
      {"PreexistingSymlink", "read-path", preexisting_link},
      {"SymlinkSwapRace", "race-symlink-swap", secret_as_argument},
      {"ProcSelfRoot", "read-through-proc-root", secret_as_argument},
      {"ProcInitRoot", "read-through-init-root",
       [](Stage& stage) {
         // Not even root may look at the host's init everywhere; the control has an init of its own.
         secret_as_argument(stage);
         stage.control_launcher = {"in-naive-sandbox", stage.token, stage.arguments[0]};
       }},
      {"ProcessWorkingDirectory", "read-through-process-cwd",
       [](Stage& stage) {
         stage.start_victim();
         stage.arguments = {"secret.txt", stage.write_secret().string()};
       }},
      {"OpenByHandle", "open-by-handle", handle_of_secret, "file handles need a capability of root's"},
      {"WriteBesideWorkspace", "write-path",
       [](Stage& stage) { stage.arguments = {stage.write_precious().string()}; }},
      {"WriteThroughSymlink", "write-through-symlink",
       [](Stage& stage) { stage.arguments = {stage.write_precious().string()}; }},
      {"WriteThroughProcRoot", "write-path",
       [](Stage& stage) { stage.arguments = {"/proc/self/root" + stage.write_precious().string()}; }},
      {"CreateBesideWorkspace", "write-path",
       [](Stage& stage) {
         const fs::path path = stage.scene.root() / "new.txt";
         stage.watch_appearance_of(path);
         stage.arguments = {path.string()};
       }},
      {"CreateInUsr", "write-path", creating_in("/usr/local/lib"), only_root_writes},
      {"CreateInEtc", "write-path", creating_in("/etc"), only_root_writes},
      {"CreateInRoot", "write-path", creating_in("/"), only_root_writes},
      {"CreateInBin", "write-path", creating_in("/bin"), only_root_writes},
      {"RenameOut", "rename-out",
       [](Stage& stage) {
         const fs::path path = stage.scene.root() / "contraband";
         stage.watch_appearance_of(path);
         stage.arguments = {path.string()};
       }},
      {"LinkIn", "link-in", secret_as_argument},
      {"RemoveOutside", "remove-path",
       [](Stage& stage) { stage.arguments = {stage.write_precious().string()}; }},
      {"ReadonlyWorkspace", "change-readonly-workspace", readonly_workspace},
      {"ReadonlyGrant", "write-path", readonly_grant},
      {"Devices", "open-devices", {}, "the devices are root's even without Cloche"},
  };
}

Cases mode_bit_cases() {
  const char* only_root = "file capabilities are root's to give";
  return {
      {"SetUidByChmod", "set-uid-by-chmod", watch_mode_bits},
      {"SetGidByChmod", "set-gid-by-chmod", watch_mode_bits},
      {"SetUidByChmodWithHighBits", "set-uid-by-chmod-with-high-bits", watch_mode_bits},
      {"SetUidByFchmod", "set-uid-by-fchmod", watch_mode_bits},
      {"SetUidByFchmodat", "set-uid-by-fchmodat", watch_mode_bits},
      {"SetUidByFchmodat2", "set-uid-by-fchmodat2", watch_mode_bits, "", "", "the kernel has no fchmodat2"},
      {"SetUidByOpen", "set-uid-by-open", watch_mode_bits},
      {"SetUidByOpenat", "set-uid-by-openat", watch_mode_bits},
      {"SetUidByCreat", "set-uid-by-creat", watch_mode_bits},
      {"SetUidByMknod", "set-uid-by-mknod", watch_mode_bits},
      {"SetUidByMknodat", "set-uid-by-mknodat", watch_mode_bits},
      {"SetUidByOpenat2", "set-uid-by-openat2", watch_mode_bits},
      {"SetUidByUnnamedFile", "set-uid-by-unnamed-file", watch_mode_bits},
      {"SetGidFolder", "set-gid-folder", watch_mode_bits},
      {"CapabilityBySetxattr", "capability-by-setxattr", watch_mode_bits, only_root},
      {"CapabilityBySetxattrat", "capability-by-setxattrat", watch_mode_bits, only_root, "",
       "the kernel has no setxattrat"},
      {"RunSetUidProgram", "run-set-uid-program", foreign_program(S_ISUID)},
      {"RunSetGidProgram", "run-set-uid-program", foreign_program(S_ISGID)},
  };
}

Cases descriptor_cases() {
  return {
      {"InheritedDescriptors", "use-inherited-descriptor", inherited({"3", "4", "5", "6", "7", "8", "9"})},
      {"InheritedHighDescriptor", "use-inherited-descriptor", inherited({"1000"})},
      {"OpenDescriptors", "find-open-descriptors",
       [](Stage& stage) {
         stage.launcher = {"with-descriptors", stage.write_secret().string(), "3", "77", "1000"};
       }},
      {"InheritedDirectory", "use-inherited-directory", inherited_directory("read", "7")},
      {"InheritedPathDescriptor", "use-inherited-directory", inherited_directory("path", "900")},
      {"ReopenStdin", "reopen-stdin-for-writing",
       [](Stage& stage) {
         stage.launcher = {"with-stdin", stage.write_precious().string()};
       }},
      {"StdoutFile", "abuse-stdout-file",
       [](Stage& stage) {
         const fs::path log = stage.scene.write("log.txt", "precious\n");
         stage.launcher = {"with-stdout", log.string()};
         stage.watch(
             [log](const Ran&) { return read_file(log).starts_with("precious") ? "" : "the log is gone"; });
       }},
      {"StdinDirectory", "abuse-stdin-directory",
       [](Stage& stage) {
         stage.write_secret();
         stage.launcher = {"with-stdin", stage.scene.root().string()};
         stage.arguments = {"secret.txt"};
       }},
      {"StdinSocket", "abuse-stdin-socket",
       [](Stage& stage) {
         stage.launcher = {"with-stdin-socket"};
         stage.watch([](const Ran& ran) {
           return ran.out.find("RECEIVED") == std::string::npos ? "" : "the caller received something";
         });
       }},
      {"DescriptorsOfOthers", "reopen-descriptors-of-others", [](Stage& stage) { stage.start_victim(); }},
  };
}

}  // namespace cloche::test
