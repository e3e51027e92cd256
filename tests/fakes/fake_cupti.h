// How a test talks to the fake CUPTI (by dlsym).
#pragma once

extern "C" {
// Runs a script, a command a line; nullptr, or what is wrong with it.
const char* fake_cupti_run(const char* script);
// Names of the calls so far, a blank after each: "Subscribe_v2 SetThreadIdType(1) …".
const char* fake_cupti_calls();
}
