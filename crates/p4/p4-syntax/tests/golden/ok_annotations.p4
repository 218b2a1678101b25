@empty @parens() @text("a \"quoted\" \\ \n") @number(8w0xFF)
@free(it's § anything: (nested, 1 + 2) >> "x" @ y ? {};)
@list[1, x + 1, "s", 2,] @none[] @pairs[a = 1, b = {1, 2}]
@table @default
const bit a = 1;
@pragma one two (3) "four" @ ;
@pragma empty
const bit b = 1;
@deprecated("no") extern void g(@optional in bit<8> x, @a @b out bit<8> y);
@match_with("multi
line") enum E { A }
