// A binary search tree with parents and rotations (a treap), inserted into and walked.
#include <stdio.h>
#include <stdlib.h>
struct node {
  unsigned key, rank;
  struct node *left, *right;
};
static unsigned seed = 11;
static unsigned next(void) { return seed = seed * 1664525u + 1013904223u; }
static struct node *insert(struct node *at, unsigned key) {
  if (!at) {
    struct node *made = malloc(sizeof *made);
    *made = (struct node){key, next(), 0, 0};
    return made;
  }
  if (key == at->key)
    return at;
  if (key < at->key) {
    at->left = insert(at->left, key);
    if (at->left->rank > at->rank) {
      struct node *up = at->left;
      at->left = up->right;
      up->right = at;
      return up;
    }
  } else {
    at->right = insert(at->right, key);
    if (at->right->rank > at->rank) {
      struct node *up = at->right;
      at->right = up->left;
      up->left = at;
      return up;
    }
  }
  return at;
}
static unsigned walk(const struct node *at, unsigned sum, int depth) {
  if (!at)
    return sum;
  sum = walk(at->left, sum, depth + 1);
  return walk(at->right, sum * 31 + at->key + (unsigned)depth, depth + 1);
}
int main(void) {
  struct node *root = 0;
  for (int i = 0; i < 10000; i++)
    root = insert(root, next() >> 8);
  printf("%u\n", walk(root, 0, 0));
}
