package source

import (
	"errors"
	"fmt"

	"pinscope/cudamem"
)

// tokens gives rows of token ids, as nanoGPT's get_batch does: L ids, and as label
// the L ids that follow each of them. Ids are uniform below 50,257.
type tokens struct {
	spec Spec
	seed uint64
}

func probeTokens(o Options, _ string) (Spec, error) {
	if o.DType != cudamem.Int64 {
		return Spec{}, fmt.Errorf("dtype: %s is not allowed with source tokens; allowed is int64", o.DType)
	}
	spec, err := newSpec(o.Samples, o.Shape, o.DType)
	spec.LabelBytes = spec.SampleBytes
	return spec, err
}

func openTokens(o Options, _ string) (Source, error) {
	spec, err := probeTokens(o, "")
	return &tokens{spec, o.Seed}, err
}

func (t *tokens) Spec() Spec            { return t.spec }
func (t *tokens) NewFiller(bool) Filler { return t }
func (t *tokens) Close() error          { return nil }

func (t *tokens) Fill(dst, label []byte, index int64) error {
	if len(dst) != len(label) {
		return errors.New("tokens: sample and label differ in length")
	}
	s := newStream(t.seed, index)
	s.drawTokens(dst)
	_, s = s.next()
	s.drawTokens(label)
	return nil
}
