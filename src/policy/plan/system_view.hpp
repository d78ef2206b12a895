// What of the host every sandbox sees, by name and with its reason. Data, no code.
#pragma once

#include <string_view>

namespace cloche {

struct ShownPath {
  std::string_view path;
  std::string_view why;
};

// Read-only and executable. A link is shown as the same link.
inline constexpr ShownPath system_paths[] = {
    {"/usr", "programs and libraries of the system"},
    {"/bin", "programs of the system"},
    {"/sbin", "programs of the system"},
    {"/lib", "libraries of the system"},
    {"/lib64", "the dynamic loader"},
    {"/lib32", "libraries of the system"},
    {"/libx32", "libraries of the system"},
    {"/opt", "programs installed beside the system"},
};

// Read-only, and nothing in them is executed.
inline constexpr ShownPath data_paths[] = {
    {"/var/lib/dpkg", "which packages are installed; every user of the host may read that"},
    {"/sys/devices/system/cpu",
     "how many processors there are and what they are, for lscpu and thread pools"},
    {"/sys/devices/system/node", "which memory is near which processor"},
};

// Whether a path is one of the directories that hold programs, by its name or by where a merged /usr has it.
// /opt is a place for what is installed by hand.
inline bool is_system_root(std::string_view path) {
  constexpr std::string_view merged = "/usr";
  for (const ShownPath& row : system_paths) {
    if (row.path == "/opt") continue;
    if (path == row.path) return true;
    if (path.starts_with(merged) && path.substr(merged.size()) == row.path) return true;
  }
  return false;
}

// Of /etc, as on the host. A name that ends in * stands for every entry that begins so. Whatever is not
// listed is absent: passwd, group, hosts and resolv.conf are written fresh, keys and shadow files are not
// there at all.
inline constexpr ShownPath etc_paths[] = {
    {"ld.so.cache", "the dynamic loader's index"},
    {"ld.so.conf", "the dynamic loader's paths"},
    {"ld.so.conf.d", "the dynamic loader's paths"},
    {"ld.so.preload", "the dynamic loader's own list"},
    {"nsswitch.conf", "how libc looks names up"},
    {"services", "names of ports"},
    {"protocols", "names of protocols"},
    {"os-release", "which system this is"},
    {"debian_version", "which system this is, for pip"},
    {"localtime", "the time zone"},
    {"timezone", "its name"},
    {"locale.alias", "locales"},
    {"mtab", "a link into /proc"},
    {"alternatives", "which program a name means; /usr links here"},
    {"ssl/certs", "certificates of public authorities"},
    {"ssl/openssl.cnf", "defaults of OpenSSL"},
    {"ca-certificates", "certificates of public authorities"},
    {"mime.types", "file types"},
    {"terminfo", "terminals"},
    {"fonts", "fonts"},
    {"java-*", "Java's configuration; its tree in /usr links here"},
    {"python3*", "Python's site hooks; its tree in /usr links here"},
    {"perl", "Perl's configuration"},
    {"maven", "Maven's configuration; its tree in /usr links here"},
    {"gitconfig", "git's system configuration"},
    {"bash.bashrc", "the shell's system configuration"},
    {"manpath.config", "where manual pages are"},
    {"chromium.d", "what Chromium's launcher reads, which fails without"},
    {"dpkg", "how dpkg is configured, to list what is installed"},
};

// Of the directories of /etc those that hold many files of their own (links do not count: one look at the
// directory tells whether any of them changed). The others are copied, which takes a look at each file.
inline constexpr std::string_view large_etc_directories[] = {"/etc/java-"};

// Nodes that give or take bytes and hold no state.
inline constexpr std::string_view device_nodes[] = {"null", "zero", "full", "random", "urandom", "tty"};

// Roots that are never a workspace: writing there would be writing to the system. `below` says whether the
// directories inside are refused as well.
struct RefusedRoot {
  std::string_view path;
  bool below;
};
inline constexpr RefusedRoot refused_roots[] = {
    {"/", false},
    {"/usr", false},
    {"/usr/bin", true},
    {"/usr/sbin", true},
    {"/usr/lib", true},
    {"/usr/lib64", true},
    {"/usr/lib32", true},
    {"/usr/share", true},
    {"/usr/libexec", true},
    {"/usr/include", true},
    {"/usr/local", false},
    {"/usr/local/bin", true},
    {"/usr/local/sbin", true},
    {"/usr/local/lib", true},
    {"/usr/src", false},
    {"/usr/games", true},
    {"/usr/local/games", true},
    {"/usr/local/etc", true},
    {"/libx32", true},
    {"/run/systemd", true},
    {"/run/udev", true},
    {"/var/lib/dpkg", true},
    {"/var/lib/gems", true},  // ruby would load what lies in it
    {"/home/cloche", false},  // the home of every sandbox: start-up files in it would be read
    {"/var/lib/systemd", true},
    {"/var/lib/apt", true},
    {"/bin", true},
    {"/sbin", true},
    {"/lib", true},
    {"/lib64", true},
    {"/lib32", true},
    {"/etc", true},
    {"/boot", true},
    {"/dev", false},
    {"/proc", true},
    {"/sys", true},
    {"/run", false},
    {"/run/user", false},
    {"/var", false},
    {"/var/lib", false},
    {"/var/log", true},
    {"/var/cache", false},
    {"/var/spool", true},
    {"/var/run", false},
    {"/var/tmp", false},
    {"/tmp", false},
    {"/opt", false},
    {"/home", false},
    {"/root", false},
    {"/srv", false},
    {"/mnt", false},
    {"/media", false},
    {"/dev/shm", false},
    {"/dev/pts", true},
};

// What a home directory holds that no command needs: masked in the host view, and no skill's or executor's to
// have without a grant. Relative to each home.
inline constexpr std::string_view home_secrets[] = {
    ".ssh",
    ".aws",
    ".gnupg",
    ".config/gh",
    ".config/gcloud",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    ".mozilla",
    "snap/firefox",
    "snap/chromium",
    ".var/app",
    ".azure",
    ".kube",
    ".docker",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".config/git/credentials",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".password-store",
    ".local/share/keyrings",
    ".claude",
    ".codex",
    ".cursor",
    ".gemini",
    ".copilot",
    ".config/github-copilot",
    ".config/cloche",
    ".local/state/cloche",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".psql_history",
    ".pgpass",
    ".my.cnf",
    ".vault-token",
    ".terraformrc",
    ".terraform.d",
    ".config/op",
    ".config/rclone",
    ".thunderbird",
    ".gem/credentials",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
};

// Outside of every home: keys, and sockets through which a command acts as another user. A name that
// ends in * stands for every entry that begins so. Nothing of them is in the host view either, or readable.
inline constexpr std::string_view system_secrets[] = {
    "/run/user",         // of each user: agents of ssh and gpg, the session bus
    "/run/docker.sock",  // root, for every process that can write to it
    "/var/run/docker.sock",
    "/run/docker",
    "/run/containerd",
    "/run/podman",
    "/run/crio",
    "/run/dbus",
    "/var/run/dbus",
    "/tmp/ssh-*",  // agents
    "/tmp/gpg-*",
    "/etc/shadow",
    "/etc/shadow-",  // the copy that is made before each change
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/passwd-",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/sudo*",
    "/etc/cloche",
    "/run/cloche",
    "/proc",  // environments of other processes
    "/sys",
    "/dev",  // disks
};

// What the host runs or obeys later, of a home: nothing to be written without a grant. Relative to each home.
inline constexpr std::string_view home_executed[] = {
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".inputrc",
    ".config/fish",
    ".config/autostart",
    ".config/systemd",
    ".config/environment.d",
    ".config/git",
    ".gitconfig",
    ".config/nvim",
    ".vimrc",
    ".vim",
    ".emacs",
    ".emacs.d",
    ".tmux.conf",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".pam_environment",
    ".local/bin",
    ".local/lib",
    ".local/share/applications",
    ".local/share/systemd",
    ".cargo/bin",
    ".cargo/config.toml",
    ".pyenv",
    ".nvm",
    ".rustup",
    "bin",
};

}  // namespace cloche
