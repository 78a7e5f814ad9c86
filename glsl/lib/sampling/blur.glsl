// When a sample is taken, and through which point of the lens. The N = nx ny samples of a pixel have N parts of the
// shutter among them, through which equal amounts of light come in, and the N cells of the lens (its unit square in
// nx x ny, mapped to the aperture): each has one part and one cell, and a place in both that is jittered. Parts are
// numbered like subpixels: part (x, y) is the x-th of those nx parts that are the y-th of the shutter.
//
// Without a lens, the parts of the subpixels of a *period* of 32x32 pixels are a lattice in the picture and time
// (Korobov 1959): the subpixel in column X and row Y has part a X + nx Y, modulo N, so that any nx x ny subpixels of
// the period have each part once. The host chooses a so that samples are far from each other for motion that is slow or
// fast. Each period begins at another part (Cranley and Patterson 1976). The four pixels of a square are in different
// quarters of a part.
//
// With a lens, which subpixel has which part differs from pixel to pixel: a hash turns the columns of each row of
// parts, then the rows of each column. So in every pixel the nx parts of a row are in different columns. Which cell
// of the lens goes with which part is the same for pixels of a *class*, of which there are LENS_CLASSES, in a square
// of pixels: with one class only, each moment would be seen through the same few points of the lens everywhere.
//
// Needs frame.

#ifndef BLUR_GLSL
#define BLUR_GLSL

#include "lib/sampling/sampling.glsl"

const uint LENS_CLASS_LOG2 = 2u; // pixels along the side of the square
const uint LENS_CLASS_PX = 1u << LENS_CLASS_LOG2;
const uint LENS_CLASSES = LENS_CLASS_PX * LENS_CLASS_PX;

// The positive square root, in products and sums alone (Newton's method), which are the same on every device.
float root(float x) {
    float y = uintBitsToFloat(0x5f3759dfu - (floatBitsToUint(x) >> 1)), half_x = 0.5 * x;
    for (int i = 0; i < 3; i++) y = y * (1.5 - (half_x * y) * y);
    return x * y;
}

// The time by which a part of all the light has come in, both 0 to 1: so what is even among samples in light is in time
// as dense as the shutter is open. While it opens or closes, light grows with the square of the time.
float shutter_time(float light) {
    if ((frame.flags & FRAME_RAMPS) == 0u) return light;
    float left = 1.0 - light;
    if (light < frame.ramp_parts.x) return frame.ramps.x * root(light * frame.ramp_inverse.x);
    if (left < frame.ramp_parts.y) return 1.0 - frame.ramps.y * root(left * frame.ramp_inverse.y);
    return frame.ramps.x + (light - frame.ramp_parts.x) * frame.open_time;
}

// The rectangle of the lens, of radius 1, that holds all of a cell; or two points of the rim, with a wedge between them
// and the middle.
struct LensCell {
    vec2 low;
    vec2 high;
};

uint hash_word(uint h) {
    h ^= h >> 16;
    h *= 0x7feb352du;
    h ^= h >> 15;
    h *= 0x846ca68bu;
    return h ^ (h >> 16);
}

// A number below n, by a hash of a salt and a number.
uint hash_below(uint salt, uint number, uint n) {
    uint h = (salt + number * 0x9e3779b1u) * 0x2c1b3c6du;
    h ^= h >> 15;
    h *= 0x297a2d39u;
    return ((h >> 16) * n) >> 16;
}

uint turned_back(uint a, uint by, uint n) { return a >= by ? a - by : a + n - by; }

// a modulo n: a quotient of floats is off by one at most.
uint remainder(uint a, uint n) {
    uint r = a - uint(float(a) / float(n)) * n;
    return r < n ? r : int(r) < 0 ? r + n : r - n;
}

// Numbers below n in another order, in which those that followed each other are far apart: multiples of a step, or, for
// n that have no good one (step 0), those of the lower half and of the upper in turn. The steps are inverse to each
// other modulo n.
uint spread(uint a, uint step, uint n) { return step != 0u ? remainder(a * step, n) : halves(a, n); }
uint gathered(uint a, uint step, uint n) {
    uint half_n = (n + 1u) >> 1;
    return step != 0u ? remainder(a * step, n) : a < half_n ? 2u * a : 2u * (a - half_n) + 1u;
}

// Puts each row's columns in the order of `spread` and turns them, then turns the rows of each column; and its inverse.
const uint TURN_ROWS = 0x68e31da4u;
uvec2 shuffled(uvec2 a, uint salt, uvec2 n) {
    a.x = turned(spread(a.x, frame.spread.x, n.x), hash_below(salt, a.y, n.x), n.x);
    a.y = turned(a.y, hash_below(salt ^ TURN_ROWS, a.x, n.y), n.y);
    return a;
}
uvec2 unshuffled(uvec2 a, uint salt, uvec2 n) {
    a.y = turned_back(a.y, hash_below(salt ^ TURN_ROWS, a.x, n.y), n.y);
    a.x = gathered(turned_back(a.x, hash_below(salt, a.y, n.x), n.x), frame.spread.y, n.x);
    return a;
}

// The salt of a pixel: not that of any sample's jitter in time.
const uint PIXEL_SALT = 0xb5297a4du;
uint pixel_salt(ivec2 pixel) { return hash_word(hash_subpixel(uint(pixel.x), uint(pixel.y)) ^ PIXEL_SALT); }

// Part n of the shutter, or cell n of the lens, row by row.
uvec2 place_of(uint n) {
    uint y = uint((float(n) + 0.5) / float(frame.samples.x));
    return uvec2(n - y * frame.samples.x, y);
}

// By how many parts the order of a period is turned.
const uint PERIOD_SALT = 0x3c6ef372u;
const int PERIOD_LOG2 = 5;
uint period_turn(ivec2 pixel, uint n) {
    uvec2 period = uvec2(pixel >> PERIOD_LOG2);
    return hash_below(hash_subpixel(period.x, period.y) ^ PERIOD_SALT, 0u, n);
}

// What a column of subpixels of a pixel adds to the number of its parts.
uint column_parts(ivec2 pixel, uint column, uint n) {
    uint x = (uint(pixel.x) & ((1u << PERIOD_LOG2) - 1u)) * frame.samples.x + column;
    return remainder(frame.time_lattice.x * x, n);
}

// The subpixel that has a part of the shutter.
uvec2 subpixel_of_part(uvec2 part, ivec2 pixel) {
    uvec2 n = frame.samples;
    if ((frame.flags & FRAME_LENS) != 0u) return shuffled(part, pixel_salt(pixel), n);
    uint count = n.x * n.y, number = turned_back(part.y * n.x + part.x, period_turn(pixel, count), count);
    uint x = remainder(remainder(number, n.x) * frame.time_lattice.y, n.x);
    return uvec2(x, place_of(turned_back(number, column_parts(pixel, x, count), count)).y);
}

// The part of the shutter that a subpixel has.
uvec2 part_of_subpixel(uvec2 k, ivec2 pixel) {
    uvec2 n = frame.samples;
    if ((frame.flags & FRAME_LENS) != 0u) return unshuffled(k, pixel_salt(pixel), n);
    uint count = n.x * n.y, number = turned(column_parts(pixel, k.x, count), k.y * n.x, count);
    return place_of(turned(number, period_turn(pixel, count), count));
}

// The quarter of each part in which a pixel's samples are: for the four pixels of a square in one of eight orders.
const uint SQUARE_SALT = 0x510e527fu;
uint part_quarter(ivec2 pixel) {
    uvec2 square = uvec2(pixel) >> 1, place = uvec2(pixel) & 1u;
    uint h = hash_word(hash_subpixel(square.x, square.y) ^ SQUARE_SALT);
    uint low = (h & 4u) != 0u ? place.x : place.y;
    return ((place.x ^ place.y) << 1 | low) ^ (h & 3u);
}

// Whether samples are in quarters of parts: one sample is anywhere in the time, as what is not chance would show.
bool in_quarters() {
    return (frame.flags & FRAME_JITTER) != 0u && (frame.flags & FRAME_LENS) == 0u && frame.samples.x * frame.samples.y > 1u;
}

// Cells are numbered in an order that goes all over the lens, and those of a class begin at a 16th of them that is its
// own: so at any time the classes together see through all of the lens. Classes that are next to each other in the
// picture are far from each other in that order (Bayer 1973).
const uint LENS_SALT = 0x1b56c4e9u;
uint class_start(uint lens_class) {
    uint x = lens_class & (LENS_CLASS_PX - 1u), y = lens_class >> LENS_CLASS_LOG2, both = x ^ y;
    uint order = (both & 1u) << 3 | (y & 1u) << 2 | (both & 2u) | (y & 2u) >> 1;
    return (order * (frame.samples.x * frame.samples.y)) / LENS_CLASSES;
}
uint pixel_class(ivec2 pixel) {
    return uint(pixel.x) & (LENS_CLASS_PX - 1u) | (uint(pixel.y) & (LENS_CLASS_PX - 1u)) << LENS_CLASS_LOG2;
}

// The cell of the lens that goes with a part of the shutter in pixels of a class.
uvec2 cell_of_part(uvec2 part, uint lens_class) {
    uint n = turned(part.y * frame.samples.x + part.x, class_start(lens_class), frame.samples.x * frame.samples.y);
    return shuffled(place_of(n), LENS_SALT, frame.samples);
}

// The same the other way: the number of a cell in that order, and from it the number of the part.
uint cell_number(uvec2 cell) {
    uvec2 place = unshuffled(cell, LENS_SALT, frame.samples);
    return place.y * frame.samples.x + place.x;
}
uint part_number(uint cell_number, uint lens_class) {
    return turned_back(cell_number, class_start(lens_class), frame.samples.x * frame.samples.y);
}

#endif
