package report

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"io"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"pinscope/bench/report/fonts"
)

// Limits of a picture: more dots than these take gigabytes.
const (
	mostPixels = 200e6
	leastDPI   = 30
	mostDPI    = 1200
)

// Image draws a chart of so many dots, at so many dots an inch: at the same
// number of dots, twice the DPI gives twice the size of text. A screen of normal
// density has 96.
func (c *Chart) Image(width, height, dpi int) (image.Image, error) {
	return picture(width, height, dpi, c.Draw)
}

// StackImage draws charts below each other as [Stack] does.
func StackImage(charts []*Chart, width, height, dpi int, weights ...float64) (image.Image, error) {
	return picture(width, height, dpi, func(to draw.Canvas) { Stack(to, charts, weights...) })
}

// WritePNG writes a chart as a PNG of so many dots that says its DPI.
func (c *Chart) WritePNG(w io.Writer, width, height, dpi int) error {
	img, err := c.Image(width, height, dpi)
	if err != nil {
		return err
	}
	return writePNG(w, img, dpi, nil)
}

// WriteSVG writes a chart as an SVG of a size in points, 72 to an inch.
func (c *Chart) WriteSVG(w io.Writer, width, height float64) error {
	return drawSVG(w, vg.Length(width), vg.Length(height), c.Draw)
}

func picture(width, height, dpi int, paint func(draw.Canvas)) (img image.Image, err error) {
	defer caught(&err)
	if dpi < leastDPI || dpi > mostDPI {
		return nil, fmt.Errorf("report: draw at %d DPI: allowed is %d to %d", dpi, leastDPI, mostDPI)
	}
	if width < 1 || height < 1 || float64(width)*float64(height) > mostPixels {
		return nil, fmt.Errorf("report: draw %d x %d dots: allowed is 1 x 1 up to %.0f million dots", width, height, mostPixels/1e6)
	}
	c := vgimg.NewWith(vgimg.UseImage(image.NewRGBA(image.Rect(0, 0, width, height))), vgimg.UseDPI(dpi))
	paint(draw.New(c))
	return c.Image(), nil
}

// caught makes an error of a panic: gonum's plots panic rather than return one.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("report: draw: %v", p)
	}
}

func drawSVG(w io.Writer, width, height vg.Length, paint func(draw.Canvas)) (err error) {
	defer caught(&err)
	if !(width >= 1 && width < 1e5 && height >= 1 && height < 1e5) {
		return errors.New("report: draw SVG: a size outside 1 to 100,000 points")
	}
	c := vgsvg.New(width, height)
	paint(draw.New(c))
	var text bytes.Buffer
	if _, err := c.WriteTo(&text); err != nil {
		return fmt.Errorf("report: draw SVG: %w", err)
	}
	// The font is named, not carried (it would be 1.5 MB), so that a viewer
	// without it needs to know what else will do.
	named := bytes.ReplaceAll(text.Bytes(), []byte("font-family:"+fonts.Family+";"),
		[]byte("font-family:'"+fonts.Family+"','Noto Sans CJK SC','Noto Sans','Microsoft YaHei','PingFang SC',sans-serif;"))
	_, err = w.Write(named)
	return err
}
