package pressure

import (
	"fmt"
	"math"

	"pinscope/bench/units"
)

// Ring is the most that should be pinned here.
type Ring struct {
	SafeBytes *int64 `json:"safe_bytes"` // nil: unknown
	SlotBytes int64  `json:"slot_bytes"` // as asked, rounded up to whole pages
	Slots     *int64 `json:"slots"`      // whole slots in SafeBytes; nil: unknown, or no slot size given
	How       string `json:"how"`        // in a sentence
	Rule      string `json:"rule"`       // where the rule comes from, in a sentence
}

const ringRule = "A rule of thumb: Linux stops at half of the RAM wherever memory cannot be taken back (tmpfs, graphics drivers); " +
	"here it is half of what is available. `pinscope pressure` measures where this machine begins to suffer."

// SafeRing is the largest ring that should be pinned without asking: the same cap
// that [Guard] holds a run to. slotBytes is the size of one slot; 0 if there is none.
func SafeRing(l Limits, slotBytes int64) Ring {
	r := Ring{SafeBytes: l.PinnableBytes(), Rule: ringRule}
	if r.SafeBytes == nil {
		r.How = "How much memory is available is unknown."
		return r
	}
	available, from := units.Bytes(*l.AvailableBytes), l.Source
	if l.TotalBytes != nil {
		from += " " + units.Bytes(*l.TotalBytes)
	}
	switch {
	case l.WSL2 && *r.SafeBytes == mostWSL2Pinned:
		r.How = fmt.Sprintf("Under WSL2 the driver refuses to pin from 500 MB to 1 GB on, however much memory is there (%s available).", available)
	case *r.SafeBytes < *l.AvailableBytes/pinnableShare:
		r.How = fmt.Sprintf("%s available (%s), less %s left to the system.", available, from, units.Bytes(*l.ReserveBytes()))
	default:
		r.How = fmt.Sprintf("Half of the %s available (%s).", available, from)
	}
	if slotBytes > 0 && slotBytes <= math.MaxInt64-pageBytes {
		r.SlotBytes = (slotBytes + pageBytes - 1) / pageBytes * pageBytes
		r.Slots = known(*r.SafeBytes / r.SlotBytes)
	}
	return r
}

// Text is the answer in a line: "11.5 MiB, 3 slots of ...".
func (r Ring) Text() string {
	if r.SafeBytes == nil {
		return units.NotAvailable
	}
	text := units.Bytes(*r.SafeBytes)
	if r.Slots != nil {
		text += fmt.Sprintf(", %s slots of %s", units.Count(*r.Slots), units.Bytes(r.SlotBytes))
	}
	return text
}
