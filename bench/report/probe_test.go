package report

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"strings"
	"testing"

	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// probe is a canvas that keeps where each text lies, so that a test can say of
// any picture what a reader would: nothing covered, nothing cut off, nothing too
// small, no empty boxes for letters.
type probe struct {
	w, h   vg.Length
	at     matrix
	stack  []matrix
	labels []label
}

type label struct {
	text string
	size vg.Length
	box  vg.Rectangle
	face font.Face
}

// matrix turns a place of the canvas at hand into one of the whole: x' = a x + c y + e.
type matrix struct{ a, b, c, d, e, f float64 }

func newProbe(w, h vg.Length) *probe { return &probe{w: w, h: h, at: matrix{a: 1, d: 1}} }

func (p *probe) Size() (w, h vg.Length)                  { return p.w, p.h }
func (p *probe) SetLineWidth(vg.Length)                  {}
func (p *probe) SetLineDash([]vg.Length, vg.Length)      {}
func (p *probe) SetColor(color.Color)                    {}
func (p *probe) Stroke(vg.Path)                          {}
func (p *probe) Fill(vg.Path)                            {}
func (p *probe) DrawImage(_ vg.Rectangle, _ image.Image) {}
func (p *probe) Push()                                   { p.stack = append(p.stack, p.at) }

func (p *probe) Pop() {
	p.at = p.stack[len(p.stack)-1]
	p.stack = p.stack[:len(p.stack)-1]
}

func (p *probe) Rotate(r float64) {
	sin, cos := math.Sincos(r)
	p.multiply(matrix{cos, sin, -sin, cos, 0, 0})
}

func (p *probe) Translate(pt vg.Point) {
	p.multiply(matrix{1, 0, 0, 1, float64(pt.X), float64(pt.Y)})
}

func (p *probe) Scale(x, y float64) { p.multiply(matrix{x, 0, 0, y, 0, 0}) }

func (p *probe) multiply(m matrix) {
	t := p.at
	p.at = matrix{t.a*m.a + t.c*m.b, t.b*m.a + t.d*m.b, t.a*m.c + t.c*m.d, t.b*m.c + t.d*m.d,
		t.a*m.e + t.c*m.f + t.e, t.b*m.e + t.d*m.f + t.f}
}

// FillString keeps the box of the ink: from the foot of a g to the top of a
// capital, a little less, since boxes that touch do not cover each other.
func (p *probe) FillString(face font.Face, pt vg.Point, s string) {
	size := face.Font.Size
	w, foot, head := face.Width(s), -size*0.15, size*0.70
	box := rect(math.MaxFloat32, math.MaxFloat32, -math.MaxFloat32, -math.MaxFloat32)
	for _, corner := range []vg.Point{{X: 0, Y: foot}, {X: w, Y: foot}, {X: 0, Y: head}, {X: w, Y: head}} {
		x, y := float64(pt.X+corner.X), float64(pt.Y+corner.Y)
		at := vg.Point{X: vg.Length(p.at.a*x + p.at.c*y + p.at.e), Y: vg.Length(p.at.b*x + p.at.d*y + p.at.f)}
		box.Min.X, box.Min.Y = min(box.Min.X, at.X), min(box.Min.Y, at.Y)
		box.Max.X, box.Max.Y = max(box.Max.X, at.X), max(box.Max.Y, at.Y)
	}
	p.labels = append(p.labels, label{s, size, box, face})
}

// complain says what is wrong with the texts of a picture.
func (p *probe) complain() []string {
	var out []string
	for i, l := range p.labels {
		if l.size < smallSize {
			out = append(out, fmt.Sprintf("%q has only %v points", l.text, l.size))
		}
		if l.box.Min.X < -0.5 || l.box.Min.Y < -0.5 || l.box.Max.X > p.w+0.5 || l.box.Max.Y > p.h+0.5 {
			out = append(out, fmt.Sprintf("%q is cut off: %v on %v x %v", l.text, l.box, p.w, p.h))
		}
		for _, other := range p.labels[:i] {
			if overlap(l.box, other.box) {
				out = append(out, fmt.Sprintf("%q %v covers %q %v", l.text, l.box, other.text, other.box))
			}
		}
		out = append(out, missing(l.face, l.text)...)
	}
	return out
}

func overlap(a, b vg.Rectangle) bool {
	return a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y
}

// missing names the characters that a font has no glyph for.
func missing(face font.Face, text string) []string {
	var out []string
	var buffer sfnt.Buffer
	for _, r := range text {
		if glyph, err := face.Face.GlyphIndex(&buffer, r); err != nil || glyph == 0 {
			out = append(out, fmt.Sprintf("no glyph for %q in %q", r, text))
		}
	}
	return out
}

// look draws something and fails the test if a reader would complain.
func readable(t *testing.T, w, h vg.Length, paint func(draw.Canvas)) []label {
	t.Helper()
	p := newProbe(w, h)
	paint(draw.New(p))
	for _, wrong := range p.complain() {
		t.Error(wrong)
	}
	return p.labels
}

func has(labels []label, part string) bool {
	for _, l := range labels {
		if strings.Contains(l.text, part) {
			return true
		}
	}
	return false
}

// edges is a plotter that keeps where the data of its chart lie.
type edges struct{ left, right *[]vg.Length }

func (e edges) Plot(to draw.Canvas, _ *plot.Plot) {
	*e.left, *e.right = append(*e.left, to.Min.X), append(*e.right, to.Max.X)
}
