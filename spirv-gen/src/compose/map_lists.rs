//! Lists of shadow maps, `"a.shad,b.shad"`: a lookup whose name is one, or may turn out to be one, becomes a lookup of
//! each map. The light that all of them let through is the product of theirs.

use super::filters::texts;
use super::reflection::{Pattern, TextureUse};
use super::table::BindingTable;
use crate::ir::{Binary, Body, Compare, Const, Inst, Lookup, LookupKind, Op, Value};
use crate::passes::translate::{Rules, Translator, translate};
use crate::passes::writer::BodyWriter;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Returns whether the name of a shadow map is a list of names.
pub fn is_list(name: &str) -> bool {
    name.contains(',')
}

fn maps(list: &str) -> Vec<&str> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).collect()
}

/// Replaces lookups of lists, and notes in `table` the maps of those that are known. For simplified bodies, in which
/// branches that are never taken are gone.
pub(super) fn spread_map_lists(body: Body, table: &mut BindingTable) -> Body {
    let mut lists: FxHashMap<Value, BTreeSet<Arc<str>>> = FxHashMap::default();
    body.walk(body.root(), &mut |inst| {
        let data = body.inst(inst);
        if matches!(data.op, Op::Lookup(Lookup { kind: LookupKind::Shadow, .. })) {
            let name = data.args[0];
            lists.entry(name).or_insert_with(|| lists_of(&body, name));
        }
    });
    lists.retain(|_, lists| !lists.is_empty());
    if lists.is_empty() {
        return body;
    }
    for (_, lists) in lists.iter().filter(|(name, _)| body.constant(**name).is_some()) {
        let names = lists.iter().flat_map(|list| maps(list));
        let found = names.map(|name| (Some(Pattern::Literal(name.into())), TextureUse::Texels(LookupKind::Shadow)));
        table.texture_names.extend(found);
    }
    translate(&body, &mut SpreadLists { lists }, true)
}

/// Returns the lists that a name may turn out to be.
fn lists_of(body: &Body, name: Value) -> BTreeSet<Arc<str>> {
    let list = |text: Value| match body.constant(text) {
        Some(Const::Str(text)) if is_list(text) => Some(Arc::clone(text)),
        _ => None,
    };
    texts(body, vec![name]).into_iter().filter_map(list).collect()
}

struct SpreadLists {
    /// The lists that names may turn out to be.
    lists: FxHashMap<Value, BTreeSet<Arc<str>>>,
}

impl Rules for SpreadLists {
    fn replace(&mut self, t: &mut Translator<'_, '_>, inst: Inst, args: &[Value]) -> Option<Vec<Value>> {
        let data = t.from.inst(inst);
        let Op::Lookup(lookup) = data.op else { return None };
        let lists = self.lists.get(&data.args[0]).filter(|_| lookup.kind == LookupKind::Shadow)?;
        Some(vec![shadows(t.out, lists, lookup, args.to_vec())])
    }
}

/// Returns the shadows of the maps of the list, if the name is one of `lists`, or of the one map that it names.
fn shadows(out: &mut BodyWriter, lists: &BTreeSet<Arc<str>>, lookup: Lookup, mut args: Vec<Value>) -> Value {
    let (name, mut dark) = (args[0], out.zero(lookup.ty));
    let most = lists.iter().map(|list| maps(list).len()).max().unwrap_or(0).max(1);
    for i in 0..most {
        // An empty name casts no shadow.
        let alone = if i == 0 { name } else { out.constant("") };
        args[0] = lists.iter().fold(alone, |other, list| {
            let (this, map) = (out.constant(&**list), out.constant(maps(list).get(i).copied().unwrap_or_default()));
            let is_this = out.op(Op::Compare(Compare::Eq), &[name, this]);
            out.op(Op::Select, &[is_this, map, other])
        });
        let one = out.op(Op::Lookup(lookup), &args);
        let (sum, both) =
            (out.op(Op::Binary(Binary::Add), &[dark, one]), out.op(Op::Binary(Binary::Mul), &[dark, one]));
        dark = out.op(Op::Binary(Binary::Sub), &[sum, both]);
    }
    dark
}
