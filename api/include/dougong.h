/* Dougong's C API: devices, kernels and models.
 *
 * Conventions
 *   - A function that can fail returns a dg_status. dg_last_error() then has the text for people: place, reason, fix.
 *   - Handles are opaque. NULL may be given to every *_close and *_free function. Using a handle after that is undefined.
 *   - Strings are UTF-8. Sizes are bytes, shapes count elements, times are seconds, energies joule.
 *   - Functions may be called from any thread; one session runs one thing at a time, a second caller waits.
 *   - No exception leaves a function, and nothing is printed.
 *   - Structures that begin with `size` must have it set to their sizeof (the *_init functions do): newer libraries accept older callers.
 *
 *     dg_session_options options;
 *     dg_session_options_init(&options);
 *     options.device = "npu"; options.machine = "phone"; options.timing = 1;
 *     dg_session *session;
 *     if (dg_session_open("model.onnx", &options, &session) != DG_OK) { puts(dg_last_error()); exit(1); }
 */
#ifndef DOUGONG_H
#define DOUGONG_H
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define DG_API __attribute__((visibility("default")))
#else
#define DG_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum dg_status {
  DG_OK = 0,
  DG_INVALID = 1,       /* a wrong argument, name, shape, type, handle or file: the caller's mistake */
  DG_OUT_OF_MEMORY = 2, /* of the device */
  DG_DEVICE_FAULT = 3,  /* a kernel did something forbidden, or waits for ever; the device goes on */
  DG_UNSUPPORTED = 4,   /* right, but not something this device or this version can do */
  DG_INTERNAL = 5       /* a bug of ours: please report the text */
} dg_status;

/* The text of this thread's last failure; "" before the first. Valid until the thread's next call that fails. */
DG_API const char *dg_last_error(void);
DG_API const char *dg_version(void);    /* "0.1.0" */
DG_API void dg_string_free(char *text); /* of strings that a function gave through a char ** */

/* ---- Tensors ---------------------------------------------------------------------------------------------------- */

typedef enum dg_element_type {
  DG_TYPE_F16 = 0,
  DG_TYPE_BF16,
  DG_TYPE_F32,
  DG_TYPE_F64,
  DG_TYPE_I8,
  DG_TYPE_I16,
  DG_TYPE_I32,
  DG_TYPE_I64,
  DG_TYPE_U8,
  DG_TYPE_U16,
  DG_TYPE_U32,
  DG_TYPE_U64,
  DG_TYPE_BOOL /* one byte, 0 or 1 */
} dg_element_type;

DG_API size_t dg_element_bytes(dg_element_type type); /* 0 for a number that is no type */

/* A dense row-major tensor in host memory, which somebody else owns. */
typedef struct dg_tensor {
  const char *name; /* of the input or output */
  dg_element_type type;
  int32_t rank;
  const int64_t *shape; /* [rank] */
  void *data;
} dg_tensor;

/* ---- Models ------------------------------------------------------------------------------------------------------ */

typedef struct dg_session dg_session;
typedef struct dg_outputs dg_outputs;

typedef struct dg_session_options {
  size_t size;
  const char *device;                               /* "npu" (default), "cpu", or "auto": whichever suits each operator */
  const char *machine;                              /* the NPU's: "phone" (default), "tiny", "server", or a file */
  int32_t timing;                                   /* 1: the NPU's model keeps time */
  int32_t cores;                                    /* of the NPU to use; 0: all */
  int32_t threads;                                  /* of the CPU to use; 0: all */
  int32_t no_cache;                                 /* 1: neither look for compiled models on disk nor leave them there */
  void (*progress)(void *context, const char *now); /* called while something takes time; may be NULL */
  void *progress_context;
} dg_session_options;

DG_API void dg_session_options_init(dg_session_options *options);

/* Opens an ONNX file or a .dgx. `options` may be NULL. */
DG_API dg_status dg_session_open(const char *path, const dg_session_options *options, dg_session **session);
DG_API void dg_session_close(dg_session *session);

/* The model's inputs and outputs. In `shape` an open dimension is -1; `data` is NULL. Valid while the session is open. */
DG_API size_t dg_session_input_count(const dg_session *session);
DG_API size_t dg_session_output_count(const dg_session *session);
DG_API dg_status dg_session_input(const dg_session *session, size_t index, dg_tensor *input);
DG_API dg_status dg_session_output(const dg_session *session, size_t index, dg_tensor *output);
/* What the ONNX file says of itself, and the .dgx made of it with it: its metadata ("character", say), and "onnx.opset", "onnx.producer",
   "onnx.graph", "onnx.domain", "onnx.version" and "onnx.description" where it has them. NULL if there is none of that name. The names are
   numbered in order; NULL beyond the last. Valid while the session is open. */
DG_API const char *dg_session_property(const dg_session *session, const char *name);
DG_API size_t dg_session_property_count(const dg_session *session);
DG_API const char *dg_session_property_name(const dg_session *session, size_t index);

/* Compiles for the shapes of these inputs (data is not looked at), so that the first run with them starts at once. */
DG_API dg_status dg_session_prepare(dg_session *session, const dg_tensor *inputs, size_t count);
/* Runs the model. Every input once, by name; their data is copied. */
DG_API dg_status dg_session_run(dg_session *session, const dg_tensor *inputs, size_t count, dg_outputs **outputs);
DG_API size_t dg_outputs_count(const dg_outputs *outputs);
DG_API dg_status dg_outputs_get(const dg_outputs *outputs, size_t index, dg_tensor *output); /* valid until dg_outputs_free */
DG_API void dg_outputs_free(dg_outputs *outputs);

/* The last run's report, as "text" or "json". */
DG_API dg_status dg_session_report(const dg_session *session, const char *format, char **report);
/* What the model is made of for these shapes, as "text" or "json", without running it: each fused operator, its nodes, device and reason,
 * tile, work, bytes. */
DG_API dg_status dg_session_explain(dg_session *session, const dg_tensor *inputs, size_t count, const char *format, char **explanation);
/* Everything compiled so far, as a .dgx file. */
DG_API dg_status dg_session_save(dg_session *session, const char *path);

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

typedef struct dg_device dg_device;
typedef struct dg_stream dg_stream;
typedef uint64_t dg_module; /* 0: none */
typedef uint64_t dg_kernel;
typedef uint64_t dg_event; /* a place in a stream's order; 0 has always happened */

typedef struct dg_device_properties {
  size_t size;
  char kind[8];     /* "npu", "cpu", "null" */
  char machine[64]; /* of an NPU */
  uint32_t cores;
  uint64_t memory_bytes;
} dg_device_properties;

/* "cpu", "cpu:4" (threads), "npu", "npu:phone", "npu:server,timing", "npu:my.toml,timing,cores=2", "null". */
DG_API dg_status dg_device_open(const char *spec, dg_device **device);
DG_API void dg_device_close(dg_device *device);
DG_API dg_status dg_device_get_properties(const dg_device *device, dg_device_properties *properties);

/* Device memory: zeroed, aligned to 128 bytes. `dg_device_map` gives the host's view of it, valid until it is freed. */
DG_API dg_status dg_device_allocate(dg_device *device, uint64_t bytes, uint64_t *address);
DG_API dg_status dg_device_free(dg_device *device, uint64_t address);
DG_API dg_status dg_device_map(dg_device *device, uint64_t address, uint64_t bytes, void **host);
DG_API dg_status dg_device_copy_in(dg_device *device, uint64_t address, const void *source, uint64_t bytes);
DG_API dg_status dg_device_copy_out(dg_device *device, void *destination, uint64_t address, uint64_t bytes);

/* Kernels: an ELF executable for an NPU, a relocatable object file for the CPU. */
DG_API dg_status dg_module_load(dg_device *device, const void *image, uint64_t bytes, dg_module *module);
DG_API dg_status dg_module_unload(dg_device *device, dg_module module);
DG_API dg_status dg_module_kernel(dg_device *device, dg_module module, const char *name, dg_kernel *kernel);
/* Runs grid[0] x grid[1] x grid[2] programs and returns when they are done. One slot an argument: an address, an integer, or a float's bits
 * in the low half. */
DG_API dg_status dg_kernel_launch(dg_device *device, dg_kernel kernel, const uint64_t grid[3], const uint64_t *arguments, size_t count);

/* ---- Kernels from source ------------------------------------------------------------------------------------------ */

typedef struct dg_built_kernel dg_built_kernel;
/* Compiles `function` of operator-language source `text` for the device's kind and machine. `file_name` is for diagnostics. `signature` has
 * one item a parameter: "*fp32, *fp32, i32, BLOCK=1024" (see `dougong kernel compile --help`). A mistake in the source is DG_INVALID, with
 * all diagnostics as its text. */
DG_API dg_status dg_kernel_build(const dg_device *device, const char *file_name, const char *text, const char *function,
                                 const char *signature, dg_built_kernel **built);
DG_API void dg_built_kernel_free(dg_built_kernel *built);
/* The image for dg_module_load, valid until the built kernel is freed; and what a launch passes, in order, as "NAME:TYPE" texts. */
DG_API const void *dg_built_kernel_image(const dg_built_kernel *built, uint64_t *bytes);
DG_API size_t dg_built_kernel_argument_count(const dg_built_kernel *built);
DG_API const char *dg_built_kernel_argument(const dg_built_kernel *built, size_t index);

/* What the device has counted since it was opened, as JSON. */
DG_API dg_status dg_device_statistics(const dg_device *device, char **json);

/* Streams do their commands in order, beside the caller. The first failure stops a stream: later commands are dropped until
 * dg_stream_synchronise has reported it. Memory given to a copy must live until its event has happened. `event` may be NULL. */
DG_API dg_status dg_stream_open(dg_device *device, dg_stream **stream);
DG_API void dg_stream_close(dg_stream *stream); /* finishes what is queued */
DG_API dg_status dg_stream_copy_in(dg_stream *stream, uint64_t address, const void *source, uint64_t bytes, dg_event *event);
DG_API dg_status dg_stream_copy_out(dg_stream *stream, void *destination, uint64_t address, uint64_t bytes, dg_event *event);
DG_API dg_status dg_stream_launch(dg_stream *stream, dg_kernel kernel, const uint64_t grid[3], const uint64_t *arguments, size_t count,
                                  dg_event *event);
DG_API int dg_event_happened(const dg_stream *stream, dg_event event);
DG_API dg_status dg_event_wait(dg_stream *stream, dg_event event);
DG_API dg_status dg_stream_synchronise(dg_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
