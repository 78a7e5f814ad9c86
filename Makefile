# What `make` can do here. Every target works from a clean clone.

# Libraries and tools that the build and the tests need, as Debian and Ubuntu name them: the Vulkan loader, CPU drivers (and the drivers
# of AMD's and Intel's GPUs), the validation layer, the GLSL compiler with what it links to, spirv-val, a linker with libstdc++.
PACKAGES = libvulkan1 mesa-vulkan-drivers vulkan-validationlayers libshaderc-dev glslang-dev spirv-tools g++

.PHONY: setup

# Installs what is missing; quick and silent when nothing is.
setup:
	@if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then \
	  echo "make setup knows Debian and Ubuntu only. Install what their packages $(PACKAGES) hold, then build." >&2; \
	  echo "Where libshaderc is not Debian's, remove the section of .cargo/config.toml that lists its archives." >&2; \
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
	$$root apt-get update -q && $$root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $$missing

.PHONY: build render test lint

build: setup
	cargo build --release

# Renders a scene to out/: an OpenEXR picture, and a PNG to look at.
SCENE ?= scenes/landscape.rib
render: build
	@mkdir -p out
	target/release/anthill render $(SCENE) -o out/$(basename $(notdir $(SCENE))).exr
	target/release/anthill preview out/$(basename $(notdir $(SCENE))).exr out/$(basename $(notdir $(SCENE))).png
	@ls -l out/$(basename $(notdir $(SCENE))).exr out/$(basename $(notdir $(SCENE))).png

lint: setup
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

# All tests, validation layers on. Nothing is ignored and nothing needs a GPU.
test: lint
	cargo test --workspace
