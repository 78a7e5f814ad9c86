// Sorting of a short list by one invocation: insertion as long as few items move, since most lists are nearly sorted;
// else a heap sort, so that no list is slow. Needs Item, item(at), put(at, item) and after(item, item).

#ifndef SORT_GLSL
#define SORT_GLSL

// How far insertion moves items of a list, in the mean, before it gives up. For lists of 512 items in all 8 lanes of a
// vector the loops of both ways to sort make about 31,000 trips (docs/pipeline/loops.md).
const uint INSERTION_MOVES = 6u;

void sift(uint base, uint root, uint end) {
    Item moving = item(base + root);
    for (uint child = 2u * root + 1u; child < end; child = 2u * root + 1u) {
        Item larger = item(base + child), other = item(base + min(child + 1u, end - 1u));
        if (after(other, larger)) {
            larger = other;
            child++;
        }
        if (!after(larger, moving)) break;
        put(base + root, larger);
        root = child;
    }
    put(base + root, moving);
}

// Whether the list is sorted: not if it takes too many moves.
bool insertion_sort(uint base, uint count) {
    if (count == 0u) return true;
    uint moves = INSERTION_MOVES * count;
    Item last = item(base);
    for (uint i = 1u; i < count; i++) {
        Item moving = item(base + i);
        if (!after(last, moving)) {
            last = moving;
            continue;
        }
        uint j = i;
        Item before = last;
        do {
            put(base + j, before);
            j--;
            moves--;
            if (j > 0u) before = item(base + j - 1u);
        } while (j > 0u && moves > 0u && after(before, moving));
        put(base + j, moving);
        if (moves == 0u) return false;
    }
    return true;
}

void heap_sort(uint base, uint count) {
    for (uint root = count / 2u; root > 0u; root--) sift(base, root - 1u, count);
    for (uint end = count - 1u; end > 0u; end--) {
        Item top = item(base);
        put(base, item(base + end));
        put(base + end, top);
        sift(base, 0u, end);
    }
}

void sort_list(uint base, uint count) {
    if (!insertion_sort(base, count)) heap_sort(base, count);
}

#endif
