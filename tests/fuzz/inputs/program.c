/* A program whose damaged copies are run: files, heap, numbers, recursion, the engines. */
#include <dougong_npu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int depth(int n) { return n <= 0 ? 0 : 1 + depth(n - 1); }

int main(int argc, char **argv) {
  char *text = malloc(1000);
  double sum = 0;
  for (int i = 0; i < 100; ++i)
    text[i] = (char)('a' + i % 26), sum += i / 3.0;
  text[100] = 0;
  FILE *file = fopen("written", "w+");
  if (file) {
    fprintf(file, "%s %g %d\n", text, sum, depth(50));
    rewind(file);
    if (!fgets(text, 1000, file))
      return 3;
    fclose(file);
  }
  printf("%d %s %zu\n", argc, argv[argc - 1], strlen(text));
  dg_dma_command copy = {.src = (uint64_t)text,
                         .dst = DG_LM_BASE,
                         .element_bytes = 1,
                         .count = {1, 1, 1, 1, 100},
                         .low = {0},
                         .high = {1, 1, 1, 1, 100},
                         .src_stride = {0, 0, 0, 0, 1},
                         .dst_stride = {0, 0, 0, 0, 1}};
  __dg_await(DG_LOAD0, __dg_dma(DG_LOAD0, &copy));
  free(text);
  return *(char *)DG_LM_BASE == 'a' ? 0 : 1;
}
