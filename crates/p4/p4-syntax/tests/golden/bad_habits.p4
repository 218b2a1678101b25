// What people write who come from other languages.
control c(inout H h) {
    apply {
        t.apply;
        x++;
        x--;
        if (x == 1) { } elif (x == 2) { }
        a = 10.0.0.1;
        a = 10.0.0.256;
        b = 00:11:22:33:44:55;
        if (x == 3) { } else if (x == 4) { }
        x = 5
        y = 6;
    }
}
