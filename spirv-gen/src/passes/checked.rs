//! Checks what passes make.

use crate::ir::{Body, verify_body};

/// Returns the body that a pass has made, verified where debug assertions are on.
pub(crate) fn checked(body: Body) -> Body {
    if cfg!(debug_assertions)
        && let Err(e) = verify_body(&body, &[])
    {
        panic!("a pass made an invalid program: {e}");
    }
    body
}
