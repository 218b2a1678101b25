// The name of the program.
extern main { }
