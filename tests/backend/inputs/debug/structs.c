// Structures by value, small, large and nested; unions and bit fields.
#include "probe.h"
struct point {
  int x, y;
};
struct mixed {
  char tag;
  double weight;
};
struct big {
  long words[5];
  struct point corner;
};
struct flags {
  unsigned low : 3, middle : 11, high : 18;
};
union either {
  float f;
  unsigned u;
};
struct node {
  struct node *left, *right;
  int key;
};
__attribute__((noinline)) struct point add(struct point a, struct point b) {
  struct point sum = {a.x + b.x, a.y + b.y};
  probe(sum.x);
  return sum;
}
__attribute__((noinline)) struct mixed blend(struct mixed a, double by) {
  struct mixed out = a;
  out.weight *= by;
  probe(out.tag);
  out.tag++;
  return out;
}
__attribute__((noinline)) struct big shift(struct big b, int by) {
  for (int i = 0; i < 5; ++i)
    b.words[i] += by * i;
  b.corner.x += by;
  probe(by);
  return b;
}
__attribute__((noinline)) unsigned pack(struct flags f, union either e) {
  unsigned low = f.low, high = f.high;
  probe((int)low);
  f.middle += low;
  probe(f.middle);
  return high ^ e.u ^ f.middle;
}
__attribute__((noinline)) int depth(const struct node *n) {
  if (!n)
    return 0;
  int left = depth(n->left), right = depth(n->right);
  probe(n->key);
  return 1 + (left > right ? left : right);
}
int main(int argc, char **argv) {
  struct point p = {argc, 2}, q = {30, argc + 40};
  struct point r = add(p, q);
  struct mixed m = blend((struct mixed){'a', 1.5}, argc + 1.0);
  struct big b = {{1, 2, 3, 4, 5}, {argc, 9}};
  b = shift(b, argc + 6);
  union either e = {.f = argc + 0.5f};
  unsigned packed = pack((struct flags){5, 1000, 77777}, e);
  struct node leaf = {0, 0, 1}, other = {0, &leaf, 2}, root = {&leaf, &other, 3};
  int levels = depth(&root);
  probe(r.x + r.y);
  return (r.x + r.y + (int)m.weight + m.tag + (int)b.words[4] + b.corner.x + (int)packed + levels) & 63;
}
