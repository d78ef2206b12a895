#include "policy/authority/secret_names.hpp"

#include <algorithm>

#include "base/lists.hpp"
#include "base/text/ascii.hpp"
#include "base/text/pieces.hpp"

namespace cloche {
namespace {

// Parts of a name between underscores: MY_API_KEY holds a key, MONKEY does not.
constexpr std::string_view secret_parts[] = {
    "KEY",   "KEYS",   "TOKEN", "TOKENS", "SECRET", "SECRETS", "PASS",       "PAT", "PASSWD", "PWD",   "AUTH",
    "CREDS", "COOKIE", "DSN",   "BEARER", "JWT",    "OTP",     "PASSPHRASE", "PW",  "PIN",    "SESSID"};
// MYPASS and PGPASS hold one; of the words that end so these do not.
constexpr std::string_view harmless_passes[] = {"COMPASS", "BYPASS", "SURPASS", "TRESPASS"};
// Anywhere in a name.
constexpr std::string_view secret_pieces[] = {
    "PASSWORD",          "PASSWD",   "SECRET",       "TOKEN",      "APIKEY",     "CREDENTIAL", "PRIVATE",
    "CONNECTION_STRING", "WEBHOOK",  "DATABASE_URL", "DB_UR",      "MONGODB_UR", "REDIS_UR",   "POSTGRES_UR",
    "AMQP_UR",           "MYSQL_UR", "MONGO_UR",     "SESSION_ID", "SESSIONID"};
// Whole names.
constexpr std::string_view secret_names[] = {
    "NETRC", "KUBECONFIG", "PGPASSFILE", "DOCKER_CONFIG", "DOCKER_HOST", "GPG_AGENT_INFO", "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
    // http://NAME:PASSWORD@HOST
    "HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "SOCKS_PROXY"};
// Providers whose variables are credentials or lead to them, and Cloche's own.
constexpr std::string_view secret_prefixes[] = {
    "AWS_",      "AZURE_",      "GCP_",    "GOOGLE_",      "STRIPE_", "SSH_",    "GITHUB_",   "GITLAB_",
    "OPENAI_",   "ANTHROPIC_",  "HF_",     "HUGGINGFACE_", "SLACK_",  "TWILIO_", "SENDGRID_", "DIGITALOCEAN_",
    "HEROKU_",   "CLOUDFLARE_", "VAULT_",  "PYPI_",        "TWINE_",  "SENTRY_", "DATADOG_",  "MAILGUN_",
    "FIREBASE_", "SUPABASE_",   "VERCEL_", "NETLIFY_",     "TF_VAR_", "CLOCHE_", "KRB5"};
// What makes a judged program load, run or read something else. Whole families: each release of a tool adds
// names to its own, and the release notes of all of them are not read here.
constexpr std::string_view hostile_prefixes[] = {
    // the dynamic linker and the C library
    "LD_", "DYLD_", "GLIBC_", "GCONV_", "MALLOC_",
    // where programs look for configuration, data and plug-ins: rubocop runs gemspecs beneath XDG_DATA_HOME
    "XDG_",
    // shells and make
    "BASH_", "ZSH_", "MAKE", "CMAKE_",
    // Python
    "PYTHON", "PYTEST_", "MYPY", "RUFF_", "PYFLAKES", "PIP_", "PIPX_", "UV_", "VIRTUAL_ENV", "VIRTUALENV_",
    "CONDA_", "POETRY_", "TOX_",
    // Ruby
    "RUBY", "GEM", "BUNDLE", "RUBOCOP_", "RAKE", "SPEC_OPTS",
    // JavaScript
    "NODE_", "NPM_", "NPX_", "YARN_", "PNPM_", "BUN_", "DENO_", "COREPACK_",
    // Go, C and Rust
    "CGO_", "GCC_", "CLANG_", "CCACHE_", "DISTCC_", "RUST", "CARGO",
    // the rest of the languages, and version control
    "JAVA_", "_JAVA", "JDK_", "MAVEN_", "GRADLE_", "PERL", "LUA_", "PHP", "GIT_", "HG"};
constexpr std::string_view hostile_names[] = {
    "PATH", "HOME", "ENV", "SHELL", "IFS", "TMPDIR", "USER", "LOGNAME", "PS4", "EDITOR", "VISUAL", "PAGER",
    "BROWSER", "CDPATH", "ZDOTDIR", "LESSOPEN", "LESSCLOSE", "LESS", "MANPAGER", "PROMPT_COMMAND",
    "SHELLOPTS", "BASHOPTS", "LOCPATH", "NLSPATH", "HOSTALIASES", "RES_OPTIONS", "TERMINFO", "TERMCAP",
    "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES", "CLASSPATH",
    // the compilers and tools that a build starts, and what they are told
    "CC", "CXX", "CPP", "LD", "AR", "AS", "NM", "RANLIB", "OBJCOPY", "FC", "PKG_CONFIG", "PKG_CONFIG_PATH",
    "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH", "COMPILER_PATH", "MFLAGS"};
// Of those families, what only sets a mode or a name.
constexpr std::string_view harmless_names[] = {
    "NODE_ENV",         "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
    "CARGO_TERM_COLOR", "RUST_BACKTRACE",  "RUST_LOG",         "PYTHONUNBUFFERED",   "PYTHONHASHSEED",
    "PYTHONIOENCODING", "PYTHONUTF8"};

template <size_t size>
bool begins_with_one(const std::string_view (&prefixes)[size], std::string_view name) {
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::string upper(std::string_view name) {
  std::string out(name);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

// Every setting of the go command is GO and letters: GOFLAGS, GOTOOLDIR, GOWORK. A program's own may look the
// same, and is then left out as well.
bool is_of_go(std::string_view name) {
  return name.size() > 2 && name.starts_with("GO") && name[2] >= 'A' && name[2] <= 'Z';
}

bool has_secret_part(std::string_view name) {
  while (!name.empty()) {
    const std::string_view part = take_until(name, "_");
    if (contains(secret_parts, part)) return true;
    if (part.ends_with("PASS") && !contains(harmless_passes, part)) return true;
  }
  return false;
}

}  // namespace

bool looks_secret(std::string_view written) {
  const std::string name = upper(written);
  const auto is_in_name = [&](std::string_view piece) { return name.find(piece) != std::string::npos; };
  return has_secret_part(name) || std::ranges::any_of(secret_pieces, is_in_name) ||
         contains(secret_names, name) || begins_with_one(secret_prefixes, name);
}

std::string_view why_dropped(std::string_view name) {
  if (!ascii::is_variable_name(name)) return "it is no name";
  if (looks_secret(name)) return "it looks like a secret";
  if (contains(harmless_names, name)) return "";
  const std::string big = upper(name);
  const bool hostile =
      is_of_go(big) || contains(hostile_names, big) || begins_with_one(hostile_prefixes, big);
  return hostile ? "it changes what programs do" : "";
}

}  // namespace cloche
