package report

import (
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"pinscope/bench/trace"
)

// spans draws the lanes.
type spans struct {
	look   Look
	lanes  []*trace.LaneTrace
	window Window
}

// laneThick is how much of a lane's height its spans take.
const laneThick = 0.76

func (g spans) Plot(to draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&to)
	b := brush{look: g.look, to: to, window: g.window, dot: visible(pixel(to))}
	b.columns = int(math.Ceil(float64((to.Max.X-to.Min.X)/b.dot))) + 1
	b.perDot = float64(g.window.To-g.window.From) / float64((to.Max.X-to.Min.X)/b.dot)
	b.share = make([]float32, b.columns*trace.Stages)
	for i, lane := range g.lanes {
		middle := float64(len(g.lanes) - 1 - i)
		b.low, b.high = y(middle-laneThick/2), y(middle+laneThick/2)
		if i > 0 {
			edge := y(middle + 0.5)
			to.StrokeLine2(draw.LineStyle{Color: g.look.theme().grid, Width: 0.4}, to.Min.X, edge, to.Max.X, edge)
		}
		b.lane(lane.Spans)
	}
}

// visible is the smallest whole number of dots that can be seen on paper.
func visible(dot vg.Length) vg.Length {
	return dot * vg.Length(math.Ceil(0.7/float64(dot)))
}

// brush draws one lane after the other.
type brush struct {
	look      Look
	to        draw.Canvas
	window    Window
	dot       vg.Length
	columns   int     // dots across
	perDot    float64 // nanoseconds
	low, high vg.Length

	share []float32 // of each column and stage that short spans fill, for the lane at hand
	wide  []wideSpan
}

// wideSpan is a span at least a dot wide, in dots from the left.
type wideSpan struct {
	from, to float64
	stage    trace.Stage
	batch    int64
}

// lane draws short spans first: the ends of wide ones then blend with them.
func (b *brush) lane(all []trace.Span) {
	clear(b.share)
	b.wide = b.wide[:0]
	for i := range all {
		b.take(&all[i])
	}
	b.drawShort()
	b.drawWide()
}

func (b *brush) take(s *trace.Span) {
	if s.End() < b.window.From || s.Start > b.window.To || int(s.Stage) >= trace.Stages {
		return
	}
	from := float64(s.Start-b.window.From) / b.perDot
	to := float64(s.End()-b.window.From) / b.perDot
	if to-from >= 1 {
		span := wideSpan{max(from, 0), min(to, float64(b.columns-1)), s.Stage, s.Batch}
		// The same again, to the dot, would not show.
		if n := len(b.wide); n > 0 && b.wide[n-1].stage == s.Stage &&
			int(b.wide[n-1].from) == int(span.from) && int(b.wide[n-1].to) == int(span.to) {
			return
		}
		if span.to > span.from {
			b.wide = append(b.wide, span)
		}
		return
	}
	column := int(math.Floor(from))
	inFirst := min(to, float64(column+1)) - from
	b.addShare(column, s.Stage, inFirst)
	b.addShare(column+1, s.Stage, to-from-inFirst)
}

func (b *brush) addShare(column int, stage trace.Stage, share float64) {
	if column >= 0 && column < b.columns && share >= 0 {
		// A span of no length at all still shows.
		b.share[column*trace.Stages+int(stage)] += float32(share) + 1e-6
	}
}

// faintest is how strongly a dot shows that holds next to nothing.
const faintest = 0.6

// tints is how many strengths of a stage's colour short spans use.
const tints = 8

// drawShort paints runs of columns with the stage that fills most of them.
func (b *brush) drawShort() {
	var paths [trace.Stages][tints + 1]vg.Path
	runStage, runTint, runStart := -1, 0, 0
	for column := 0; column <= b.columns; column++ {
		stage, tint := -1, 0
		if column < b.columns {
			stage, tint = b.columnTint(column)
		}
		if stage == runStage && tint == runTint {
			continue
		}
		if runStage >= 0 {
			path := &paths[runStage][runTint]
			*path = b.box(*path, float64(runStart), float64(column), 0)
		}
		runStage, runTint, runStart = stage, tint, column
	}
	for stage := range paths {
		for tint, path := range paths[stage] {
			if len(path) == 0 {
				continue
			}
			strength := faintest + (1-faintest)*float64(tint)/tints
			if isWait(trace.Stage(stage)) {
				strength *= 0.5 // what pale and hatched come to from afar
			}
			b.to.SetColor(mix(b.look.theme().ground, stageInk[stage], strength))
			inParts(path, b.to.Fill)
		}
	}
}

func (b *brush) columnTint(column int) (stage, tint int) {
	sum, most := float32(0), float32(0)
	stage = -1
	for s, share := range b.share[column*trace.Stages : (column+1)*trace.Stages] {
		sum += share
		if share > most {
			stage, most = s, share
		}
	}
	return stage, int(min(sum, 1)*tints + 0.5)
}

// box adds a rectangle from one dot to another to a path.
func (b *brush) box(path vg.Path, from, to float64, inset vg.Length) vg.Path {
	x0, x1 := b.to.Min.X+vg.Length(from)*b.dot, b.to.Min.X+vg.Length(to)*b.dot-inset
	x0, x1 = max(x0, b.to.Min.X), min(x1, b.to.Max.X)
	if x1 <= x0 {
		return path
	}
	return append(path,
		vg.PathComp{Type: vg.MoveComp, Pos: vg.Point{X: x0, Y: b.low}},
		vg.PathComp{Type: vg.LineComp, Pos: vg.Point{X: x1, Y: b.low}},
		vg.PathComp{Type: vg.LineComp, Pos: vg.Point{X: x1, Y: b.high}},
		vg.PathComp{Type: vg.LineComp, Pos: vg.Point{X: x0, Y: b.high}},
		vg.PathComp{Type: vg.CloseComp})
}

// drawWide paints the spans that can be seen singly: those inside others later,
// all of one colour at once.
func (b *brush) drawWide() {
	slices.SortStableFunc(b.wide, func(x, y wideSpan) int {
		switch {
		case x.from < y.from:
			return -1
		case x.from > y.from:
			return 1
		case x.to > y.to:
			return -1
		case x.to < y.to:
			return 1
		}
		return 0
	})
	var outer, inner [trace.Stages]vg.Path
	var hatching [trace.Stages]vg.Path
	end := 0.0
	for _, s := range b.wide {
		paths := &outer
		if s.from < end-0.5 {
			paths = &inner
		} else {
			end = s.to
		}
		inset := vg.Length(0)
		if s.to-s.from > 4 {
			inset = min(b.dot, 0.5) // tells spans of one stage apart
		}
		paths[s.stage] = b.box(paths[s.stage], s.from, s.to, inset)
		if isWait(s.stage) && s.to-s.from > 2 {
			x := b.to.Min.X
			r := rect(x+vg.Length(s.from)*b.dot, b.low, min(x+vg.Length(s.to)*b.dot-inset, b.to.Max.X), b.high)
			hatching[s.stage] = hatch(hatching[s.stage], r, hatchApart)
		}
	}
	ground := b.look.theme().ground
	for _, layer := range [][trace.Stages]vg.Path{outer, inner} {
		for stage, path := range layer {
			if len(path) > 0 {
				b.to.SetColor(b.body(trace.Stage(stage)))
				inParts(path, b.to.Fill)
			}
		}
	}
	for stage, path := range hatching {
		if len(path) > 0 {
			b.to.SetLineStyle(draw.LineStyle{Color: mix(ground, stageInk[stage], hatchShare), Width: hatchWidth})
			inParts(path, b.to.Stroke)
		}
	}
	b.numbers()
}

func (b *brush) body(stage trace.Stage) color.NRGBA {
	if isWait(stage) {
		return mix(b.look.theme().ground, stageInk[stage], paleShare)
	}
	return stageInk[stage]
}

// numbers writes the batch on each span that has room for it. Waits have none:
// the batch that is waited for stands on the work that follows.
func (b *brush) numbers() {
	if b.high-b.low < smallSize*0.9 {
		return
	}
	s := b.look.small()
	digit := s.Width("0")
	base := (b.low+b.high)/2 - smallSize*capHeight/2
	for _, span := range b.wide {
		if isWait(span.stage) || span.batch < 0 {
			continue
		}
		text := strconv.FormatInt(span.batch, 10)
		width := digit * vg.Length(len(text))
		if room := vg.Length(span.to-span.from) * b.dot; width+3 > room {
			continue
		}
		middle := b.to.Min.X + vg.Length(span.from+span.to)/2*b.dot
		s.Color = over(stageInk[span.stage])
		write(b.to, s, middle-width/2, base, text)
	}
}
