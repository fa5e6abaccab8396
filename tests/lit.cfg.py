# lit's view of the text tests: the tools of the build, and LLVM's own beside them.
import os
import lit.formats

source = os.path.dirname(os.path.abspath(__file__))
build = os.environ.get("DOUGONG_BUILD", os.path.join(source, "..", "build"))
llvm = "/usr/lib/llvm-22/bin"

config.name = "dougong"
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".mlir", ".ll", ".s", ".c", ".test"]
config.excludes = ["inputs"] + ([] if os.environ.get("DOUGONG_LONG") else ["long"])
config.test_source_root = source
config.test_exec_root = os.path.join(build, "lit")
config.environment["PATH"] = os.pathsep.join([os.path.join(build, "bin"), llvm, os.environ["PATH"]])
for name in ("HOME", "DOUGONG_MACHINES", "CI"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.substitutions += [("%python", os.path.join(source, "..", ".venv", "bin", "python")), ("%build", build), ("%source", os.path.join(source, ".."))]
