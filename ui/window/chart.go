//go:build !headless

package window

import (
	"image"
	"sync"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// draw draws a picture of so many dots, at so many dots an inch. It is called on
// a goroutine of its own.
type draw func(width, height, dpi int) (image.Image, error)

// chart is a picture drawn at the screen's own dots, off the Fyne goroutine. Until
// a new one is ready, the one before stays.
type chart struct {
	widget.BaseWidget
	border *border
	least  fyne.Size
	raster *canvas.Raster

	draw    draw
	version int     // of draw
	shown   picture // that image is of
	asked   picture // that is being drawn
	image   image.Image
}

// picture is what an image depends on.
type picture struct{ version, width, height, dpi int }

// drawing keeps charts from being drawn side by side: a run may be measured meanwhile.
var drawing sync.Mutex

func newChart(b *border, least fyne.Size) *chart {
	c := &chart{}
	c.init(b, least)
	c.ExtendBaseWidget(c)
	return c
}

func (c *chart) init(b *border, least fyne.Size) {
	c.border, c.least, c.image = b, least, blank
	c.raster = canvas.NewRaster(c.generate)
}

// blank is shown where nothing has been drawn yet.
var blank image.Image = image.NewNRGBA(image.Rect(0, 0, 1, 1))

// show has the chart drawn by d from now on; nil draws nothing.
func (c *chart) show(d draw) {
	c.draw = d
	c.version++
	c.raster.Refresh()
}

// CreateRenderer is called by Fyne.
func (c *chart) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(c.raster) }

// MinSize is called by Fyne.
func (c *chart) MinSize() fyne.Size { return c.least }

const normalDPI = 96

// generate is called by Fyne, with the size in dots of the screen.
func (c *chart) generate(width, height int) image.Image {
	want := picture{c.version, width, height, c.dpi(width)}
	if c.draw != nil && width > 1 && height > 1 && c.shown != want && c.asked != want {
		c.asked = want
		go c.render(want, c.draw)
	}
	if c.draw == nil {
		return blank
	}
	return c.image
}

// dpi follows the screen's scale and the size of the window's texts.
func (c *chart) dpi(width int) int {
	scale := float32(1)
	if c.raster.Size().Width > 0 {
		scale = float32(width) / c.raster.Size().Width
	}
	text := theme.TextSize() / 13
	return int(min(max(normalDPI*scale*text, 48), 600))
}

// render draws on a goroutine of its own and crosses over to show it.
func (c *chart) render(want picture, d draw) {
	drawing.Lock()
	picture, err := d(want.width, want.height, want.dpi)
	drawing.Unlock()
	if err != nil {
		picture = blank // only sizes are refused, and those come from the screen
	}
	c.border.do(func() {
		if c.asked == want {
			c.image, c.shown = picture, want
			c.raster.Refresh()
		}
	})
}

// movable is a chart with a time axis, which the wheel zooms and the mouse pulls.
type movable struct {
	chart
	scrolled func(steps, at float32) // of the wheel, up is positive; at is a share of the width
	dragged  func(share float32)     // of the width, to the right is positive
}

func newMovable(b *border, least fyne.Size) *movable {
	m := &movable{}
	m.init(b, least)
	m.ExtendBaseWidget(m)
	return m
}

// Scrolled is called by Fyne.
func (m *movable) Scrolled(e *fyne.ScrollEvent) {
	if m.scrolled != nil && m.Size().Width > 0 {
		m.scrolled(e.Scrolled.DY/10, e.Position.X/m.Size().Width)
	}
}

// Dragged is called by Fyne.
func (m *movable) Dragged(e *fyne.DragEvent) {
	if m.dragged != nil && m.Size().Width > 0 {
		m.dragged(e.Dragged.DX / m.Size().Width)
	}
}

// DragEnd is called by Fyne.
func (m *movable) DragEnd() {}
