#define ONE 1
#define ADD(a, b) ((a) + (b))
#define EMPTY
#define TWICE(x) x x
#define CONST(name, value) const int name = value;
#define GLUE(a, b) a##b
#define TEXT(x) #x
#define SELF SELF + 1
#define PING PONG
#define PONG PING
#define MULTI \
    CONST(multi, \
        2)
#define CALL(f, x, y) f(x, y)
#define OBJ (3)

CONST(a, ADD(ONE, ADD(2, 3)))
EMPTY CONST(GLUE(b, 1), GLUE(0, x1F))
TWICE(CONST(c, 1))
@name(TEXT(hello world)) CONST(d, ADD)
CONST(e, SELF)
CONST(f, PING)
MULTI
CONST(g, CALL(ADD, ONE, 2))
CONST(h, FROM_COMMAND_LINE + __LINE__)
const int i = TWICE OBJ - CALL OBJ;

#if defined(ONE) && !defined ZERO && (ONE + 1) * 2 == 4
const int yes1 = 1;
#elif 1
const int no1 = 1;
#else
const int no2 = 1;
#endif

#ifdef ZERO
const int no3 = 1; # if nonsense here is skipped "
#if 1
const int no4 = 1;
#else
#endif
#elif ONE > 2 || 0x10 >> 4 == 1
const int yes2 = 1;
#else
const int no5 = 1;
#endif

#undef ONE
#ifndef ONE
# define TWO 2
const int yes3 = TWO; /* a comment
# endif */
#endif
#if ONE
#error never seen
#endif
#if 0 ? 1 : -1 < 0 && ~0 == -1 && 7 % 4 == 3 && 1 << 3 == 8
const int yes4 = 1;
#endif
#pragma ignored
#line 7 "elsewhere"
# 9 "elsewhere"
#
