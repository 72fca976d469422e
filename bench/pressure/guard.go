package pressure

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pinscope/bench/units"
)

// What is left to everything else on the machine, and what may be pinned.
//
// Half of the available memory is the most to pin without being told to risk
// more: Linux stops at half of the RAM by default wherever memory cannot be
// given back under pressure (tmpfs, Documentation/filesystems/tmpfs.rst, which
// warns of a deadlock beyond; memory of graphics drivers,
// drivers/gpu/drm/ttm/ttm_device.c). It is taken of what is available rather than
// of the RAM, so that a machine in use is left as much again as it already uses
// for files and programs to come.
//
// No run, pinned or not, may take all: the reserve is an eighth of what is
// available, and at least a twentieth of the total up to 1 GiB. earlyoom(1), which
// desktops run, ends programs at 10 % of the memory left and kills at 5 %.
const (
	pinnableShare   = 2       // one in so many bytes available
	reserveShare    = 8       // one in so many bytes available
	reserveOfTotal  = 20      // one in so many bytes in total
	mostOfTotal     = 1 << 30 // bytes that reserveOfTotal asks for at most
	mostWSL2Pinned  = 512 << 20
	pageBytes       = 4096 // least size of a page where CUDA runs; ranges are rounded up to it
	overrideWarning = "pinned memory cannot be taken back while the run lasts, so the system may become slow or end programs"
)

// ReserveBytes is what a run leaves alone of the available memory; nil: unknown.
func (l Limits) ReserveBytes() *int64 {
	if l.AvailableBytes == nil {
		return nil
	}
	reserve := *l.AvailableBytes / reserveShare
	if l.TotalBytes != nil {
		reserve = max(reserve, min(*l.TotalBytes/reserveOfTotal, mostOfTotal))
	}
	return &reserve
}

// SpendableBytes is what a run may take in all, >= 0; nil: unknown.
func (l Limits) SpendableBytes() *int64 {
	reserve := l.ReserveBytes()
	if reserve == nil {
		return nil
	}
	return known(max(0, *l.AvailableBytes-*reserve))
}

// PinnableBytes is what a run may page-lock unless it is told to risk more, >= 0;
// nil: unknown. Under WSL2 it is at most 512 MiB, where the driver has been seen
// to refuse (microsoft/WSL#14078).
func (l Limits) PinnableBytes() *int64 {
	spendable := l.SpendableBytes()
	if spendable == nil {
		return nil
	}
	pinnable := min(*l.AvailableBytes/pinnableShare, *spendable)
	if l.WSL2 {
		pinnable = min(pinnable, mostWSL2Pinned)
	}
	return &pinnable
}

// Part is one use of host memory in a run.
type Part struct {
	Name     string   `json:"name"` // "pinned ring", "queue", "data set", "staging"
	Bytes    int64    `json:"bytes"`
	Pinned   bool     `json:"pinned"`             // page-locked
	Settings []string `json:"settings,omitempty"` // that lower it: "ring-slots", "batch"
}

// Need is all that a run will hold at once.
type Need []Part

// Bytes sums the parts, and of them those that are pinned. What does not fit
// into 63 bits, or is negative, counts as math.MaxInt64.
func (n Need) Bytes() (all, pinned int64) {
	for _, p := range n {
		all = saturate(all, p.Bytes)
		if p.Pinned {
			pinned = saturate(pinned, p.Bytes)
		}
	}
	return all, pinned
}

func saturate(a, b int64) int64 {
	if b < 0 || a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// settings lists what would lower the need, the largest part's settings first.
func (n Need) settings(pinnedOnly bool) []string {
	parts := slices.Clone(n)
	slices.SortStableFunc(parts, func(a, b Part) int {
		switch {
		case a.Bytes > b.Bytes:
			return -1
		case a.Bytes < b.Bytes:
			return 1
		}
		return 0
	})
	var out []string
	for _, p := range parts {
		if p.Bytes == 0 || pinnedOnly && !p.Pinned {
			continue
		}
		for _, s := range p.Settings {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// Verdict is what the guard says.
type Verdict uint8

// The verdicts. The zero value lets nothing through.
const (
	Refused       Verdict = iota // more than can be had; no override helps
	NeedsOverride                // more pinned than is wise; an override lets it run
	Risked                       // the same, with the override
	Unchecked                    // what is available is unknown
	Fits
)

var verdictNames = [...]string{"refused", "needs override", "risked", "unchecked", "fits"}

func (v Verdict) String() string {
	if int(v) >= len(verdictNames) {
		return fmt.Sprintf("Verdict(%d)", uint8(v))
	}
	return verdictNames[v]
}

// MarshalText gives the name.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText takes a name.
func (v *Verdict) UnmarshalText(text []byte) error {
	i := slices.Index(verdictNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("pressure: verdict %q: unknown name", text)
	}
	*v = Verdict(i)
	return nil
}

// Decision is what the guard says and the numbers it used.
type Decision struct {
	Verdict        Verdict  `json:"verdict"`
	NeedBytes      int64    `json:"need_bytes"`
	PinnedBytes    int64    `json:"pinned_bytes"` // of the need
	AvailableBytes *int64   `json:"available_bytes"`
	ReserveBytes   *int64   `json:"reserve_bytes"`
	SpendableBytes *int64   `json:"spendable_bytes"` // AvailableBytes less ReserveBytes
	PinnableBytes  *int64   `json:"pinnable_bytes"`  // without the override
	TotalBytes     *int64   `json:"total_bytes"`
	Source         string   `json:"source"`             // of TotalBytes
	Settings       []string `json:"settings,omitempty"` // that would lower what is too much
	Text           string   `json:"text"`               // a sentence with the numbers; empty if it fits
}

// Runs says whether the run may start.
func (d Decision) Runs() bool { return d.Verdict >= Risked }

// Err is nil when the run may start, else an error with the Text.
func (d Decision) Err() error {
	if d.Runs() {
		return nil
	}
	return fmt.Errorf("pressure: guard: %s", d.Text)
}

// Guard holds a need against the limits before anything is allocated. override
// is the user's word to pin more than [Limits.PinnableBytes]; nothing lets a run
// take more than [Limits.SpendableBytes].
func Guard(n Need, l Limits, override bool) Decision {
	d := Decision{AvailableBytes: l.AvailableBytes, ReserveBytes: l.ReserveBytes(), SpendableBytes: l.SpendableBytes(),
		PinnableBytes: l.PinnableBytes(), TotalBytes: l.TotalBytes, Source: l.Source}
	d.NeedBytes, d.PinnedBytes = n.Bytes()
	switch {
	case d.SpendableBytes == nil:
		d.Verdict = Unchecked
		d.Text = fmt.Sprintf("%s are needed; how much memory is available is unknown, so nothing was checked", exact(d.NeedBytes))
	case d.NeedBytes > *d.SpendableBytes:
		d.Verdict, d.Settings = Refused, n.settings(false)
		d.Text = fmt.Sprintf("%s of host memory are needed, %s can be used: %s available (%s %s) less %s left to the system%s",
			exact(d.NeedBytes), exact(*d.SpendableBytes), exact(*d.AvailableBytes), d.Source, total(d.TotalBytes),
			exact(*d.ReserveBytes), lower(d.Settings))
	case d.PinnedBytes > *d.PinnableBytes && !override:
		d.Verdict, d.Settings = NeedsOverride, n.settings(true)
		d.Text = fmt.Sprintf("%s would be pinned, the cap is %s of the %s available (%s %s)%s; overriding the cap is possible, but %s",
			exact(d.PinnedBytes), exact(*d.PinnableBytes), exact(*d.AvailableBytes), d.Source, total(d.TotalBytes),
			lower(d.Settings), overrideWarning)
	case d.PinnedBytes > *d.PinnableBytes:
		d.Verdict, d.Settings = Risked, n.settings(true)
		d.Text = fmt.Sprintf("%s are pinned, over the cap of %s, because the cap was overridden: %s",
			exact(d.PinnedBytes), exact(*d.PinnableBytes), overrideWarning)
	default:
		d.Verdict = Fits
	}
	return d
}

func total(bytes *int64) string {
	if bytes == nil {
		return units.NotAvailable
	}
	return exact(*bytes)
}

// lower names the settings to lower, after what went before.
func lower(settings []string) string {
	switch n := len(settings); n {
	case 0:
		return ""
	case 1:
		return "; lower " + settings[0]
	default:
		return "; lower " + strings.Join(settings[:n-1], ", ") + " or " + settings[n-1]
	}
}

// exact is a size in bytes, and in a unit that reads easily.
func exact(bytes int64) string {
	if bytes == math.MaxInt64 {
		return "more than 2^63-1 B"
	}
	if bytes < 1024 {
		return units.Count(bytes) + " B"
	}
	return fmt.Sprintf("%s B (%s)", units.Count(bytes), units.Bytes(bytes))
}
