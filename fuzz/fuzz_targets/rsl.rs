//! Shader source of any kind: the compiler's front end must report errors or give shaders, which must be lowered to
//! valid IR that stays valid when it is simplified.
//!
//! `RUSTC_BOOTSTRAP=1 cargo fuzz run rsl -- -dict=fuzz/rsl.dict -max_len=4096`

#![no_main]

use libfuzzer_sys::fuzz_target;
use spirv_gen::diagnostic::Severity;
use spirv_gen::ir;
use spirv_gen::passes::simplify;
use spirv_gen::syntax::loader::{LoadedSource, SourceLoader};
use spirv_gen::syntax::preprocess::Source;

/// Every file that is included is the source itself.
struct Mirror<'a>(&'a str);

impl SourceLoader for Mirror<'_> {
    fn load(&self, path: &str, _angled: bool, _from: &str) -> Result<LoadedSource, String> {
        Ok(LoadedSource { name: path.to_owned(), text: self.0.to_owned() })
    }
}

fuzz_target!(|text: &str| {
    let source = Source { name: "fuzz.sl", text, loader: &Mirror(text), defines: &[] };
    let parsed = spirv_gen::parse_shaders(&source);
    let errors = parsed.diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
    assert!(errors > 0 || !parsed.shaders.is_empty(), "no shader, and no message about why");
    for diagnostic in &parsed.diagnostics {
        assert!(diagnostic.to_string().len() < 1 << 16, "a message is of readable length");
    }
    for shader in &parsed.shaders {
        assert!(!shader.to_string().is_empty());
        let lowered = spirv_gen::lower(shader);
        if let Err(error) = ir::verify(&lowered) {
            panic!("{error}\n{}", ir::print(&lowered));
        }
        let simplified = simplify(&lowered.body);
        if let Err(error) = ir::verify_body(&simplified, &lowered.params) {
            panic!("{error} after simplify\n{}", ir::print(&lowered));
        }
    }
});
