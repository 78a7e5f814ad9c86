// Sample points: one in each subpixel, jittered (Cook 1986). The N = nx ny samples of a pixel are in different N-ths of
// its width, and of its height (multi-jittering; Chiu, Shirley and Wang 1994): the ny samples of a column of subpixels
// are in different ny-ths of it, in an order that is turned from pixel to pixel, and so are the nx samples of a row.
// What turns it, and the place in an N-th, are multiples of irrational numbers along a row of pixels (Roberts 2018),
// which begin at a hash of the row.

#ifndef SAMPLING_GLSL
#define SAMPLING_GLSL

// A region of the picture with the memory of its subpixels: pixels [x, x + width) x [y, y + height), row-major, the
// subpixels of a pixel together.
struct RegionRect {
    int x;
    int y;
    uint width;
    uint height;
};

// What each coordinate adds to the hash of a subpixel.
const uint HASH_X = 0x9e3779b1u;
const uint HASH_Y = 0x85ebca77u;

uint hash_mixed(uint h) {
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    h ^= h >> 12;
    h *= 0x297a2d39u;
    return h ^ (h >> 15);
}

uint hash_subpixel(uint x, uint y) { return hash_mixed(x * HASH_X ^ y * HASH_Y); }

// What pixels and columns of subpixels, and rows of subpixels, add to two numbers of 16 bits each.
const uint STEP_X = 0xc13f91e1u;
const uint STEP_Y = 0x6a09c13fu;
const uint JITTER_SALT = 0x2c1b3c6du;
const int JITTER_LOG2 = 10; // places in an N-th

uint turned(uint a, uint by, uint n) { return a + by < n ? a + by : a + by - n; }

// Numbers below n in another order: those of the lower half and of the upper in turn.
uint halves(uint a, uint n) { return (a >> 1) + ((a & 1u) != 0u ? (n + 1u) >> 1 : 0u); }

// What the positions of a pixel's samples have in common.
struct PixelSamples {
    ivec2 corner;
    uvec2 turns; // by how many N-ths of the width, and of the height
    uint jitter; // of the first subpixel: two numbers of 16 bits
};

PixelSamples pixel_samples_of(Frame frame, ivec2 pixel) {
    uint h = hash_mixed(uint(pixel.y) * HASH_Y), turn = h + uint(pixel.x) * STEP_X;
    uvec2 turns = (uvec2(turn >> 16, turn & 0xffffu) * frame.samples.yx) >> 16;
    return PixelSamples(pixel * FIXED, turns, h * JITTER_SALT + uint(pixel.x) * frame.samples.x * STEP_X);
}

// Position in 1/1024 pixel, along x and y, of the sample in subpixel k.
ivec2 position_of(Frame frame, PixelSamples pixel, uvec2 k) {
    uint jitter = pixel.jitter + k.x * STEP_X + k.y * STEP_Y;
    uvec2 n = frame.samples;
    uvec2 nth = uvec2(turned(halves(k.y, n.y), pixel.turns.x, n.y), turned(halves(k.x, n.x), pixel.turns.y, n.x));
    uvec2 places = uvec2(jitter >> 16, jitter & 0xffffu) >> (16 - JITTER_LOG2);
    uvec2 within = (nth << JITTER_LOG2 | places) * frame.nth_step >> 6;
    if ((frame.flags & FRAME_JITTER) == 0u) within = frame.sample_step >> 1;
    return pixel.corner + ivec2((k * frame.sample_step + within) >> 16);
}

// Position of the sample in subpixel k of a pixel.
ivec2 sample_position(Frame frame, ivec2 pixel, uvec2 k) { return position_of(frame, pixel_samples_of(frame, pixel), k); }

// Levels of detail blend by samples: each has a number of 16 bits, those of a pixel spread evenly, and an instance is
// seen by those from `detail`'s low half on, as many as its high half says before the last. 0: by all.
const uint DETAIL_ALL = 0u;
const int DETAIL_END_SHIFT = 16;

// Whether sample `index` of a pixel sees a level of detail.
bool sees_detail(uint detail, ivec2 pixel, uint index) {
    if (detail == DETAIL_ALL) return true;
    uint number = (bitfieldReverse(index) + hash_subpixel(~uint(pixel.x), uint(pixel.y))) >> 16;
    return number >= (detail & 0xffffu) && number + (detail >> DETAIL_END_SHIFT) < 0x10000u;
}

// First and last subpixel (inside a pixel that starts at `origin`) whose sample can lie in [low, high], 1/1024 pixel:
// conservative.
uvec2 first_subpixel(ivec2 low, ivec2 origin) { return (uvec2(clamp(low - origin, 0, FIXED - 1)) * frame.samples) >> FIXED_LOG2; }
uvec2 last_subpixel(ivec2 high, ivec2 origin) {
    return min(((uvec2(clamp(high - origin, 0, FIXED - 1)) + 1u) * frame.samples) >> FIXED_LOG2, frame.samples - 1u);
}

uint region_pixel(RegionRect region, ivec2 pixel) { return uint(pixel.y - region.y) * region.width + uint(pixel.x - region.x); }

#endif
