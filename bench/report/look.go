package report

import (
	"fmt"
	"image/color"
	"sync"

	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"pinscope/bench/report/fonts"
	"pinscope/bench/trace"
)

// Look is how charts are drawn. The zero value is English on white.
type Look struct {
	Language  Language
	Dark      bool // light ink on dark
	Simulated bool // the figures are a simulated GPU's: every title says so
}

// Sizes of text. None is under 7 points, so that a page can be read in print and
// thrown on a wall.
const (
	titleSize = vg.Length(9)
	labelSize = vg.Length(8)
	smallSize = vg.Length(7)
)

// theme are the colours that depend on the ground.
type theme struct {
	ground, panel, ink, muted, grid color.NRGBA
	sides                           [2]color.NRGBA // A and B
}

var (
	light = theme{
		ground: rgb(0xffffff), panel: rgb(0xf6f7f9), ink: rgb(0x1b1f24), muted: rgb(0x545d68), grid: rgb(0xdfe3e8),
		sides: [2]color.NRGBA{blue, vermilion},
	}
	dark = theme{
		ground: rgb(0x14181d), panel: rgb(0x1c2228), ink: rgb(0xe9edf1), muted: rgb(0xa8b1bc), grid: rgb(0x343c45),
		sides: [2]color.NRGBA{skyBlue, orange},
	}
)

// The palette of Okabe and Ito, whose colours stay apart under the common kinds
// of colour blindness (jfly.uni-koeln.de/color).
var (
	orange    = rgb(0xe69f00)
	skyBlue   = rgb(0x56b4e9)
	green     = rgb(0x009e73)
	yellow    = rgb(0xf0e442)
	blue      = rgb(0x0072b2)
	vermilion = rgb(0xd55e00)
	purple    = rgb(0xcc79a7)
	grey      = rgb(0x7a828c)
)

// series are the colours of lines that are not A and B, in order of use; where
// there are more lines than colours, their marks differ.
var series = [...]color.NRGBA{blue, orange, green, purple, vermilion, skyBlue, grey}

// stageInk is the colour of each stage. Stages that share a lane differ in
// lightness too, for print without colour. A wait has the colour of what it
// waits for, and is drawn pale and hatched.
var stageInk = [trace.Stages]color.NRGBA{
	trace.WaitSlot:  grey,
	trace.Load:      skyBlue,
	trace.Collate:   blue,
	trace.PinWait:   skyBlue,
	trace.RingWait:  grey,
	trace.PinCopy:   purple,
	trace.WaitBatch: skyBlue,
	trace.CopyCall:  orange,
	trace.WaitCopy:  vermilion,
	trace.WaitStep:  green,
	trace.Launch:    grey,
	trace.HtoD:      vermilion,
	trace.Gather:    yellow,
	trace.Step:      green,
}

func isWait(s trace.Stage) bool {
	switch s {
	case trace.WaitSlot, trace.PinWait, trace.RingWait, trace.WaitBatch, trace.WaitCopy, trace.WaitStep:
		return true
	}
	return false
}

func rgb(v uint32) color.NRGBA {
	return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255}
}

// mix is so much (0 to 1) of ink on a ground.
func mix(ground, ink color.NRGBA, share float64) color.NRGBA {
	part := func(g, i uint8) uint8 { return uint8(float64(g) + (float64(i)-float64(g))*share + 0.5) }
	return color.NRGBA{part(ground.R, ink.R), part(ground.G, ink.G), part(ground.B, ink.B), 255}
}

// over is black or white, whichever reads better on a colour (the weights are
// those of luma in ITU-R BT.601).
func over(c color.NRGBA) color.NRGBA {
	if 0.299*float64(c.R)+0.587*float64(c.G)+0.114*float64(c.B) > 125 {
		return rgb(0x000000)
	}
	return rgb(0xffffff)
}

func (l Look) theme() *theme {
	if l.Dark {
		return &dark
	}
	return &light
}

// side is the colour of A (0), B (1) or, in other comparisons, the n-th line.
func (l Look) side(n int) color.NRGBA {
	if n < len(l.theme().sides) {
		return l.theme().sides[n]
	}
	return series[(n-2)%len(series)]
}

// line is the colour of the n-th line where there is no A and B.
func (l Look) line(n int) color.NRGBA {
	c := series[n%len(series)]
	if l.Dark && c == blue {
		return skyBlue
	}
	return c
}

// faces are parsed at the first use, once: the fonts are a megabyte each.
var faces = sync.OnceValue(func() *font.Cache {
	var all font.Collection
	for _, file := range []struct {
		weight xfont.Weight
		data   []byte
	}{{xfont.WeightNormal, fonts.Regular}, {xfont.WeightBold, fonts.Bold}} {
		parsed, err := opentype.Parse(file.data)
		if err != nil {
			// The files are part of the program and a test parses them.
			panic(fmt.Sprintf("report: embedded font: %v", err))
		}
		all = append(all, font.Face{Font: font.Font{Typeface: fonts.Family, Weight: file.weight}, Face: parsed})
	}
	return font.NewCache(all)
})

// text is a style of text; its position is the left end of the baseline.
func (l Look) text(size vg.Length, bold bool, ink color.NRGBA) text.Style {
	s := text.Style{
		Color:   ink,
		Font:    font.Font{Typeface: fonts.Family, Size: size, Weight: xfont.WeightNormal},
		Handler: text.Plain{Fonts: faces()},
	}
	if bold {
		s.Font.Weight = xfont.WeightBold
	}
	return s
}

func (l Look) title() text.Style { return l.text(titleSize, true, l.theme().ink) }

func (l Look) label() text.Style { return l.text(labelSize, false, l.theme().ink) }

func (l Look) small() text.Style { return l.text(smallSize, false, l.theme().muted) }
