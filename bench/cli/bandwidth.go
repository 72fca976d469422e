package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"pinscope/bench"
	"pinscope/bench/bandwidth"
	"pinscope/bench/pressure"
	"pinscope/bench/units"
	"pinscope/cudamem"
	"pinscope/cudamem/device"
)

// bandwidthCommand is `pinscope bandwidth`.
type bandwidthCommand struct {
	Device string            `group:"device" placeholder:"NAME" help:"auto, cuda:N, sim or sim:MODEL. Default ${device}."`
	Sim    map[string]string `group:"device" placeholder:"K=V,..." mapsep:"," help:"Values of the simulated GPU's model, e.g. link-gbps=12,latency=6us,ramp=3:6:12."`

	Kinds      []string `group:"measuring" placeholder:"KIND" help:"Kinds of host memory: pageable, pinned, registered, write-combined, mapped, managed. Default: all."`
	Sizes      []string `group:"measuring" placeholder:"SIZE" help:"Bytes of a copy, e.g. 64KiB,64MiB. Default: 4KiB to 1GiB in powers of 4, as far as memory allows."`
	MaxSize    string   `group:"measuring" placeholder:"SIZE" help:"Leave out default sizes above this."`
	Directions []string `group:"measuring" placeholder:"WAY" help:"htod, dtoh, both (each while the other is busy). Default: all."`
	Seconds    float64  `group:"measuring" placeholder:"S" default:"0.04" help:"Time for each direction, kind and size, 0 to 60; there are 3 samples at least. Default ${default}."`

	JSON  string `name:"json" group:"output" placeholder:"FILE" help:"Write everything as JSON; - is standard output."`
	CSV   string `name:"csv" group:"output" placeholder:"FILE" help:"Write a table with a row for each direction, kind and size."`
	Quiet bool   `group:"output" help:"Show only the answer."`
	Force bool   `group:"output" help:"Replace files that exist."`
}

// bandwidthFile is the JSON file: where the result comes from, and the result.
type bandwidthFile struct {
	Tool    bench.Tool `json:"tool"`
	Host    bench.Host `json:"host"`
	Started time.Time  `json:"started"`
	*bandwidth.Result
}

func (c *bandwidthCommand) run(ctx context.Context, p *program) error {
	options, err := c.options()
	if err := errors.Join(err, c.outputs().check()); err != nil {
		return err
	}
	name, why, err := p.choose(bench.Config{Device: c.Device, Sim: c.Sim})
	if err != nil {
		return err
	}
	clock := cudamem.NewClock()
	dev, _, err := device.Open(name, c.Sim, clock)
	if err != nil {
		return bench.DeviceError(name, err)
	}
	started := time.Now()
	result, err := c.measure(ctx, p, dev, clock, options)
	if err = errors.Join(err, dev.Close()); err != nil {
		return err
	}
	if why != "" {
		result.Notes = append(result.Notes, "device: "+why)
	}
	return c.write(p, bandwidthFile{bench.ThisTool(), bench.ThisHost(), started, result})
}

// measure runs what fits, and shows how far it is.
func (c *bandwidthCommand) measure(ctx context.Context, p *program, dev cudamem.Device, clock cudamem.Clock, o bandwidth.Options) (*bandwidth.Result, error) {
	if dev.Info().InPlace {
		return nil, &bench.InputError{Field: "device", Value: c.Device, Problem: dev.Info().ID + " has no link: it reads host memory where it lies"}
	}
	limits := pressure.ReadLimits("")
	err := fits(o, dev.Info(), limits)
	var tooLarge error
	for c.Sizes == nil && c.MaxSize == "" && err != nil && len(o.Sizes) > 1 {
		tooLarge = err
		o.Sizes = o.Sizes[:len(o.Sizes)-1]
		err = fits(o, dev.Info(), limits)
	}
	if err != nil {
		return nil, &bench.InputError{Field: "sizes", Problem: err.Error()}
	}
	done, whyNot := func() error { return nil }, error(nil)
	if !dev.Info().Simulated {
		o.ReadLink, done, whyNot = bandwidth.WatchLink(dev.Info())
	}
	w := p.events(c.outputs())
	w.simulated = dev.Info().Simulated
	if w.terminal != nil {
		o.Progress = func(cell, cells int) { w.line(fmt.Sprintf("measuring %d of %d", cell+1, cells)) }
	}
	result, err := bandwidth.Run(ctx, dev, clock, o)
	w.end()
	if err = errors.Join(err, done()); err != nil {
		return nil, err
	}
	if tooLarge != nil {
		result.Notes = append(result.Notes, fmt.Sprintf("sizes above %s are left out: %v", units.Bytes(slices.Max(o.Sizes)), tooLarge))
	}
	if whyNot != nil {
		result.Notes = append(result.Notes, fmt.Sprintf("the link's state is not known: %v", whyNot))
	}
	return result, nil
}

// fits holds what will be allocated against what there is.
func fits(o bandwidth.Options, info cudamem.Info, limits pressure.Limits) error {
	host, pinned, onDevice := o.Needs()
	settings := []string{"sizes", "max-size"}
	need := pressure.Need{{Name: "pinned buffers", Bytes: pinned, Pinned: true, Settings: settings},
		{Name: "pageable buffers", Bytes: host - pinned, Settings: settings}}
	if d := pressure.Guard(need, limits, false); !d.Runs() {
		return errors.New(d.Text)
	}
	if info.MemoryBytes > 0 && onDevice > info.MemoryBytes {
		return fmt.Errorf("%s B of device memory are needed, %s has %s B; lower sizes or max-size",
			units.Count(onDevice), info.ID, units.Count(info.MemoryBytes))
	}
	return nil
}

// options reads the settings.
func (c *bandwidthCommand) options() (o bandwidth.Options, err error) {
	o = bandwidth.Options{Kinds: bandwidth.Kinds(), PerCell: time.Duration(c.Seconds * 1e9)}
	if !(c.Seconds >= 0 && c.Seconds <= 60) {
		return o, &bench.InputError{Field: "seconds", Value: fmt.Sprint(c.Seconds), Allowed: "0 to 60"}
	}
	if c.Kinds != nil {
		if o.Kinds, err = list(c.Kinds, "kinds", strings.Join(cudamem.HostKindNames(), ", "), (*cudamem.HostKind).UnmarshalText); err != nil {
			return o, err
		}
	}
	ways := c.Directions
	if ways == nil {
		ways = []string{"htod", "dtoh", "both"}
	}
	if o.Directions, err = bandwidth.ParseDirections(ways); err != nil || len(o.Directions) == 0 {
		return o, &bench.InputError{Field: "directions", Value: strings.Join(ways, ","), Allowed: "htod, dtoh, both"}
	}
	o.Sizes, err = c.sizes()
	return o, err
}

// sizes gives those asked for, rising.
func (c *bandwidthCommand) sizes() ([]int64, error) {
	const allowed = "a size above 0 such as 64KiB"
	most := int64(1) << 62
	if c.MaxSize != "" {
		given, err := list([]string{c.MaxSize}, "max-size", "a size from 4KiB on", (*bench.Size).UnmarshalText)
		if err != nil {
			return nil, err
		}
		most = int64(given[0])
	}
	if c.Sizes == nil {
		sizes := bandwidth.Sizes(most)
		if len(sizes) == 0 {
			return nil, &bench.InputError{Field: "max-size", Value: c.MaxSize, Allowed: "a size from 4KiB on"}
		}
		return sizes, nil
	}
	given, err := list(c.Sizes, "sizes", allowed, (*bench.Size).UnmarshalText)
	if err != nil {
		return nil, err
	}
	var sizes []int64
	for i, size := range given {
		switch {
		case size <= 0:
			return nil, &bench.InputError{Field: "sizes", Value: c.Sizes[i], Allowed: allowed}
		case int64(size) > most:
			return nil, &bench.InputError{Field: "sizes", Problem: fmt.Sprintf("%s is above max-size %s", size, c.MaxSize)}
		}
		sizes = append(sizes, int64(size))
	}
	slices.Sort(sizes)
	return slices.Compact(sizes), nil
}

// list reads each of some values, leaving out those that came before.
func list[T comparable](texts []string, field, allowed string, read func(*T, []byte) error) ([]T, error) {
	var out []T
	for _, text := range texts {
		var v T
		if err := read(&v, []byte(strings.TrimSpace(text))); err != nil {
			return nil, &bench.InputError{Field: field, Value: fmt.Sprintf("%q", text), Allowed: allowed}
		}
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out, nil
}

// outputs is the flags in the form that other commands have them.
func (c *bandwidthCommand) outputs() outputs {
	return outputs{JSON: c.JSON, CSV: c.CSV, Quiet: c.Quiet, Force: c.Force}
}

// write writes everything that was asked for.
func (c *bandwidthCommand) write(p *program, file bandwidthFile) error {
	asJSON := func(w io.Writer) error {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", " ")
		return encoder.Encode(file)
	}
	failed := []error{c.outputs().save(p, []target{{"json", c.JSON, asJSON}, {"csv", c.CSV, file.WriteCSV}}, asJSON)}
	text := p.events(c.outputs()).text
	if c.Quiet {
		return errors.Join(append(failed, say(text, file.Sentence()))...)
	}
	return errors.Join(append(failed, file.Text(text))...)
}
