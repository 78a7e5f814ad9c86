//! Lookups of textures and points.

use super::bind::Binder;
use super::filters::texts;
use super::map_lists::is_list;
use super::reflection::{Pattern, Shortfall, TextureUse};
use super::table::{BindingTable, is_table_element};
use crate::ir::{Body, Const, InstData, Lookup, LookupKind, MachineType, Op, Value};
use crate::passes::writer::BodyWriter;
use std::collections::BTreeSet;

/// Notes in `table` the names of the textures and points that a program looks up, and as what. For programs whose
/// texts are computed by those of blocks.
pub(super) fn note_names(body: &Body, table: &mut BindingTable) {
    let names = names(body, table);
    table.texture_names.extend(names);
}

/// The same of names that are written in shaders alone. For programs whose calls are not in loops over tables yet.
pub(super) fn note_literals(body: &Body, table: &mut BindingTable) {
    let literals = names(body, table).into_iter().filter(|(name, _)| matches!(name, Some(Pattern::Literal(_))));
    table.texture_names.extend(literals);
}

/// Returns the names of textures and points, but for those in tables of constants.
fn names(body: &Body, table: &BindingTable) -> BTreeSet<(Option<Pattern>, TextureUse)> {
    let mut found = BTreeSet::new();
    body.walk(body.root(), &mut |inst| {
        let data = body.inst(inst);
        let uses = uses(body, data);
        if uses.is_empty() {
            return;
        }
        for name in texts(body, vec![data.args[0]]) {
            let name = body.def_inst(name).map(|data| &data.op);
            if name.is_some_and(is_table_element) {
                continue;
            }
            let pattern = name.and_then(|op| table.pattern(op));
            let is_shadow = uses.contains(&TextureUse::Texels(LookupKind::Shadow));
            // Lists are spread: the name is one of their maps.
            if !(is_shadow && matches!(&pattern, Some(Pattern::Literal(text)) if is_list(text))) {
                found.extend(uses.iter().map(|found| (pattern.clone(), found.clone())));
            }
        }
    });
    found
}

/// Returns what an instruction looks up.
fn uses(body: &Body, data: &InstData) -> Vec<TextureUse> {
    match data.op {
        Op::Lookup(lookup) => {
            let colour = is_plain_colour(body, lookup, &data.args).then_some(TextureUse::Colour);
            colour.into_iter().chain([TextureUse::Texels(lookup.kind)]).collect()
        }
        Op::TextureFact(..) => vec![TextureUse::Facts],
        Op::Points(ty) => match body.constant(data.args[5]) {
            Some(Const::Str(channel)) => {
                vec![TextureUse::Points { channel: channel.clone(), is_triple: ty == MachineType::Vec3 }]
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Whether a lookup takes a colour from the first channel on, and 0 for channels that the texture lacks.
fn is_plain_colour(body: &Body, lookup: Lookup, args: &[Value]) -> bool {
    let fill = match lookup.kind {
        LookupKind::Texture => args.len().checked_sub(2),
        LookupKind::Environment => args.len().checked_sub(1),
        LookupKind::Shadow | LookupKind::Occlusion => None,
    };
    let is_zero = |&value: &Value| matches!(body.constant(value), Some(Const::F32(number)) if *number == 0.0);
    lookup.ty == MachineType::Vec3 && fill.is_some_and(|fill| is_zero(&args[1]) && is_zero(&args[fill]))
}

impl Binder<'_> {
    /// Writes a lookup. Two lights of one kind must not jitter alike.
    pub(super) fn lookup(&self, out: &mut BodyWriter, lookup: Lookup, args: &[Value]) -> Value {
        let mut args = args.to_vec();
        if let (true, Some(lit), Some(last)) = (lookup.kind.is_sampled(), self.lit, args.last_mut()) {
            *last = lit.number;
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
            Some(Const::Str(_)) if self.request.textures => return None,
            Some(_) => self.fall_short(out, Shortfall::Lookup("texture3d", name)),
            None => self.fall_short(out, Shortfall::ComputedText("the channel of texture3d()".into())),
        }
        Some(vec![out.zero(MachineType::F32), out.zero(ty)])
    }
}
