// What passes the border between two compilers: every kind of argument and result that lp64 without float registers knows.
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  char c;
} One;
typedef struct {
  char c[3];
} Three;
typedef struct {
  short s;
  int i;
  char c;
} Padded;
typedef struct {
  float f, g;
} Floats;
typedef struct {
  double d;
} Double;
typedef struct {
  double d;
  char c;
} Mixed;
typedef struct {
  long a, b;
} Sixteen;
typedef struct {
  long a, b;
  char c;
} Seventeen;
typedef struct {
  char c[100];
} Hundred;
typedef struct {
  unsigned a : 3, b : 29;
  long c : 60;
} Bits;
typedef union {
  double d;
  unsigned char bytes[12];
} Union;
typedef struct {
  __int128 wide;
} Wide;
typedef struct {
} Empty;

typedef struct {
  One (*one)(One);
  Three (*three)(int, Three);
  Padded (*padded)(Padded, double);
  Floats (*floats)(Floats, float);
  Double (*number)(Double);
  Mixed (*mixed)(Mixed, Mixed);
  Sixteen (*sixteen)(int, int, int, int, int, int, int, Sixteen); // half in a7, half on the stack
  Seventeen (*seventeen)(Seventeen);
  Hundred (*hundred)(Hundred, int);
  Bits (*bits)(Bits);
  Union (*either)(Union);
  Wide (*wide)(int, Wide, __int128);
  int (*empty)(Empty, int);
  _Bool (*truth)(_Bool, signed char, unsigned char, short, unsigned short);
  unsigned (*word)(unsigned, int);
  float (*real)(float, double, _Float16);
  _Float16 (*half)(_Float16);
  double (*many)(double, float, long, char, Sixteen, int, double, Hundred, float, __int128, short);
  double (*variable)(const char *, ...);
  double (*list)(const char *, va_list);
  long (*callback)(long (*)(void *, long), void *, int);
} Functions;
extern const Functions left, right;
extern int shared_number, *shared_pointer;
