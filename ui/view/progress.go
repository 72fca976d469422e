package view

import (
	"strings"
	"time"

	"pinscope/bench"
	"pinscope/bench/units"
	"pinscope/ui/client"
	"pinscope/ui/words"
)

// Progress is a run under way.
type Progress struct {
	Share  float64 // done, 0 to 1
	Bar    string  // on the bar: "12 of 14, 0:41 left"
	Live   string  // throughput and memory now
	Stages string  // mean times in the repeat under way
}

// ProgressOf is how far a run has come.
func ProgressOf(l words.Language, s client.State) Progress {
	p := s.Progress
	if p == nil {
		return Progress{Bar: l.Say("starting"), Live: l.Say("starting")}
	}
	view := Progress{Share: min(max(p.Done, 0), 1), Stages: liveStages(l, p)}
	bar := []string{phase(l, p, s.Stopping)}
	if p.Repeat > 0 {
		bar = append(bar, l.Say("repeat %d of %d", p.Repeat, p.Repeats))
	}
	if p.ETAS != nil && !s.Stopping {
		bar = append(bar, l.Say("%s left", clock(*p.ETAS)))
	}
	view.Bar = strings.Join(bar, ", ")
	live := []string{l.Say("throughput: not known yet")}
	if p.SamplesPerS != nil {
		live[0] = l.Say("%s samples/s now", units.SampleRate(*p.SamplesPerS))
	}
	live = append(live, l.Say("batch %s of %s", units.Count(p.Batches), units.Count(p.Of)))
	live = append(live, l.Say("pinned %s", units.Bytes(p.Memory.PinnedBytes)))
	if r := p.Memory.ResidentBytes; r != nil {
		live = append(live, l.Say("resident %s", units.Bytes(*r)))
	}
	if a := p.Memory.AvailableBytes; a != nil {
		live = append(live, l.Say("available %s", units.Bytes(*a)))
	}
	view.Live = strings.Join(live, " · ")
	return view
}

func phase(l words.Language, p *bench.Progress, stopping bool) string {
	if stopping {
		return l.Say("stopping")
	}
	name := map[string]string{"setup": l.Say("set-up"), "warmup": l.Say("warm-up"),
		"measure": l.Say("measuring"), "finish": l.Say("finishing")}[p.Phase]
	return strings.TrimSpace(name + " " + p.Side)
}

// liveStages is what each stage takes in the mean, so far in the repeat under way.
func liveStages(l words.Language, p *bench.Progress) string {
	var parts []string
	for _, s := range p.Stages {
		if s.Count > 0 {
			parts = append(parts, Stage(l, s.Stage)+" "+units.Duration(time.Duration(s.TotalN/s.Count)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return l.Say("Mean times in this repeat: %s", strings.Join(parts, " · "))
}

// clock is seconds as minutes and seconds, or hours too: "0:41".
func clock(seconds float64) string {
	s := int64(max(seconds, 0) + 0.5)
	two := func(n int64) string { return string([]byte{byte('0' + n/10), byte('0' + n%10)}) }
	if s >= 3600 {
		return units.Count(s/3600) + ":" + two(s/60%60) + ":" + two(s%60)
	}
	return units.Count(s/60) + ":" + two(s%60)
}

// Stage is a stage's name in words.
func Stage(l words.Language, name string) string {
	switch name {
	case "wait slot":
		return l.Say("wait slot")
	case "load":
		return l.Say("load")
	case "collate":
		return l.Say("collate")
	case "pin wait":
		return l.Say("pin wait")
	case "ring wait":
		return l.Say("ring wait")
	case "pin copy":
		return l.Say("pin copy")
	case "wait batch":
		return l.Say("wait batch")
	case "copy call":
		return l.Say("copy call")
	case "wait copy":
		return l.Say("wait copy")
	case "wait step":
		return l.Say("wait step")
	case "launch":
		return l.Say("launch")
	case "htod":
		return l.Say("HtoD copy")
	case "gather":
		return l.Say("gather")
	case "step":
		return l.Say("step")
	}
	return name
}
