#define CONSTANT(name, ...) const tuple<__VA_ARGS__> name = { VALUES(__VA_ARGS__) };
#define VALUES(first, ...) (first)1
#define CALL(f, args...) f(args)
#define LOG(format, ...) log_msg(format, ## __VA_ARGS__);
#define LOG_NAMED(format, args...) log_msg(format, ##args);
#define OPTIONAL(name, ...) name(1 __VA_OPT__(, __VA_ARGS__));
#define ALL(...) { __VA_ARGS__ }
#define TEXT(...) #__VA_ARGS__
#define COUNT_OF(_1, _2, _3, N, ...) N
#define COUNT(...) COUNT_OF(__VA_ARGS__, 3, 2, 1)
#define WIDE(bits, value) bits##w##value
#define HEX(digits) 0x##digits
#define FIELD(h, f) h.##f
#define TYPED(n) bit##<n>
#define NEXT(name, n) name##n
#define BLANKS one, \  
    two, \	
    three
#define NAME <types.p4>
#include NAME
#define QUOTED "include/types.p4"
#include QUOTED

CONSTANT(pair, bit<8>, bit<16>)
const int n1 = WIDE(8, 0xA) + HEX(ff) + HEX(1) + WIDE(8, 1);
const int n2 = COUNT(a) + COUNT(a, b) + COUNT(a, b, c);
@text(TEXT(a, b(c, d), 0x0F)) const int NEXT(n, 3) = NEXT(1, 2);
const tuple<int, int, int> t = ALL(1, 2, 3);
control c(inout H h) {
    TYPED(8) x;
    apply {
        CALL(f, 1, 2);
        CALL(f);
        LOG("none")
        LOG("one", x)
        LOG_NAMED("none")
        LOG_NAMED("two", x, x)
        OPTIONAL(f)
        OPTIONAL(f, 2, 3)
        FIELD(h, a) = 1;
        g(BLANKS);
    }
}
