package bandwidth

import (
	"fmt"
	"strconv"

	"pinscope/bench/gpuwatch"
	"pinscope/bench/units"
	"pinscope/cudamem"
)

// LinkState is a PCIe link's generation and width at one time. A nil figure is one
// that the driver did not give.
type LinkState struct {
	Generation    *int64 `json:"generation"` // now: falls when idle
	Width         *int64 `json:"width"`      // lanes
	MaxGeneration *int64 `json:"max_generation"`
	MaxWidth      *int64 `json:"max_width"`
}

// String is what there is now: "PCIe 5 x16".
func (s LinkState) String() string { return linkText(s.Generation, s.Width) }

// Max is what there could be: "PCIe 5 x16".
func (s LinkState) Max() string { return linkText(s.MaxGeneration, s.MaxWidth) }

func linkText(generation, width *int64) string {
	if generation == nil || width == nil {
		return units.NotAvailable
	}
	return fmt.Sprintf("PCIe %d x%d", *generation, *width)
}

// belowMax says that the link could be faster.
func (s LinkState) belowMax() bool {
	return below(s.Generation, s.MaxGeneration) || below(s.Width, s.MaxWidth)
}

func below(now, most *int64) bool { return now != nil && most != nil && *now < *most }

// Link is what was found out about the link.
type Link struct {
	Before *LinkState `json:"before"` // before any copy: an idle link may well be at generation 1
	During *LinkState `json:"during"` // under load

	LimitGBps *float64 `json:"limit_gbps"`           // of each direction; nil: unknown
	LimitFrom string   `json:"limit_from,omitempty"` // "PCIe 5 x16", "the model"
}

// Alarm is what is wrong with the link, empty if nothing is.
func (l Link) Alarm() string {
	if l.During == nil || !l.During.belowMax() {
		return ""
	}
	return fmt.Sprintf("under load the link ran as %s, its maximum is %s: look for a slot with fewer lanes, "+
		"a power-saving setting or another generation set in the firmware", *l.During, l.During.Max())
}

// lanesOf16GBps is what 16 lanes carry in one direction, after coding, in GB/s: the
// transfer rate of the generation (2.5, 5, 8, 16, 32 GT/s a lane) times 8/10 to
// generation 2 and 128/130 from 3 on, over 8 bits (PCI Express Base Specification);
// generation 6 (64 GT/s) carries 236 of each 256 bytes. Packet headers, which
// take 10 % and more, are not subtracted: this is what no copy can pass.
var lanesOf16GBps = map[int64]float64{1: 4.0, 2: 8.0, 3: 15.75, 4: 31.5, 5: 63.0, 6: 118.0}

// PCIeLimitGBps is the most that a PCIe link carries in one direction; false for
// a generation or a width that is not known.
func PCIeLimitGBps(generation, width int64) (float64, bool) {
	full, ok := lanesOf16GBps[generation]
	if !ok || width < 1 || width > 32 {
		return 0, false
	}
	return full * float64(width) / 16, true
}

// limit settles what the link can carry.
func (l *Link) limit(info cudamem.Info) {
	set := func(limit float64, from string) { l.LimitGBps, l.LimitFrom = &limit, from }
	switch {
	case info.Simulated && info.LinkGBps > 0:
		set(info.LinkGBps/(1-modelJitter(info)), "the model")
	case info.HostPageTables:
		// Such a device hangs on another link than PCIe, whatever the driver says
		// of that one (Grace Hopper's NVLink-C2C).
	case l.During != nil && l.During.MaxGeneration != nil && l.During.MaxWidth != nil:
		// The maximum: what the link was at when it was looked at may have changed since.
		if limit, ok := PCIeLimitGBps(*l.During.MaxGeneration, *l.During.MaxWidth); ok {
			set(limit, l.During.Max())
		}
	case info.LinkGBps > 0:
		set(info.LinkGBps, "the device")
	}
}

// modelJitter is by how much of its time a simulated copy may be faster, 0..1.
func modelJitter(info cudamem.Info) float64 {
	jitter, err := strconv.ParseFloat(info.Model["jitter"], 64)
	if err != nil || jitter < 0 || jitter >= 1 {
		return 0
	}
	return jitter
}

// WatchLink makes an Options.ReadLink of the driver's library for a device, nil
// where it cannot tell, and then why. close is never nil.
func WatchLink(info cudamem.Info) (read func() (LinkState, error), close func() error, why error) {
	nothing := func() error { return nil }
	watch, err := gpuwatch.Open()
	if err != nil {
		return nil, nothing, err
	}
	card, err := watch.Match(info.UUID, info.PCIAddress)
	if err != nil {
		return nil, nothing, fmt.Errorf("bandwidth: read the link: %w", firstError(err, watch.Close()))
	}
	return func() (LinkState, error) {
		s, err := watch.Read(card)
		return LinkState{s.LinkGeneration, s.LinkWidth, s.MaxLinkGeneration, s.MaxLinkWidth}, err
	}, watch.Close, nil
}

// firstError is the first that is not nil.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
