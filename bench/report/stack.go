package report

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// margins are those left and right of the data.
func (l *layout) margins() (left, right vg.Length) {
	if !l.usable || l.plot == nil {
		return 0, 0
	}
	data := l.plot.DataCanvas(l.area)
	return data.Min.X - l.inner.Min.X, l.inner.Max.X - data.Max.X
}

// Stack draws charts below each other with their data lined up, so that one
// moment lies at one place in all of them. The heights are in proportion to
// weights, 1 where none is given; only the last chart shows the x axis, which
// must be the same for all: that of one [Window], or of one experiment.
func Stack(to draw.Canvas, charts []*Chart, weights ...float64) {
	if len(charts) == 0 {
		return
	}
	weight := func(i int) float64 {
		if i < len(weights) && weights[i] > 0 && !math.IsInf(weights[i], 0) {
			return weights[i]
		}
		return 1
	}
	total := 0.0
	for i := range charts {
		total += weight(i)
	}
	height, top := to.Max.Y-to.Min.Y, to.Max.Y
	layouts := make([]layout, len(charts))
	shown := make([]Chart, len(charts)) // copies: the charts themselves stay as they are
	left, right := vg.Length(0), vg.Length(0)
	last := len(charts) - 1
	for last > 0 && charts[last].empty {
		last--
	}
	for i := range charts {
		tile := to
		tile.Max.Y = top
		top -= height * vg.Length(weight(i)/total)
		tile.Min.Y = top
		shown[i] = *charts[i]
		shown[i].noX = i != last
		layouts[i] = shown[i].layout(tile)
		l, r := layouts[i].margins()
		left, right = max(left, l), max(right, r)
	}
	for i := range shown {
		if l := &layouts[i]; l.plot != nil {
			own, ownRight := l.margins()
			l.area = draw.Crop(l.area, left-own, ownRight-right, 0, 0)
			shown[i].fit(l.plot, l.area)
		}
		shown[i].paint(layouts[i])
	}
}
