package source

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"
)

// delay stands for any work that takes a known time and needs no CPU of this
// machine: every batch takes the load time, more or less by the jitter. A sample
// is its own number, in the first 8 bytes; what a slot held behind them stays.
type delay struct {
	spec         Spec
	load, jitter time.Duration
	seed         uint64
	classes      int64
}

// maxDelay keeps load time and jitter far from what an int64 of nanoseconds holds.
const maxDelay = 24 * time.Hour

// parseDelay reads "634ms" or "634ms±5ms" ("634ms+-5ms").
func parseDelay(text string) (load, jitter time.Duration, err error) {
	first, second, jittery := strings.Cut(strings.ReplaceAll(text, "+-", "±"), "±")
	load, err = time.ParseDuration(first)
	if err == nil && jittery {
		jitter, err = time.ParseDuration(second)
	}
	if err != nil || load < 0 || load > maxDelay || jitter < 0 || jitter > load {
		return 0, 0, fmt.Errorf("source %q is not allowed; allowed is delay:TIME or delay:TIME±JITTER, "+
			"TIME from 0s to 24h, JITTER from 0s to TIME, such as delay:634ms±5ms", "delay:"+text)
	}
	return load, jitter, nil
}

func checkDelay(argument string) error {
	_, _, err := parseDelay(argument)
	return err
}

func probeDelay(o Options, _ string) (Spec, error) { return newSpec(o.Samples, o.Shape, o.DType) }

func openDelay(o Options, argument string) (Source, error) {
	spec, err := probeDelay(o, argument)
	if err != nil {
		return nil, err
	}
	load, jitter, err := parseDelay(argument)
	return &delay{spec, load, jitter, o.Seed, int64(o.Classes)}, err
}

func (d *delay) Spec() Spec            { return d.spec }
func (d *delay) NewFiller(bool) Filler { return d }
func (d *delay) Close() error          { return nil }

func (d *delay) Fill(dst, label []byte, index int64) error {
	var stamp [8]byte
	binary.LittleEndian.PutUint64(stamp[:], uint64(index))
	copy(dst, stamp[:])
	putClass(label, index%d.classes)
	return nil
}

// LoadTime is uniform from the load time minus to plus the jitter, and the same
// for a batch whoever fills it.
func (d *delay) LoadTime(batch int64) time.Duration {
	word, _ := newStream(d.seed, batch).next()
	part := float64(word>>11) / (1 << 53) // 0 to 1, 1 left out
	return d.load - d.jitter + time.Duration(part*float64(2*d.jitter+1))
}

var _ Pacer = (*delay)(nil)
