//! `texture()`.

use super::arithmetic::{bounded_all, widened, wrap_place};
use super::filter::{Footprint, LookupFilter, Window};
use super::store::{FoundTexture, TextureStore, WantedChannels};

/// `texture()` at `st`, over the footprint (dx, dy).
pub fn texture(
    store: &dyn TextureStore,
    token: u32,
    wanted: WantedChannels,
    [st, dx, dy]: [[f32; 2]; 3],
    filter: &LookupFilter,
) -> [f32; 3] {
    let FoundTexture::Number(number) = store.texture(token) else {
        return [if wanted.count == 3 { 1.0 } else { 0.0 }; 3];
    };
    if !st.iter().all(|x| x.is_finite()) {
        return [0.0; 3];
    }
    let shape = store.shape(number);
    let place = [wrap_place(st[0], shape.wrap[0]), wrap_place(st[1], shape.wrap[1])];
    let [dx, dy] = [dx, dy].map(|d| widened(d, filter.width, 64.0));
    let blur = bounded_all(filter.blur, 64.0);
    let size = shape.size.map(|n| n as f32);
    let footprint = Footprint::new(size, shape.levels, place, [dx, dy, blur], filter);
    Window::whole(&shape, number, wanted).filtered(store, &shape, &footprint, filter)
}
