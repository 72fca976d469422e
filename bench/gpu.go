package bench

import (
	"context"
	"fmt"
	"time"

	"pinscope/bench/gpuwatch"
)

// gpuInterval is how often NVML is asked: its utilisation is an average over 1/6
// to 1 s, so asking more often tells nothing new.
const gpuInterval = 250 * time.Millisecond

// watchGPU has NVML's figures of a real GPU polled until the function it returns is
// called; they are then in the result. NVML is touched at no other time. What keeps
// it from being asked is a warning: the measurement does not need it.
func (s *session) watchGPU() (stop func()) {
	info := s.device.Info()
	if info.Simulated || info.InPlace || !s.o.SampleMemory {
		return func() {}
	}
	watch, err := gpuwatch.Open()
	if err != nil {
		s.warn(fmt.Sprintf("NVML gives no figures of the GPU: %v", err))
		return func() {}
	}
	sampler, err := startGPU(s, watch)
	if err != nil {
		s.warn(fmt.Sprintf("NVML gives no figures of the GPU: %v", err))
		watch.Close()
		return func() {}
	}
	return func() {
		series := sampler.Stop()
		watch.Close()
		s.result.GPU = &series
		if text := linkAlarm(&series); text != "" {
			s.warn(text)
		}
	}
}

func startGPU(s *session, watch *gpuwatch.Watch) (*gpuwatch.Sampler, error) {
	info := s.device.Info()
	device, err := watch.Match(info.UUID, info.PCIAddress)
	if err != nil {
		return nil, err
	}
	return watch.Start(context.WithoutCancel(s.ctx), device, gpuInterval, s.clock)
}

// linkUnderLoad is the fastest state of the link that was seen: it falls when
// nothing is copied, so the slower ones say nothing. nil where NVML does not tell.
func linkUnderLoad(g *gpuwatch.Series) *gpuwatch.Sample {
	var best *gpuwatch.Sample
	for i := range g.Samples {
		s := &g.Samples[i]
		if s.LinkGeneration == nil || s.LinkWidth == nil {
			continue
		}
		if best == nil || *s.LinkGeneration > *best.LinkGeneration ||
			*s.LinkGeneration == *best.LinkGeneration && *s.LinkWidth > *best.LinkWidth {
			best = s
		}
	}
	return best
}

// linkAlarm says that the link stayed below what it can do.
func linkAlarm(g *gpuwatch.Series) string {
	s := linkUnderLoad(g)
	if s == nil || s.MaxLinkGeneration == nil || s.MaxLinkWidth == nil ||
		*s.LinkGeneration >= *s.MaxLinkGeneration && *s.LinkWidth >= *s.MaxLinkWidth {
		return ""
	}
	return fmt.Sprintf("the link ran at PCIe %d x%d under load and can do PCIe %d x%d: another slot or a BIOS setting may help",
		*s.LinkGeneration, *s.LinkWidth, *s.MaxLinkGeneration, *s.MaxLinkWidth)
}

// textGPU is what NVML saw, in one line.
func (r *Result) textGPU(w *textWriter) {
	if r.GPU == nil {
		return
	}
	link, power, temperature := "link n/a", "n/a", "n/a"
	if s := linkUnderLoad(r.GPU); s != nil {
		link = fmt.Sprintf("PCIe %d x%d under load", *s.LinkGeneration, *s.LinkWidth)
	}
	for _, s := range r.GPU.Samples {
		if s.PowerWatts != nil {
			power = fmt.Sprintf("%.0f W", *s.PowerWatts)
		}
		if s.TemperatureC != nil {
			temperature = fmt.Sprintf("%d C", *s.TemperatureC)
		}
	}
	w.pair("GPU", fmt.Sprintf("%s; at the end %s, %s (NVML)", link, power, temperature))
}
