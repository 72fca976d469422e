package report

import (
	"pinscope/bench/pressure"
	"pinscope/bench/units"
)

// PressureExperiment shows an experiment that holds more and more memory, as
// three charts over the memory held, for [Stack]: the loader's throughput, the
// rate at which cached files can be read beside it, and the time lost waiting for
// memory. Lines mark where each falls off and the most that did no harm.
func PressureExperiment(look Look, o *pressure.Outcome) []*Chart {
	rate := experimentChart(look, o, ballastTitle, throughputAxis, nil)
	cache := experimentChart(look, o, cacheTitle, cacheAxis, inUnit("GB/s"))
	strain := experimentChart(look, o, strainTitle, strainAxis, inPercent)
	var held, rates, caches, some, full []float64
	if o != nil {
		for i := range o.Steps {
			s := &o.Steps[i]
			held = append(held, float64(s.BallastBytes))
			rates = append(rates, orNaN(s.SamplesPerSecond))
			var read *float64
			if s.Cache != nil && s.Cache.Bytes > 0 {
				gbps := s.Cache.BytesPerSecond / 1e9
				read = &gbps
			}
			caches = append(caches, orNaN(read))
			some, full = append(some, orNaN(s.SomeShare)), append(full, orNaN(s.FullShare))
		}
		rate.addKnee(o.RateKnee)
		cache.addKnee(o.CacheKnee)
		rate.addSafe(o.SafeBytes)
	}
	rate.addHeld(held, rates, rateKey, 0)
	cache.addHeld(held, caches, cacheKey, 1)
	strain.addHeld(held, some, someKey, 1)
	strain.addHeld(held, full, fullKey, 4)
	return []*Chart{rate, cache, strain}
}

func experimentChart(look Look, o *pressure.Outcome, title, y phrase, unit unit) *Chart {
	c := &Chart{look: look, title: look.say(title), empty: true}
	c.x = axis{title: look.say(ballastAxis), unit: inBytes}
	c.y = axis{title: look.say(y), unit: unit}
	most := 0.0
	if o != nil && len(o.Steps) > 0 {
		for i := range o.Steps {
			most = max(most, float64(o.Steps[i].BallastBytes))
		}
	}
	c.x.spanExactly(-most*0.02, max(most, 1)*1.04)
	return c
}

// addHeld adds a line over the memory held; lines share the chart's y axis.
func (c *Chart) addHeld(held, values []float64, name phrase, ink int) {
	p, _ := finite(held, values)
	if len(p.xs) == 0 {
		return
	}
	_, hi := bounds(p.ys)
	if c.empty {
		c.y.spanExactly(0, hi*1.12)
	}
	c.y.max = max(c.y.max, hi*1.12)
	c.empty = false
	colour := c.look.line(ink)
	c.plotters = append(c.plotters, curve{points: lastOfEach(p), ink: colour, width: 1.2}, dots{p, colour, 2.2, mark(ink)})
	c.legend = append(c.legend, key{text: c.look.say(name), ink: colour, line: true, mark: mark(ink)})
}

// lastOfEach leaves out points that are followed by one at the same place: the
// line goes through what was measured when all was warm.
func lastOfEach(p points) points {
	var out points
	for i := range p.xs {
		if i+1 == len(p.xs) || p.xs[i+1] != p.xs[i] {
			out.xs, out.ys = append(out.xs, p.xs[i]), append(out.ys, p.ys[i])
		}
	}
	return out
}

func (c *Chart) addKnee(k *pressure.Knee) {
	if k == nil {
		return
	}
	c.plotters = append(c.plotters, upright{float64(k.Bytes), vermilion, true})
	c.legend = append(c.legend, key{text: c.look.say(kneeKey, units.Bytes(k.Bytes)), ink: vermilion, line: true, dashed: true})
}

func (c *Chart) addSafe(bytes *int64) {
	if bytes == nil {
		return
	}
	c.plotters = append(c.plotters, upright{float64(*bytes), green, false})
	c.legend = append(c.legend, key{text: c.look.say(safeKey, units.Bytes(*bytes)), ink: green, line: true})
}
