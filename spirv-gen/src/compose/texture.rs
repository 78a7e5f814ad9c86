//! Lookups of textures and points.

use super::bind::Binder;
use super::map_lists::is_list;
use super::reflection::{Pattern, Shortfall, TextureUse};
use crate::ir::{Const, Lookup, LookupKind, MachineType, Op, Value};
use crate::passes::writer::BodyWriter;

/// Whether a lookup takes a colour from the first channel on, and 0 for channels that the texture lacks.
fn is_plain_colour(out: &BodyWriter, lookup: Lookup, args: &[Value]) -> bool {
    let fill = match lookup.kind {
        LookupKind::Texture => args.len().checked_sub(2),
        LookupKind::Environment => args.len().checked_sub(1),
        LookupKind::Shadow | LookupKind::Occlusion => None,
    };
    let is_zero = |&value: &Value| matches!(out.body().constant(value), Some(Const::F32(number)) if *number == 0.0);
    lookup.ty == MachineType::Vec3 && fill.is_some_and(|fill| is_zero(&args[1]) && is_zero(&args[fill]))
}

impl Binder<'_> {
    /// Writes a lookup. Two lights of one kind must not jitter alike.
    pub(super) fn lookup(
        &mut self,
        out: &mut BodyWriter,
        name: Option<Pattern>,
        lookup: Lookup,
        args: &[Value],
    ) -> Value {
        let mut args = args.to_vec();
        if let (true, Some(lit), Some(last)) = (lookup.kind.is_sampled(), self.lit, args.last_mut()) {
            *last = lit.number;
        }
        // Lists are noted map by map when they are spread.
        if lookup.kind != LookupKind::Shadow || !matches!(&name, Some(Pattern::Literal(text)) if is_list(text)) {
            if is_plain_colour(out, lookup, &args) {
                self.table.texture_names.insert((name.clone(), TextureUse::Colour));
            }
            self.table.texture_names.insert((name, TextureUse::Texels(lookup.kind)));
        }
        out.op(Op::Lookup(lookup), &args)
    }

    /// Writes a lookup of points, whose channel must be known by now; otherwise nothing is found.
    pub(super) fn points(
        &mut self,
        out: &mut BodyWriter,
        name: Option<Pattern>,
        ty: MachineType,
        args: &[Value],
    ) -> Option<Vec<Value>> {
        match out.body().constant(args[5]).cloned() {
            Some(Const::Str(channel)) if self.request.textures => {
                let found = TextureUse::Points { channel, is_triple: ty == MachineType::Vec3 };
                self.table.texture_names.insert((name, found));
                return None;
            }
            Some(_) => self.table.shortfalls.insert(Shortfall::Lookup("texture3d", name)),
            None => self.table.shortfalls.insert(Shortfall::ComputedText),
        };
        Some(vec![out.zero(MachineType::F32), out.zero(ty)])
    }
}
