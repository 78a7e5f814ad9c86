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
const uint JITTER_KEY = 0x2c1b3c6du;
const int JITTER_LOG2 = 10; // places in an N-th

uint turned(uint a, uint by, uint n) { return a + by < n ? a + by : a + by - n; }

// Numbers below n in another order: those of the lower half and of the upper in turn.
uint halves(uint a, uint n) { return (a >> 1) + ((a & 1u) != 0u ? (n + 1u) >> 1 : 0u); }

// The samples of a row of subpixels: what their positions have in common.
struct SampleRow {
    ivec2 corner; // of the first pixel
    uint y;       // of the subpixels
    uint nth;     // of the width of each, before it is turned
    uint turn;    // of the first pixel: two numbers of 16 bits
    uint jitter;  // of its first subpixel: two numbers of 16 bits
};

SampleRow sample_row(Frame frame, ivec2 pixel, uint y) {
    uint h = hash_mixed(uint(pixel.y) * HASH_Y);
    uint jitter = h * JITTER_KEY + uint(pixel.x) * frame.samples.x * STEP_X + y * STEP_Y;
    return SampleRow(pixel * FIXED, y, halves(y, frame.samples.y), h + uint(pixel.x) * STEP_X, jitter);
}

// Position in 1/1024 pixel, along x and y, of the sample in column x of a pixel of the row.
ivec2 row_position(Frame frame, SampleRow row, uint pixel, uint x) {
    uint turn = row.turn + pixel * STEP_X, jitter = row.jitter + (pixel * frame.samples.x + x) * STEP_X;
    uvec2 turns = (uvec2(turn >> 16, turn & 0xffffu) * frame.samples.yx) >> 16;
    uvec2 nth = uvec2(turned(row.nth, turns.x, frame.samples.y), turned(halves(x, frame.samples.x), turns.y, frame.samples.x));
    uvec2 places = uvec2(jitter >> 16, jitter & 0xffffu) >> (16 - JITTER_LOG2);
    uvec2 within = (nth << JITTER_LOG2 | places) * frame.nth_step >> 6;
    if ((frame.flags & FRAME_JITTER) == 0u) within = frame.sample_step >> 1;
    return row.corner + ivec2(int(pixel) * FIXED, 0) + ivec2((uvec2(x, row.y) * frame.sample_step + within) >> 16);
}

// Position of the sample in subpixel k of a pixel.
ivec2 sample_position(Frame frame, ivec2 pixel, uvec2 k) { return row_position(frame, sample_row(frame, pixel, k.y), 0u, k.x); }

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
