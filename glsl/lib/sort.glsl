// Sorting of a short list by one invocation: insertion where few items move, a heap sort beyond, so that no list is
// slow. Needs Item, item(at), put(at, item) and after(item, item).

#ifndef SORT_GLSL
#define SORT_GLSL

// Items of a list that is sorted by insertion.
const uint INSERTED_MAX = 24u;

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

void insertion_sort(uint base, uint count) {
    for (uint i = 1u; i < count; i++) {
        Item moving = item(base + i);
        uint j = i;
        while (j > 0u) {
            Item before = item(base + j - 1u);
            if (!after(before, moving)) break;
            put(base + j, before);
            j--;
        }
        put(base + j, moving);
    }
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

#endif
