package bench

import (
	"bufio"
	"fmt"
	"io"

	"pinscope/bench/units"
)

// Text writes the plan for a terminal, 80 columns wide.
func (p Plan) Text(to io.Writer) error {
	w := &textWriter{Writer: bufio.NewWriter(to)}
	samples := plural(p.Samples, "sample")
	if p.DroppedSamples > 0 {
		samples = units.Count(p.Samples-p.DroppedSamples) + " of " + samples
	}
	w.pair("Batches", fmt.Sprintf("%s in %s an epoch, %s in all", samples, batches(p.EpochBatches), batches(p.TotalBatches)))
	w.pair("Batch", fmt.Sprintf("%s of input, %s of labels", exact(p.BatchBytes), exact(p.BatchLabelBytes)))
	if p.LastBatchBytes != p.BatchBytes {
		w.pair("Last batch", fmt.Sprintf("%s, %s of input", plural(p.LastRows, "sample"), exact(p.LastBatchBytes)))
	}
	if p.QueueSlots > 0 {
		w.pair("Queue", fmt.Sprintf("%s, %s of input", plural(int64(p.QueueSlots), "pageable slot"), exact(p.QueueInputBytes)))
	}
	p.textRing(w)
	if p.DatasetBytes > 0 {
		w.pair("Data set", exact(p.DatasetBytes)+" in memory")
	}
	w.pair("Pinned", exact(p.PinnedBytes)+" in all, whole pages, labels included")
	w.pair("Device", fmt.Sprintf("%s, %s with the weights", plural(int64(p.DeviceSlots), "slot"), exact(p.DeviceBytes)))
	w.pair("Host", exact(p.HostBytes)+" in all")
	w.pair("Link", exact(p.EpochLinkBytes)+" to the device in an epoch")
	for _, note := range p.Notes {
		w.pair("Note", note)
	}
	for _, warning := range p.Warnings {
		w.pair("Warning", warning)
	}
	return w.Flush()
}

func (p Plan) textRing(w *textWriter) {
	switch {
	case p.RingSlots == 0:
	case p.RingInputBytes == 0:
		w.pair("Ring", fmt.Sprintf("%s of sample numbers, %s", plural(int64(p.RingSlots), p.RingKind+" slot"), exact(p.RingBytes)))
	case p.PyTorchInputBytes == 0:
		w.pair("Ring", fmt.Sprintf("%s, %s of input", plural(int64(p.RingSlots), p.RingKind+" slot"), exact(p.RingInputBytes)))
	default:
		w.pair("Ring", fmt.Sprintf("%s, %s of input", plural(int64(p.RingSlots), p.RingKind+" slot"), exact(p.RingInputBytes)))
		w.pair("", fmt.Sprintf("PyTorch would reserve %s, %s", exact(p.PyTorchInputBytes),
			units.SignedPercent(float64(p.PyTorchInputBytes)/float64(p.RingInputBytes)-1)))
	}
}

func batches(n int64) string {
	if n == 1 {
		return "1 batch"
	}
	return units.Count(n) + " batches"
}
