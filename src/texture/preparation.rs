//! What becomes of the colours of a picture before a texture is made of it.

use super::header::TexelFormat;
use super::make::{AlphaMode, MakeRequest};

/// Makes colours linear and multiplies them with alpha, as asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Preparation {
    channels: usize,
    is_srgb: bool,
    /// The channel of the alpha that colours are multiplied with.
    alpha: Option<usize>,
}

impl Preparation {
    /// Returns what becomes of a picture with these channels, stored in this format, whose colours are not yet
    /// multiplied with the alpha in the channel `straight_alpha`; `None` if it stays as it is.
    pub(super) fn of(
        request: &MakeRequest,
        format: TexelFormat,
        channels: u32,
        straight_alpha: Option<usize>,
    ) -> Option<Self> {
        let is_srgb = request.from_srgb && format == TexelFormat::U8;
        let alpha = straight_alpha.filter(|_| request.alpha == AlphaMode::Multiply);
        (is_srgb || alpha.is_some()).then_some(Self { channels: channels as usize, is_srgb, alpha })
    }

    /// Changes the texels of a row.
    pub(super) fn apply(self, row: &mut [f32]) {
        let colours = if self.channels < 3 { 1 } else { 3 };
        for texel in row.chunks_exact_mut(self.channels) {
            let opacity = self.alpha.map_or(1.0, |alpha| texel[alpha]);
            for value in &mut texel[..colours] {
                *value = if self.is_srgb { linear(*value) } else { *value } * opacity;
            }
        }
    }
}

/// Applies the inverse of the sRGB transfer function (IEC 61966-2-1).
fn linear(encoded: f32) -> f32 {
    let encoded = f64::from(encoded);
    let linear = if encoded <= 0.040_45 { encoded / 12.92 } else { ((encoded + 0.055) / 1.055).powf(2.4) };
    linear as f32
}
