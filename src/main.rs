//! The command `anthill`: runs the command line and returns its exit code.

#![forbid(unsafe_code)]

mod cli;

use anthill::heap::HugePageHeap;
use std::process::ExitCode;

#[global_allocator]
static HEAP: HugePageHeap = HugePageHeap;

fn main() -> ExitCode {
    anthill::heap::return_large_blocks_when_freed();
    anthill::gpu::avoid_full_driver_cache();
    cli::exit(cli::run(std::env::args_os(), &anthill::render, cli::Console::of_process()))
}
