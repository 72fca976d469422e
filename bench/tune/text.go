package tune

import (
	"fmt"
	"io"
	"strings"

	"pinscope/bench"
	"pinscope/bench/loader"
	"pinscope/bench/units"
)

func names(grid []Tried) []string {
	out := make([]string, len(grid))
	for i, t := range grid {
		out[i] = strings.Join(t.Settings, " ")
	}
	return out
}

// Text writes what was found and how, 80 columns wide.
func (out *Outcome) Text(to io.Writer) error {
	var b strings.Builder
	if out.Result.Simulated {
		b.WriteString("SIMULATED GPU: link and compute times come from a model, host work is real\n")
	}
	fmt.Fprintf(&b, "Tuning: %d ways to load, %d of them beyond the budget, %d not predictable;\n%d configurations run\n\n",
		len(out.Grid)+out.TooMuch+out.Unknown, out.TooMuch, out.Unknown, out.Runs)
	fmt.Fprintf(&b, "%-7s %-8s %-12s %12s %12s %11s\n", "workers", "pin", "copy stream", "predicted", "measured", "pinned")
	for i, t := range out.Grid {
		measured, mark := "-", ""
		if t.Side >= 0 {
			if m := out.Result.Sides[t.Side].SamplesPerS.Median; m != nil {
				measured = units.SampleRate(*m)
			}
		}
		if i == out.Chosen {
			mark = " <-"
		}
		fmt.Fprintf(&b, "%-7d %-8s %-12s %12s %12s %11s%s\n", t.config.Workers, t.config.Pin, t.config.CopyStream,
			units.SampleRate(t.Predicted), measured, units.Bytes(t.PinnedBytes), mark)
	}
	if out.Chosen >= 0 {
		side := &out.Result.Sides[out.Grid[out.Chosen].Side]
		fmt.Fprintf(&b, "\nPinscope   %s\n", side.Config.CommandLine("run"))
		for i, line := range PyTorch(side.Config) {
			fmt.Fprintf(&b, "%-10s %s\n", map[bool]string{true: "PyTorch"}[i == 0], line)
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(to, b.String())
	return err
}

// PyTorch is the nearest that PyTorch has to a configuration, in lines of Python.
func PyTorch(c bench.Config) []string {
	word := func(b bool) string { return map[bool]string{true: "True", false: "False"}[b] }
	lines := []string{fmt.Sprintf("loader = DataLoader(dataset, batch_size=%d, shuffle=%s, drop_last=%s,", c.Batch, word(c.Shuffle), word(c.DropLast))}
	more := fmt.Sprintf("    num_workers=%d, pin_memory=%s", c.Workers, word(c.Pin.Pins()))
	if c.Workers > 0 {
		lines = append(lines, more+",")
		more = fmt.Sprintf("    prefetch_factor=%d, persistent_workers=%s", c.Prefetch, word(c.KeepWorkers))
	}
	lines = append(lines, more+")", fmt.Sprintf("x = x.to(device, non_blocking=%s)", word(c.NonBlocking)))
	switch {
	case c.Pin == loader.PinDirect || c.Pin == loader.PinDataset:
		lines = append(lines, "# pin "+c.Pin.String()+" is beyond PyTorch: pin_memory is the nearest it has")
	case c.CopyStream == loader.Dedicated:
		lines = append(lines, "# with torch.cuda.stream(copies): around the copy, and wait_stream before the step")
	}
	return lines
}
