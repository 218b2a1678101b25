const int a = 1 § 2;
const int b = 8w;
const int c = 0b12;
const int d = 12abc;
const int e = 99999999999w1;
const int f = 8w-1;
const string g = "never closed;
const int h = 1;
'single' $money `tick`
const int i = 2;
/* never closed
const int j = 1;
