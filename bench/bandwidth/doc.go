// Package bandwidth measures how fast a device's link moves bytes, for each kind
// of host memory, size and direction, what a copy costs the caller, and what the
// memory costs to allocate.
//
// [Run] does it all on an open device and gives a [Result]: a JSON value that writes
// itself as text and CSV. What a figure rests on:
//
//   - A sample is a few copies queued end to end between two events. DMA time is
//     the time between the events, and GB/s the bytes over that time. Host-blocked
//     time is how long the calls kept the caller, by the clock. The two are told
//     apart because a pageable copy keeps its caller for as long as it is staged,
//     and a pinned one only for the time of the call.
//   - A cell (direction, kind, size) is the median of its samples with a 95 %
//     interval. A sample without copies or without time has no figure: "n/a", null
//     in JSON, an empty cell in CSV.
//   - An idle link is slow. Before each cell copies are made until their figure is
//     steady; they are kept in the result and not counted.
//   - One direction alone and the same while the other one is busy with pinned copies
//     are different directions here, since the second halves on some machines,
//     whatever is pinned.
//   - Mapped and managed memory is read by a kernel in place of a copy. Managed memory
//     is touched by the host before each sample, so that its pages move every time.
//   - A figure above what the link can carry is flagged, not hidden: the clock was
//     stopped before the work was done.
//
// Nothing is allocated, logged or waited for between a sample's two events.
package bandwidth
