//! The flags of `anthill completions`.

use clap::Args;
use clap_complete::Shell;

/// Print a script that completes commands and flags in a shell
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_HELP)]
pub(crate) struct CompletionsFlags {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    pub(crate) shell: Shell,
}

const COMPLETIONS_HELP: &str = "\
Examples:
  anthill completions bash > ~/.local/share/bash-completion/completions/anthill
  anthill completions zsh > ~/.zfunc/_anthill
  anthill completions fish > ~/.config/fish/completions/anthill.fish";
