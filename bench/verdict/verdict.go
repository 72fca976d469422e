package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"pinscope/bench/units"
)

// Limit is what a run waits for.
type Limit string

// The limits. A batch that spends most on starting copies and kernels, whatever
// their size, is limited by launch cost.
const (
	CannotTell Limit = "cannot tell"
	Loading    Limit = "loading"
	PinCopy    Limit = "pin copy"
	Transfer   Limit = "transfer"
	Compute    Limit = "compute"
	Launch     Limit = "launch cost"
	Memory     Limit = "memory"
)

const (
	apart       = 0.02 // of a batch's time: two limits nearer to each other are not told apart
	leastAdvice = 0.02 // expected gain from which a change is worth naming

	// The stages have to explain a batch's time to within this, as a factor: what
	// is left over, or counted twice, would otherwise be larger than a limit.
	explainedLeast, explainedMost = 0.67, 1.5
)

// Saving is what a batch would be spared without one stage.
type Saving struct {
	Limit Limit   `json:"limit"`
	Share float64 `json:"share"` // of the batch's time, 0 to 1
}

// Verdict is what limits a run and what to do about it. Shares are of 1.
type Verdict struct {
	Limit   Limit    `json:"limit"`
	Savings []Saving `json:"savings"` // of each stage, greatest first: by how much the limit limits

	Period    time.Duration `json:"period_ns"`           // of a batch, measured
	Explained time.Duration `json:"period_by_stages_ns"` // what the stages come to
	Load      time.Duration `json:"load_ns"`             // the numbers used, a batch
	PinCopy   time.Duration `json:"pin_copy_ns"`
	Copy      time.Duration `json:"copy_ns"`
	Step      time.Duration `json:"step_ns"`
	Calls     time.Duration `json:"calls_ns"`
	WaitBatch time.Duration `json:"wait_batch_ns"`

	Advice *Advice `json:"advice"` // nil: no setting is expected to gain 2 %

	SamplesPerS      float64  `json:"samples_per_s"`       // as measured
	IdealSamplesPerS *float64 `json:"ideal_samples_per_s"` // the same steps, data always there; nil without steps
	LinkSamplesPerS  *float64 `json:"link_samples_per_s"`  // the link always busy; nil where it is unknown

	BusyShare     *float64     `json:"busy_share"`     // of time the device ran steps, without the first; nil: unknown
	TransferShare *float64     `json:"transfer_share"` // of a batch's time that a transfer was under way; nil: there is none
	TransferLine  TransferLine `json:"transfer_line"`

	PinningCannotMatter bool `json:"pinning_cannot_matter"` // all copying is under 1 % of a batch's time
}

// TransferLine is which of the lines a transfer share is above.
type TransferLine string

// TraceML's lines: from 10 % of a step on transfers are worth a look, from 20 %
// on they are heavy.
const (
	TransferLow   TransferLine = "under 10 %"
	TransferSeen  TransferLine = "10 % or more"
	TransferHeavy TransferLine = "20 % or more"
)

// Judge gives the verdict on a run.
func Judge(f Figures) Verdict {
	v := Verdict{
		Limit: CannotTell, Savings: f.savings(), Period: f.Period, Explained: time.Duration(f.period()), Load: f.Load,
		PinCopy: f.PinCopy, Copy: f.Copy, Step: f.Step, Calls: f.Calls, WaitBatch: f.WaitBatch,
		TransferLine: TransferLow, PinningCannotMatter: f.cannotMatter(),
	}
	v.bounds(f)
	if f.Period <= 0 || len(v.Savings) == 0 {
		return v
	}
	first, second := v.Savings[0], Saving{}
	if len(v.Savings) > 1 {
		second = v.Savings[1]
	}
	explained := float64(v.Explained) / float64(f.Period)
	known := explained >= explainedLeast && explained <= explainedMost || first.Limit == Memory
	if known && first.Share-second.Share >= apart {
		v.Limit = first.Limit
	}
	if known {
		v.Advice = f.advise(v.Limit)
	}
	return v
}

// savings are those of all stages, greatest first.
func (f *Figures) savings() []Saving {
	now := f.period()
	out := []Saving{}
	add := func(l Limit, share float64) {
		if share > 0 {
			out = append(out, Saving{l, min(share, 1)})
		}
	}
	if now > 0 {
		for _, l := range []Limit{Loading, PinCopy, Transfer, Compute, Launch} {
			rest := f.without(l)
			add(l, 1-rest.period()/now)
		}
	}
	if f.Period > 0 {
		add(Memory, float64(f.Stall)/float64(f.Period))
	}
	slices.SortStableFunc(out, func(a, b Saving) int { return cmp.Compare(b.Share, a.Share) })
	return out
}

// bounds fills in what the run is compared with.
func (v *Verdict) bounds(f Figures) {
	if f.Period > 0 {
		v.SamplesPerS = f.Rows / f.Period.Seconds()
	}
	if f.Step > 0 {
		ideal := f.Rows / f.Step.Seconds()
		v.IdealSamplesPerS = &ideal
	}
	if f.LinkGBps > 0 && f.BatchBytes > 0 && !f.NoDevice {
		link := f.LinkGBps * 1e9 / (float64(f.BatchBytes) / f.Rows)
		v.LinkSamplesPerS = &link
	}
	if f.BusyShare >= 0 {
		busy := f.BusyShare
		v.BusyShare = &busy
	}
	if f.Copy > 0 && f.Period > 0 {
		share := float64(f.Copy) / float64(f.Period)
		v.TransferShare = &share
		switch {
		case share >= 0.2:
			v.TransferLine = TransferHeavy
		case share >= 0.1:
			v.TransferLine = TransferSeen
		}
	}
}

// String is the limit and by how much, in a sentence.
func (v Verdict) String() string {
	switch {
	case len(v.Savings) == 0:
		return "cannot tell: no stage took any time"
	case v.Limit != CannotTell:
		text := fmt.Sprintf("%s: without it a batch would take %s less", v.Limit, units.Percent(v.Savings[0].Share))
		if len(v.Savings) > 1 && v.Savings[1].Share >= apart {
			text += fmt.Sprintf("; next is %s, %s", v.Savings[1].Limit, units.Percent(v.Savings[1].Share))
		}
		return text
	case !v.explains():
		return fmt.Sprintf("cannot tell: a batch took %s, its stages come to %s", units.Duration(v.Period), units.Duration(v.Explained))
	case len(v.Savings) == 1:
		return fmt.Sprintf("cannot tell: %s is the longest stage, by under 2 %% of a batch's time", v.Savings[0].Limit)
	default:
		return fmt.Sprintf("cannot tell: %s and %s are within 2 %% of a batch's time of each other", v.Savings[0].Limit, v.Savings[1].Limit)
	}
}

func (v *Verdict) explains() bool {
	explained := float64(v.Explained) / float64(v.Period)
	return explained >= explainedLeast && explained <= explainedMost
}

// Bounds is what was measured beside what could be, in samples a second.
func (v Verdict) Bounds() string {
	text := units.SampleRate(v.SamplesPerS) + " samples/s"
	if v.IdealSamplesPerS != nil {
		text += fmt.Sprintf("; with data always there %s samples/s", units.SampleRate(*v.IdealSamplesPerS))
	}
	if v.LinkSamplesPerS != nil {
		text += fmt.Sprintf("; the link would carry %s samples/s", units.SampleRate(*v.LinkSamplesPerS))
	}
	return text
}

// Use is how busy device and link are.
func (v Verdict) Use() string {
	text := ""
	if v.BusyShare != nil {
		text = fmt.Sprintf("the device computes %s of the time (first step left out)", units.Percent(*v.BusyShare))
	}
	if v.TransferShare != nil {
		if text != "" {
			text += "; "
		}
		text += "transfers take " + units.Percent(*v.TransferShare)
		switch v.TransferLine {
		case TransferHeavy:
			text += ", above the 20 % from which they are heavy"
		case TransferSeen:
			text += ", above the 10 % from which they are worth a look"
		}
	}
	return text
}

// Try is what to do, in words: the advice, or why there is none.
func (v Verdict) Try() string {
	switch {
	case v.Advice != nil:
		return v.Advice.String()
	case v.PinningCannotMatter && v.Limit == CannotTell:
		return "nothing about pinning: it cannot matter here"
	case v.Limit == Compute:
		return "nothing before the device: only cheaper steps or a faster device would help"
	case v.Limit == Loading:
		return "a cheaper way to make samples: there are no CPUs left for more workers"
	case v.Limit == Memory:
		return "less memory: fewer or smaller slots, or a smaller data set in memory"
	default:
		return ""
	}
}
