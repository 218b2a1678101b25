control c() {{ action a( { table t { key = } apply { if (x { } parser p(
const bit<8> = 1 +;