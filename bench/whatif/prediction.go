package whatif

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"pinscope/bench"
	"pinscope/bench/trace"
	"pinscope/bench/units"
)

// Prediction is a run as predicted, and what that stands on. Nothing in it was
// measured but what [Reference] and [Check] say. What is not known is nil.
type Prediction struct {
	Kind      string       `json:"kind"`      // "predict"
	Predicted bool         `json:"predicted"` // true: so that no reader takes it for a measurement
	Simulated bool         `json:"simulated"` // the device is a simulated one
	Tool      bench.Tool   `json:"tool"`
	Device    string       `json:"device"` // "sim:laptop"
	Config    bench.Config `json:"config"`
	Plan      bench.Plan   `json:"plan"`

	Wall         time.Duration `json:"wall_ns"`
	Batches      int64         `json:"batches"`
	Samples      int64         `json:"samples"`
	SamplesPerS  *float64      `json:"samples_per_s"` // nil for a run that takes no time
	Busy         *float64      `json:"busy_share"`    // of the compute engine, 0 to 1
	OverlapShare *float64      `json:"overlap_share"` // of the copies, hidden under steps, 0 to 1

	Origins   []Origin     `json:"origins"` // where each stage's time comes from
	Notes     []string     `json:"notes"`   // what casts a doubt on it
	Reference *Reference   `json:"reference"`
	Check     *Check       `json:"check"`
	Trace     *trace.Trace `json:"trace"`
}

// Reference is the measured run that a prediction started from: how well the
// model gives that one says how far to trust it with others.
type Reference struct {
	Command     string        `json:"command"`
	Setting     string        `json:"setting"`
	Wall        time.Duration `json:"wall_ns"` // of the typical repeat, measured
	SamplesPerS float64       `json:"samples_per_s"`
	Modelled    float64       `json:"modelled_samples_per_s"` // the same run as predicted
	Error       float64       `json:"error"`                  // Modelled by SamplesPerS, minus 1
}

// Check is the predicted run, run.
type Check struct {
	Measured float64 `json:"measured_samples_per_s"` // median
	Repeats  int     `json:"repeats"`
	Error    float64 `json:"error"` // predicted by measured, minus 1
}

// Predict goes through the run in virtual time.
func (b *Base) Predict() (*Prediction, error) {
	f, err := b.feed()
	if err != nil {
		return nil, err
	}
	o, err := Predict(f.in)
	if err != nil {
		return nil, err
	}
	p := &Prediction{Kind: "predict", Predicted: true, Simulated: b.device().simulated(), Tool: bench.ThisTool(),
		Device: b.device().id, Config: b.config, Plan: f.plan, Wall: o.Wall, Batches: o.Batches, Samples: o.Samples,
		OverlapShare: o.Trace.OverlapShare, Origins: f.origins, Notes: append([]string{}, f.notes...), Trace: o.Trace}
	if o.Wall > 0 {
		rate, busy := o.SamplesPerS(), o.Trace.Stage(trace.Step).Total.Seconds()/o.Wall.Seconds()
		p.SamplesPerS, p.Busy = &rate, &busy
	}
	p.Reference, err = b.reference()
	return p, err
}

// reference predicts the measured run itself; nil where nothing was measured, or
// only a short run for its times.
func (b *Base) reference() (*Reference, error) {
	m := b.measured
	if m == nil || m.brief || m.side.Typical == nil {
		return nil, nil
	}
	typical := m.side.Repeats[*m.side.Typical]
	same := &Base{config: m.side.Config, measured: m, cpus: b.cpus, copyRate: b.copyRate}
	f, err := same.feed()
	if err != nil {
		return nil, fmt.Errorf("the measured run itself cannot be predicted: %w", err)
	}
	f.in.Off = true
	o, err := Predict(f.in)
	if err != nil || o.Wall == 0 || typical.SamplesPerS == nil {
		return nil, err
	}
	r := &Reference{Command: m.side.Command, Setting: m.side.Config.Summary(), Wall: typical.Wall,
		SamplesPerS: *typical.SamplesPerS, Modelled: o.SamplesPerS()}
	r.Error = r.Modelled/r.SamplesPerS - 1
	return r, nil
}

// Speedup is the throughput predicted by that which the model gives for the
// measured run: like by like, so that what the model leaves out on both sides
// cancels. It is not known, and false, where nothing was measured.
func (p *Prediction) Speedup() (float64, bool) {
	if p.Reference == nil || p.SamplesPerS == nil {
		return 0, false
	}
	return *p.SamplesPerS / p.Reference.Modelled, true
}

// CheckAgainst holds the prediction against a result that was measured with its
// settings.
func (p *Prediction) CheckAgainst(r *bench.Result) error {
	if len(r.Sides) == 0 || r.Sides[0].SamplesPerS.Median == nil || p.SamplesPerS == nil {
		return errors.New("whatif: check: there is no throughput to compare")
	}
	median := *r.Sides[0].SamplesPerS.Median
	p.Check = &Check{Measured: median, Repeats: r.Sides[0].SamplesPerS.Count, Error: *p.SamplesPerS/median - 1}
	return nil
}

// Sentence is the answer in words.
func (p *Prediction) Sentence() string {
	who := "PREDICTED"
	if p.Simulated {
		who += ", for a simulated GPU"
	}
	text := fmt.Sprintf("%s: %s would take %s, %s samples/s", who, p.Config.Summary(), units.Duration(p.Wall), rate(p.SamplesPerS))
	if by, known := p.Speedup(); known {
		text += fmt.Sprintf(", %s by the measured setting (%s)", units.Ratio(by), units.SignedPercent(by-1))
	}
	if p.Check != nil {
		text += fmt.Sprintf("; measured then %s samples/s, so the prediction is off by %s", rate(&p.Check.Measured), units.SignedPercent(p.Check.Error))
	}
	return text + "."
}

func rate(samplesPerS *float64) string {
	if samplesPerS == nil || math.IsInf(*samplesPerS, 0) {
		return units.NotAvailable
	}
	return units.SampleRate(*samplesPerS)
}

// WriteJSON writes the prediction; a reader of results refuses it, for it has no
// schema version of theirs.
func (p *Prediction) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", " ")
	return encoder.Encode(p)
}

// WriteTrace writes the predicted run for Perfetto.
func (p *Prediction) WriteTrace(w io.Writer) error {
	name := strings.TrimSpace("predicted: " + p.Config.Summary() + " on " + p.Device)
	return trace.Write(w, p.Trace, trace.Meta{Process: name, Simulated: p.Simulated})
}

// Calibrate measures a configuration briefly, on its own device: at most some
// batches for each worker, once to warm up and once for the times, and starts from
// that. Given stages come on top.
func Calibrate(ctx context.Context, c bench.Config, given map[trace.Stage]time.Duration, o bench.RunOptions) (*Base, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	short := c
	short.Epochs, short.Repeats, short.Warmup, short.DropLast = 1, 1, 1, false
	most := c.Batch * int64(calibrationRounds*max(c.Workers, 2))
	if short.Samples == 0 || short.Samples > most {
		short.Samples = most
	}
	result, err := bench.Run(ctx, short, o)
	if err != nil {
		return nil, err
	}
	b, err := FromResult(result, "", given)
	if err != nil {
		return nil, err
	}
	b.config = c
	b.measured.brief = true
	return b, b.check()
}

// calibrationRounds is how many batches each worker fills in a calibration: enough
// for a distribution, and soon over.
const calibrationRounds = 16
