//! The command `anthill`: exit codes only.

fn main() {}
