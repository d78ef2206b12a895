// The page of a command as a manual page, in the man(7) macros.
#pragma once

#include <string>

#include "doors/cli/help_pages.hpp"

namespace cloche {

// "cloche-run", with the sentence that says what it does.
std::string manual_page(std::string_view name, std::string_view summary, const HelpPage& page,
                        std::string_view version);
// cloche(1), with what holds for every command.
std::string main_manual_page(std::string_view version);

}  // namespace cloche
