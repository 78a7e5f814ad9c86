# Every target works from a clean clone.

# The packages of Debian and Ubuntu that the build and the tests need: the Vulkan loader, drivers for CPUs and for AMD
# and Intel GPUs, the validation layer, the GLSL compiler with the libraries it links to, spirv-opt and spirv-val,
# OpenSubdiv, a linker with libstdc++.
PACKAGES = libvulkan1 mesa-vulkan-drivers vulkan-validationlayers libshaderc-dev glslang-dev spirv-tools libosd-dev g++

.PHONY: setup

# Installs missing packages, the drivers from the backports where these are among the system's sources: a newer Mesa
# renders faster on CPUs. It is quick and silent if nothing is missing.
setup:
	@if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then \
	  echo "make setup supports Debian and Ubuntu only. Install the equivalents of $(PACKAGES), then build." >&2; \
	  echo "If your libshaderc is not Debian's, remove the section of .cargo/config.toml that lists its archives." >&2; \
	  exit 1; \
	fi; \
	missing=; \
	for package in $(PACKAGES); do \
	  state=$$(dpkg-query -W -f '$${db:Status-Status}' $$package 2>/dev/null) || true; \
	  [ "$$state" = installed ] || missing="$$missing $$package"; \
	done; \
	[ -n "$$missing" ] || exit 0; \
	if [ "$$(id -u)" = 0 ]; then root=; elif command -v sudo >/dev/null; then root=sudo; \
	else echo "make setup: run as root, or install these packages:$$missing" >&2; exit 1; fi; \
	echo "installing:$$missing"; \
	$$root apt-get update -q || exit 1; \
	backports=$$(apt-cache policy | sed -n 's/.*,n=\([a-z]*-backports\),.*/\1/p' | head -n 1); \
	if [ -n "$$backports" ] && apt-cache madison mesa-vulkan-drivers | grep -q "$$backports"; then \
	  missing=$$(echo "$$missing" | sed "s|mesa-vulkan-drivers|&/$$backports|"); \
	fi; \
	$$root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $$missing

.PHONY: build render

build: setup
	cargo build --release

# Renders a scene to out/, as OpenEXR and as a PNG to look at.
SCENE ?= scenes/landscape.rib
render: build
	@mkdir -p out
	target/release/anthill render $(SCENE) -o out/$(basename $(notdir $(SCENE))).exr
	target/release/anthill preview out/$(basename $(notdir $(SCENE))).exr out/$(basename $(notdir $(SCENE))).png
	@ls -l out/$(basename $(notdir $(SCENE))).exr out/$(basename $(notdir $(SCENE))).png

.PHONY: lint test

# What lints compile, tests then run: Clippy's compiler makes code too (.ci/lint), so that no crate is compiled twice.
# Nothing runs the fuzz targets here, so that an empty program stands in for libFuzzer, which is slow to compile.
FUZZER = $(CURDIR)/target/libno_fuzzer.a
LINTING = RUSTC_WORKSPACE_WRAPPER="$(CURDIR)/.ci/lint" CUSTOM_LIBFUZZER_PATH="$(FUZZER)"

lint: setup $(FUZZER)
	cargo fmt --all --check
	$(LINTING) cargo build --workspace --all-targets

$(FUZZER): | setup
	@mkdir -p target
	@echo 'int main(void) { return 0; }' | cc -x c -c -o $(FUZZER:.a=.o) -
	@ar crs $@ $(FUZZER:.a=.o)

# Runs all tests, and says which took longest. No test is ignored, and none needs a GPU. Without backtraces, what a
# failed test says is among the last lines. Mesa's driver for CPUs does not optimise kernels (GALLIVM_PERF), which takes
# longer than most pictures of tests; the tests of `frames` and `determinism` draw with optimised kernels all the same.
TIMES = $(CURDIR)/target/test-times
test: lint
	@rm -f $(TIMES)
	$(LINTING) TEST_TIMES=$(TIMES) RUST_BACKTRACE=0 GALLIVM_PERF=nopt \
	  cargo test --workspace --config "target.'cfg(all())'.runner = '.ci/timed'"
	@.ci/slowest $(TIMES)
