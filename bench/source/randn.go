package source

// randn draws each sample as it is asked for, as a data set of torch.randn tensors
// does: normal values for float32 and float16, uniform bytes for uint8, uniform
// token ids (below 50,257) for int64. Labels are uniform classes.
type randn struct {
	spec    Spec
	seed    uint64
	classes int
}

func probeRandn(o Options, _ string) (Spec, error) { return newSpec(o.Samples, o.Shape, o.DType) }

func openRandn(o Options, _ string) (Source, error) {
	spec, err := probeRandn(o, "")
	return &randn{spec, o.Seed, o.Classes}, err
}

func (r *randn) Spec() Spec            { return r.spec }
func (r *randn) NewFiller(bool) Filler { return r }
func (r *randn) Close() error          { return nil }

func (r *randn) Fill(dst, label []byte, index int64) error {
	newStream(r.seed, index).draw(dst, r.spec.DType)
	drawClass(label, r.seed, index, r.classes)
	return nil
}
