//! Texture lookups: calls into the helper library, which reads the buffers of [`crate::abi::textures`].

use super::emitter::Emitter;
use super::error::EmitError;
use crate::abi;
use crate::ir::{Const, Lookup, LookupKind, MachineType, TextureFact, Value};
use rspirv::spirv::{Op, Word};

impl Emitter<'_> {
    /// Writes a lookup.
    pub(super) fn lookup(&mut self, lookup: Lookup, args: &[Word]) -> Result<Word, EmitError> {
        let f32 = self.s.type_f32();
        let (vec2, vec3) = (self.s.type_vector(f32, 2), self.s.type_vector(f32, 3));
        let texture = self.texture_token(args[0]);
        self.count_lookup(texture);
        let is_triple = lookup.ty == MachineType::Vec3;
        let wanted = self.s.u32(if is_triple { 3 } else { 1 });
        let found = match lookup.kind {
            LookupKind::Texture => {
                let [st, dx, dy] = [2, 4, 6].map(|i| self.s.inst(Op::CompositeConstruct, vec2, &args[i..i + 2]));
                let (narrow, form) = (self.vec4(&args[8..12]), self.index(args[12], 2 * u32::from(LookupKind::PLAIN)));
                let all = [texture, args[1], wanted, st, dx, dy, narrow, form, args[13], args[14]];
                self.call("rsl_texture", vec3, &all)?
            }
            LookupKind::Environment => {
                let (narrow, form) = (self.vec4(&args[5..9]), self.index(args[9], 2 * u32::from(LookupKind::PLAIN)));
                let all = [texture, args[1], wanted, args[2], args[3], args[4], narrow, form, args[10]];
                self.call("rsl_environment", vec3, &all)?
            }
            LookupKind::Shadow => {
                let (narrow, sampling) = (self.vec4(&args[5..9]), self.vec4(&args[9..13]));
                let seed = self.sampling_seed(args[13])?;
                let all = [texture, args[1], args[2], args[3], args[4], narrow, sampling, seed];
                return self.call("rsl_shadow", f32, &all);
            }
            LookupKind::Occlusion => {
                let narrow = self.vec4(&args[6..10]);
                let sampling = self.s.inst(Op::CompositeConstruct, vec3, &args[10..13]);
                let seed = self.sampling_seed(args[13])?;
                let all = [texture, args[2], args[3], args[4], args[5], narrow, sampling, seed];
                return self.call("rsl_occlusion", f32, &all);
            }
        };
        Ok(if is_triple { found } else { self.s.extract(f32, found, 0) })
    }

    /// Returns the seed of a vertex's samples for the light of a number.
    fn sampling_seed(&mut self, light: Word) -> Result<Word, EmitError> {
        let u32 = self.s.type_u32();
        let seed = self.call("rsl_hash", u32, &[self.frame.seed, self.frame.vertex])?;
        self.call("rsl_hash", u32, &[seed, light])
    }

    /// Writes a lookup of a point cloud: whether anything was found, and the value.
    pub(super) fn points(&mut self, ty: MachineType, channel: Value, args: &[Word]) -> Result<Vec<Word>, EmitError> {
        let Some(Const::Str(channel)) = self.body.constant(channel) else {
            return Err(EmitError::NotBound("a computed channel".into()));
        };
        let (f32, u32) = (self.s.type_f32(), self.s.type_u32());
        let (uvec2, vec2) = (self.s.type_vector(u32, 2), self.s.type_vector(f32, 2));
        let (vec3, vec4) = (self.s.type_vector(f32, 3), self.s.type_vector(f32, 4));
        let hash = abi::points::channel_hash(channel).map(|word| self.s.u32(word));
        let channel = self.s.composite(uvec2, &hash);
        let cloud = self.texture_token(args[0]);
        self.count_lookup(cloud);
        let reach = self.s.inst(Op::CompositeConstruct, vec2, &args[3..5]);
        let found = self.call("rsl_points", vec4, &[cloud, args[1], args[2], reach, channel])?;
        let value = match ty {
            MachineType::Vec3 => self.s.shuffle(vec3, found, &[0, 1, 2]),
            _ => self.s.extract(f32, found, 0),
        };
        Ok(vec![self.s.extract(f32, found, 3), value])
    }

    /// Writes a question about a texture.
    pub(super) fn texture_fact(&mut self, fact: TextureFact, number: u8, texture: Word) -> Result<Word, EmitError> {
        let f32 = self.s.type_f32();
        let texture = self.texture_token(texture);
        let (what, number) = (self.s.u32(fact as u32), self.s.u32(number.into()));
        self.call("rsl_textureinfo", f32, &[texture, what, number])
    }

    /// Returns a texture's token, or that of no texture in empty slots, whose coordinates mean nothing.
    fn texture_token(&mut self, token: Word) -> Word {
        let (u32, none, occupied) = (self.s.type_u32(), self.s.u32(0), self.occupied());
        self.s.inst(Op::Select, u32, &[occupied, token, none])
    }
}
