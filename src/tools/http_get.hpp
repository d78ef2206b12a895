// http_get {url}: understood and judged like every call; what fetches is the egress gate's to give.
#pragma once

#include "base/json_text.hpp"
#include "model/call.hpp"
#include "model/tool.hpp"

namespace cloche {

ToolSpec http_get_spec();
void understand_http_get(const JsonValue& arguments, Intent& intent);

}  // namespace cloche
