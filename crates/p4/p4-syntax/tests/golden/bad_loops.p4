void f() {
    for (i in 1 .. 3) { }
    for (bit<8> i = 0; i < 3) { }
    for (bit<8> i in ) { }
    for bit<8> i in 1 .. 2 { }
    for (bit<8> i = 0 i < 3; i += 1) { }
    x =+ ;
    break
    continue x;
}
