const bit table = 1;
control state() { apply { action = 1; bit<8> if; x.select = 1; } }
struct header { bit<8> type; bit<8> in; }
action default() { }
