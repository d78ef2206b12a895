// cloche-fetch URL [ADDRESS]: one GET, one answer, printed as a frame (model/fetch_answer.hpp). It is started
// by the gateway as the command of a call of its own, in the sandbox and behind the call's network gate:
// what a hostile server sends is parsed here, where there is nothing to be had.
//
// It follows no redirect: where one leads is for the gateway to judge. ADDRESS stands for the name of the
// URL; it is given for localhost, which libcurl takes for its own loopback whatever /etc/hosts says.
#include <curl/curl.h>
#include <nss.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>

#include "model/fetch_answer.hpp"

namespace cloche {
namespace {

struct Meaning {
  CURLcode code;
  const char* sentence;
};
// Sentences of ours, because libcurl's own may hold words of the server's.
constexpr Meaning meanings[] = {
    {CURLE_COULDNT_RESOLVE_HOST, "the name could not be resolved"},
    {CURLE_COULDNT_CONNECT, "no server answers there"},
    {CURLE_PEER_FAILED_VERIFICATION, "the server's certificate is not trusted"},
    {CURLE_SSL_CONNECT_ERROR, "the TLS handshake failed"},
    {CURLE_SSL_CACERT_BADFILE, "there are no certificates to trust: install ca-certificates"},
    {CURLE_WEIRD_SERVER_REPLY, "the answer is not HTTP"},
    {CURLE_UNSUPPORTED_PROTOCOL, "the answer is not HTTP/1"},
    {CURLE_GOT_NOTHING, "the server answered nothing"},
    {CURLE_PARTIAL_FILE, "the answer ends before its end"},
    {CURLE_RECV_ERROR, "the connection ended before the answer did"},
    {CURLE_SEND_ERROR, "the connection ended before the request did"},
    {CURLE_OUT_OF_MEMORY, "the head of the answer is too large"},
    {CURLE_URL_MALFORMAT, "the address cannot be read"},
};

std::string meaning_of(CURLcode code) {
  for (const auto& row : meanings) {
    if (row.code == code) return row.sentence;
  }
  return "libcurl gives up with code " + std::to_string(code);
}

size_t keep(const char* bytes, size_t, size_t count, void* into) {
  auto& answer = *static_cast<FetchAnswer*>(into);
  const size_t room = most_fetched_bytes - answer.body.size();
  answer.body.append(bytes, count < room ? count : room);
  answer.truncated = count > room;
  return answer.truncated ? 0 : count;  // less than there is ends the transfer
}

using Handle = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using List = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

// Whatever an environment, a file or a server could talk it into is off.
bool lock_down(CURL* curl) {
  bool set = true;
  const auto option = [&](CURLoption name, auto value) {
    set = set && curl_easy_setopt(curl, name, value) == CURLE_OK;
  };
  option(CURLOPT_PROTOCOLS_STR, "http,https");
  option(CURLOPT_FOLLOWLOCATION, 0L);
  option(CURLOPT_PROXY, "");
  option(CURLOPT_NOPROXY, "*");
  option(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  option(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_NONE));
  option(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  option(CURLOPT_HTTP09_ALLOWED, 0L);
  option(CURLOPT_HTTPGET, 1L);
  option(CURLOPT_PATH_AS_IS, 1L);  // what was judged is what is asked for
  option(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  option(CURLOPT_SSL_VERIFYPEER, 1L);
  option(CURLOPT_SSL_VERIFYHOST, 2L);
  option(CURLOPT_NOSIGNAL, 1L);
  option(CURLOPT_USERAGENT, "cloche-fetch");
  return set;
}

const char* text_or_nothing(const char* text) { return text != nullptr ? text : ""; }

FetchAnswer fetch(const char* url, const char* address) {
  const Handle curl(curl_easy_init(), &curl_easy_cleanup);
  if (!curl || !lock_down(curl.get())) return {.problem = "libcurl does not know an option that is needed"};
  FetchAnswer answer;
  List instead(nullptr, &curl_slist_free_all);
  if (address != nullptr) {
    instead.reset(curl_slist_append(nullptr, (std::string("::") + address + ":").c_str()));
    curl_easy_setopt(curl.get(), CURLOPT_CONNECT_TO, instead.get());
  }
  curl_easy_setopt(curl.get(), CURLOPT_URL, url);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, &keep);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &answer);
  const CURLcode code = curl_easy_perform(curl.get());
  if (code != CURLE_OK && !answer.truncated) return {.problem = meaning_of(code)};
  long status = 0;
  const char* location = nullptr;
  const char* type = nullptr;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(curl.get(), CURLINFO_REDIRECT_URL, &location);
  curl_easy_getinfo(curl.get(), CURLINFO_CONTENT_TYPE, &type);
  if (status < 100 || status > 999) return {.problem = "the answer has no status"};
  answer.status = static_cast<int>(status);
  answer.location = text_or_nothing(location);
  answer.type = text_or_nothing(type);
  return answer;
}

bool print(const std::string& text) {
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = ::write(STDOUT_FILENO, text.data() + written, text.size() - written);
    if (count <= 0) return false;
    written += static_cast<size_t>(count);
  }
  return true;
}

}  // namespace
}  // namespace cloche

int main(int count, char** words) {
  if (count != 2 && count != 3) return 2;
  // The sandbox answers for names by /etc/hosts and DNS alone. The host's own list may name modules that are
  // not there, or that were built for another libc than the one in a static program.
  if (::__nss_configure_lookup("hosts", "files dns") != 0) return 1;
  return cloche::print(cloche::to_frame(cloche::fetch(words[1], count == 3 ? words[2] : nullptr))) ? 0 : 1;
}
