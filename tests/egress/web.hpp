// A real web server there: nginx with a certificate of a test CA, some files, and a git repository.
#pragma once

#include <memory>
#include <string>

#include "egress/world.hpp"
#include "harness/harness.hpp"

namespace cloche::test {

class Web {
 public:
  static constexpr size_t big_bytes = size_t{3} << 20;

  // Throws what failed. Without nginx there is none; running() says so.
  explicit Web(const World& world);
  ~Web();
  Web(const Web&) = delete;
  Web& operator=(const Web&) = delete;

  bool running() const { return nginx_ != nullptr; }
  const std::string& authority() const { return authority_; }  // the CA, as PEM
  // Every request that has arrived: "HOST METHOD PATH STATUS" lines.
  std::string log() const;

 private:
  fs::path root_;
  std::string authority_;
  std::unique_ptr<Started> nginx_;
};

}  // namespace cloche::test
