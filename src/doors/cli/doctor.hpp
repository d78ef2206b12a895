// `cloche doctor`: a diagnosis as text.
#pragma once

#include <string>

#include "doors/cli/screen.hpp"
#include "gateway/checks/diagnose.hpp"

namespace cloche {

// First four lines: whether files, network, secrets and limits hold, or what would mend it.
enum class DoctorDetail { promises, all };
std::string doctor_text(const Diagnosis& diagnosis, DoctorDetail detail, const Screen& screen = {});

}  // namespace cloche
