#include "shim.h"
extern const struct sp_api sp_swx_api;
const struct sp_api sp_swx_api = { 0 };
