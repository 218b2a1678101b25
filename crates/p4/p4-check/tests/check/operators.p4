// What operators take.
control c(inout bit<8> a, inout bit<16> b, inout int<8> s, inout bool t) {
    apply {
        a = a + b;
        a = a + s;
        a = a && a;
        t = t + t;
        t = !a;
        t = ~t;
        t = a < t;
        t = t < t;
        a = a << s;
        a = a << -1;
        a = 5 << a;
        a = s / 2;
        a = a / 0;
        a = a % -3;
        a = a ++ a;
        a = 1 ++ a;
        b = a ++ a;
        a = (bit<8>) b;
        s = (int<8>) b;
        t = (bool) 2;
        t = (bool) a;
        a = t ? 1 : true;
        a = a ? 1 : 2;
        a = b[3:4];
        a = b[16:9];
        a = b[7:0];
        a += b;
        t = "x" == 1;
        a = "x" + "y";
        a[3:0] = 4w1;
        a[3:0] = 8w1;
        if (a) { }
        for (bit<8> i in 0 .. b) { }
        for (bit<8> k = 0; a; k = k + 1) { continue; }
    }
}
