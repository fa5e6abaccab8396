/* The header is C, and a model runs from C: compiled as C11 without warnings by tests/api/test_c_caller.py. */
#include "dougong.h"
#include <stdio.h>

static int failed(const char *what) {
  fprintf(stderr, "%s: %s\n", what, dg_last_error());
  return 1;
}

int main(int argc, char **argv) {
  dg_session_options options;
  dg_session_options_init(&options);
  options.device = argc > 2 ? argv[2] : "cpu";
  options.no_cache = 1;
  dg_session *session = NULL;
  if (dg_session_open(argv[1], &options, &session) != DG_OK)
    return failed("open");
  float x[2][3] = {{1, -2, 3}, {-4, 5, -6}};
  const int64_t shape[] = {2, 3};
  dg_tensor input = {"x", DG_TYPE_F32, 2, shape, x};
  dg_outputs *outputs = NULL;
  if (dg_session_run(session, &input, 1, &outputs) != DG_OK)
    return failed("run");
  dg_tensor y;
  if (dg_outputs_get(outputs, 0, &y) != DG_OK)
    return failed("get");
  printf("%s:", y.name);
  for (int i = 0; i < 6; ++i)
    printf(" %g", ((const float *)y.data)[i]);
  char *report = NULL;
  if (dg_session_report(session, "text", &report) != DG_OK)
    return failed("report");
  printf("\n%s", report);
  dg_string_free(report);
  dg_outputs_free(outputs);
  dg_session_close(session);
  return 0;
}
