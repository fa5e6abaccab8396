// Quicksort and insertion sort of integers, as a library would write them.
#include <stdio.h>
static unsigned seed = 1;
static unsigned next(void) { return seed = seed * 1664525u + 1013904223u; }
static void sort(int *a, int n) {
  while (n > 16) {
    int pivot = a[n / 2], i = 0, j = n - 1;
    while (i <= j) {
      while (a[i] < pivot)
        i++;
      while (a[j] > pivot)
        j--;
      if (i <= j) {
        int t = a[i];
        a[i++] = a[j];
        a[j--] = t;
      }
    }
    if (j + 1 < n - i) {
      sort(a, j + 1);
      a += i;
      n -= i;
    } else {
      sort(a + i, n - i);
      n = j + 1;
    }
  }
  for (int i = 1; i < n; i++) {
    int v = a[i], j = i;
    for (; j > 0 && a[j - 1] > v; j--)
      a[j] = a[j - 1];
    a[j] = v;
  }
}
int main(void) {
  static int a[20000];
  for (int i = 0; i < 20000; i++)
    a[i] = (int)next();
  sort(a, 20000);
  unsigned sum = 0;
  for (int i = 0; i < 20000; i++)
    sum = sum * 31 + (unsigned)a[i];
  printf("%u\n", sum);
}
