bit<8> x;
bit<8> y = 1;
T(1) ;
T(1) arr[3];
x = 1;
1;
if (x) { }
f(x);
