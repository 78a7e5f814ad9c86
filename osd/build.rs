//! Compiles the C++ side and links OpenSubdiv.

fn main() {
    println!("cargo::rerun-if-changed=src/shim.cpp");
    println!("cargo::rerun-if-changed=src/shim.h");
    // Optimised in any profile: tests and debug builds refine meshes too.
    cc::Build::new().cpp(true).std("c++14").opt_level(2).warnings(false).file("src/shim.cpp").compile("osd_shim");
    println!("cargo::rustc-link-lib=dylib=osdCPU");
}
