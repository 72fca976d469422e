package whatif

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"pinscope/bench/trace"
	"pinscope/bench/units"
)

// textWidth is the width of a terminal that everything fits.
const textWidth = 80

// Text writes the prediction for a terminal, 80 columns wide.
func (p *Prediction) Text(to io.Writer) error {
	w := bufio.NewWriter(to)
	head := "PREDICTED by a model in virtual time; nothing below was measured but what says so"
	if p.Simulated {
		head = "PREDICTED for a SIMULATED GPU, by a model in virtual time; nothing below was measured but what says so"
	}
	wrap(w, "", head)
	c := p.Config
	pair(w, "Device", p.Device)
	pair(w, "Data", fmt.Sprintf("%s samples of %s %s (%s), %s", units.Count(p.Plan.Samples), p.Plan.Shape, p.Plan.DType, c.Source, plural(int64(c.Epochs), "epoch")))
	pair(w, "Loader", fmt.Sprintf("batch %s (%s), %s", units.Count(c.Batch), units.Bytes(p.Plan.BatchBytes), plural(int64(c.Workers), "worker")))
	pair(w, "Setting", c.Summary())
	p.textFigures(w)
	p.textOrigins(w)
	p.textStages(w)
	if len(p.Notes) > 0 {
		fmt.Fprintln(w, "\nDoubts")
	}
	for _, note := range p.Notes {
		wrap(w, "- ", note)
	}
	fmt.Fprintln(w)
	wrap(w, "", p.Sentence())
	return w.Flush()
}

func (p *Prediction) textFigures(w *bufio.Writer) {
	fmt.Fprintln(w, "\nPredicted")
	pair(w, "Time", fmt.Sprintf("%s for %s", units.Duration(p.Wall), plural(p.Samples, "sample")))
	pair(w, "Rate", rate(p.SamplesPerS)+" samples/s")
	pair(w, "GPU busy", share(p.Busy))
	pair(w, "Overlap", share(p.OverlapShare)+" of the copies hidden under steps")
	if r := p.Reference; r != nil {
		pair(w, "Measured", fmt.Sprintf("%s samples/s with %s; the model gives %s for it (%s)",
			rate(&r.SamplesPerS), r.Setting, rate(&r.Modelled), units.SignedPercent(r.Error)))
	}
	if k := p.Check; k != nil {
		pair(w, "Check", fmt.Sprintf("%s samples/s measured with this setting (%s); the prediction is off by %s",
			rate(&k.Measured), plural(int64(k.Repeats), "repeat"), units.SignedPercent(k.Error)))
	}
}

func (p *Prediction) textOrigins(w *bufio.Writer) {
	fmt.Fprintln(w, "\nWhere the times come from")
	for _, o := range p.Origins {
		mean := ""
		if o.Mean != nil {
			mean = units.Duration(*o.Mean)
		}
		wrap(w, fmt.Sprintf("%-10s %9s  %-9s ", o.Stage, mean, o.How), o.From)
	}
}

// textStages is what each stage takes in the predicted run.
func (p *Prediction) textStages(w *bufio.Writer) {
	fmt.Fprintf(w, "\n%-26s  %13s  %13s\n", "Each batch, predicted", "median", "longest")
	for stage := range trace.Stage(trace.Stages) {
		if s := p.Trace.Stage(stage); s.Count > 0 {
			fmt.Fprintf(w, "%-26s  %13s  %13s\n", stage, units.Duration(*s.P50), units.Duration(*s.Max))
		}
	}
}

func share(part *float64) string {
	if part == nil {
		return units.NotAvailable
	}
	return units.Percent(*part)
}

func plural(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return units.Count(n) + " " + thing + "s"
}

func pair(w *bufio.Writer, name, value string) { wrap(w, fmt.Sprintf("%-11s", name), value) }

// wrap breaks a text into lines, all but the first indented as far as its lead.
func wrap(w *bufio.Writer, lead, text string) {
	line, empty := lead, true
	for _, word := range strings.Fields(text) {
		if !empty && len(line)+1+len(word) > textWidth {
			fmt.Fprintln(w, strings.TrimRight(line, " "))
			line, empty = strings.Repeat(" ", len(lead)), true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	fmt.Fprintln(w, strings.TrimRight(line, " "))
}
