// Edit distance and longest common subsequence by dynamic programming: minima, bytes and 16-bit rows.
#include <stdint.h>
#include <stdio.h>
enum { n = 200 };
static char a[n], b[n];
static uint16_t row[n + 1];
static int table[n + 1][n + 1];
int main(void) {
  uint32_t seed = 3;
  for (int i = 0; i < n; i++)
    a[i] = 'a' + ((seed = seed * 1664525 + 1013904223) >> 30), b[i] = 'a' + ((seed = seed * 1664525 + 1013904223) >> 30);
  for (int j = 0; j <= n; j++)
    row[j] = (uint16_t)j;
  for (int i = 1; i <= n; i++) {
    uint16_t diagonal = row[0];
    row[0] = (uint16_t)i;
    for (int j = 1; j <= n; j++) {
      uint16_t above = row[j], best = (uint16_t)(diagonal + (a[i - 1] != b[j - 1]));
      if (above + 1 < best)
        best = (uint16_t)(above + 1);
      if (row[j - 1] + 1 < best)
        best = (uint16_t)(row[j - 1] + 1);
      row[j] = best;
      diagonal = above;
    }
  }
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= n; j++) {
      int up = table[i - 1][j], left = table[i][j - 1];
      table[i][j] = a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1 : up > left ? up : left;
    }
  printf("%d %d\n", row[n], table[n][n]);
}
